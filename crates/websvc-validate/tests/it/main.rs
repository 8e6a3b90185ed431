//! Tests of accepted bodies, their plans, and the messages for the others.

#![recursion_limit = "256"] // The fullest bodies of the clients are too large for `json!` otherwise.

mod action;
mod agreement;
mod clients;
mod conformance;
mod corpus;
mod country;
mod domain;
mod format;
mod header;
mod json_schema;
mod language;
mod map;
mod nearest;
mod page;
mod policy;
mod property;
mod scrape;
mod search;
mod shape;
mod support;
mod threat;
mod upload;
