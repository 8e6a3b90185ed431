//! Tests of the redaction from outside.

mod cases;
mod evaluation;
mod generators;
mod laws;
mod markdown;
mod templates;
