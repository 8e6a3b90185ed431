//! What the service promises in its OpenAPI document, and what it hands out without a key.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod artifacts;
mod openapi;
