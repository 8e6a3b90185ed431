//! Tests of threat protection against a scanner on loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod inspecting;
mod scanning;
mod support;
