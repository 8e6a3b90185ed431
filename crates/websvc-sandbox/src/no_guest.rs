//! The entry points of a guest on systems that have no sandbox for it, where no service starts one.

use std::process::ExitCode;

/// Fails: this system has no guests.
#[must_use]
pub fn run_guest(_settings: &str) -> ExitCode {
    ExitCode::FAILURE
}

/// Returns `None`: this system has no shells with the command.
#[must_use]
pub fn agent_browser() -> Option<ExitCode> {
    None
}
