//! Tests of the service over HTTP: the rights of keys, tokens of an identity provider, hostile URLs, artifacts, uploads, the settings of teams, the examples in
//! the OpenAPI document, and
//! several services with one database.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod api;
mod artifacts;
mod browser_sessions;
mod forced_retention;
mod formats;
mod hostile_urls;
mod invitations;
mod oauth;
mod oidc;
mod oidc_sign_in;
mod openapi;
mod reader;
mod replicas;
mod robots_agent;
mod server;
mod team_settings;
mod uploads;
