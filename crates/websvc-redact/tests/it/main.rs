//! Tests of the redaction through its public API.

#![expect(clippy::unwrap_used, reason = "a test helper may panic, which fails the test")]
#![expect(clippy::print_stdout, reason = "the output explains a failed evaluation")]

mod cases;
mod corpus;
mod evaluation;
mod generators;
mod markdown;
mod properties;
mod sentences;
mod structure;
mod templates;
