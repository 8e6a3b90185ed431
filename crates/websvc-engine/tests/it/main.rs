//! Tests of search sources against loopback servers that imitate real ones.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod contract;
mod elasticsearch;
mod request;
mod searxng;
