//! The engine against loopback servers that behave like those it asks.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod asking;
mod elasticsearch;
mod searxng;
