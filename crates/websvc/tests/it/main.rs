//! Tests of the client over loopback: what it sends, when it repeats, and what its errors say.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod connection;
mod embedded;
mod errors;
mod examples;
mod jobs;
mod requests;
mod retries;
mod secrets;
mod support;
