//! Tests of the client over loopback: requests, retries and errors.

#![expect(clippy::unwrap_used, reason = "test helpers may fail the test")]

mod agents;
mod browser_sessions;
mod connection;
mod embedded;
mod errors;
mod examples;
mod jobs;
mod manual;
mod monitors;
mod requests;
mod retries;
mod secrets;
mod support;
