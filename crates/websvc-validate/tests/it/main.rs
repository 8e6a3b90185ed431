//! Tests of accepted bodies and their plans, and of the violations of rejected ones.

#![recursion_limit = "256"] // `json!` needs it for the largest client requests.

mod action;
mod agent;
mod agreement;
mod clients;
mod conformance;
mod corpus;
mod country;
mod domain;
mod extract;
mod feedback;
mod format;
mod header;
mod interact;
mod json_schema;
mod language;
mod map;
mod monitor;
mod page;
mod policy;
mod property;
mod scrape;
mod search;
mod shape;
mod suggestion;
mod support;
mod threat;
mod upload;
