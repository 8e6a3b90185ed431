//! The engine against loopback servers that behave like those it asks.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod asking;
mod contract;
mod elasticsearch;
mod searxng;
