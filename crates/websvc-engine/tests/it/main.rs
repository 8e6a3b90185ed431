//! Tests of search sources against loopback servers that imitate real ones.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod contract;
mod elasticsearch;
mod elasticsearch_admin;
mod operators;
mod real_server;
mod request;
mod searxng;
#[path = "../../../websvc-index/tests/it/tables.rs"]
mod tables;
