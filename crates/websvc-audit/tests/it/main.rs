//! Delivery of events through the spool to real receivers on loopback.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod file;
mod limits;
mod support;
mod syslog;
mod webhook;
