//! Tests of the examples in the OpenAPI document, and of artifacts over HTTP.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod artifacts;
mod openapi;
