//! Tests of the examples in the OpenAPI document, of artifacts over HTTP, and of several services with one database.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod artifacts;
mod browser_sessions;
mod openapi;
mod replicas;
