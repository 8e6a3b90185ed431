//! Tests of the sandbox with its real worker, and with a real Chromium where there is one.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod browser;
mod channels;
mod commands;
mod hostile;
mod hostile_interpreters;
mod interpreters;
mod parity;
mod programs;
mod site;
