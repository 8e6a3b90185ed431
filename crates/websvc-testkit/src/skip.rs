//! Skipping of tests that cannot run on this machine.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a skipped test prints the reason, and fails if it cannot be recorded"
)]

use std::fs::OpenOptions;
use std::io::Write;
use std::thread;

/// The environment variable with the file in which `cargo xtask test` counts skipped tests. The test runner counts them
/// as passed.
const LOG_VARIABLE: &str = "WEBSVC_SKIP_LOG";

/// Records that the test of this thread is skipped, and the reason.
///
/// # Panics
/// If the file cannot be written.
pub fn skip(reason: &str) {
    skip_test(thread::current().name().unwrap_or("a test"), reason);
}

/// Records that a test is skipped, and the reason.
///
/// # Panics
/// If the file cannot be written.
pub fn skip_test(test: &str, reason: &str) {
    println!("skipped {test}: {reason}");
    let Some(path) = std::env::var_os(LOG_VARIABLE) else { return };
    let mut log = OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(log, "{test}: {reason}").unwrap();
}
