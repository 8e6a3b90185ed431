//! Integration tests of monitors with a virtual clock.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod messages;
mod schedule;
