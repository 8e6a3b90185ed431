//! Tests of the redaction from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]
#![expect(clippy::print_stdout, reason = "a failed evaluation is explained by what it printed")]

mod cases;
mod corpus;
mod evaluation;
mod generators;
mod laws;
mod markdown;
mod structure;
mod templates;
