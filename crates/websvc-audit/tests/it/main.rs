//! Events through the spool to real receivers on loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod file;
mod limits;
mod support;
mod syslog;
mod webhook;
