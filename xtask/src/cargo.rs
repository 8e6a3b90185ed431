//! The `cargo` command that the tasks run.

use std::env;
use std::process::Command;

/// Environment variables that cargo sets for a program it runs, in addition to `CARGO_PKG_*`.
const RUN_VARIABLES: [&str; 3] = ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_MANIFEST_LINKS"];

/// Returns a command for the cargo that built this program, without the variables that cargo set for this program.
///
/// Some build scripts depend on these variables (ring's does). With them, a task and a developer would rebuild ring and
/// every crate that depends on it after each other's builds.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    for (name, _) in env::vars_os() {
        let is_run_variable =
            name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || RUN_VARIABLES.contains(&name));
        if is_run_variable {
            command.env_remove(name);
        }
    }
    command
}
