//! Tests of the comparison of texts.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod line_diff;
mod patch;
mod properties;
