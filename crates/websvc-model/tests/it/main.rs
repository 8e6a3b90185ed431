//! Tests of the model clients.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod context;
mod deadlines;
mod embeddings;
mod failover;
mod fixture;
mod openai;
