//! Tests of search sources against loopback servers that imitate real ones.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod contract;
mod elasticsearch;
mod elasticsearch_admin;
mod elasticsearch_forms;
#[path = "../../../websvc-redact/tests/it/generators.rs"]
mod generators;
mod operators;
mod outbox;
mod pii;
#[path = "../../examples/pii/evaluation.rs"]
mod pii_evaluation;
mod real_server;
mod request;
mod searxng;
#[path = "../../../websvc-redact/tests/it/sentences.rs"]
mod sentences;
#[path = "../../../websvc-index/tests/it/tables.rs"]
mod tables;
