//! Tests that cannot be run on this machine.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that is skipped says so, and fails if it cannot"
)]

use std::fs::OpenOptions;
use std::io::Write;
use std::thread;

/// Names the file in which the gate counts skipped tests; the runner of the tests counts them as passed.
const LOG_VARIABLE: &str = "WEBSVC_SKIP_LOG";

/// Notes that the test of this thread does nothing, and why.
///
/// # Panics
/// When the gate's file cannot be written.
pub fn skip(reason: &str) {
    skip_test(thread::current().name().unwrap_or("a test"), reason);
}

/// Notes that a test does nothing, and why.
///
/// # Panics
/// When the gate's file cannot be written.
pub fn skip_test(test: &str, reason: &str) {
    println!("skipped {test}: {reason}");
    let Some(path) = std::env::var_os(LOG_VARIABLE) else { return };
    let mut log = OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(log, "{test}: {reason}").unwrap();
}
