//! The `cargo` command that the tasks run.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::{Result, root};

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

/// Returns a command like [`cargo`] that lints the crates of the workspace while it builds them, with warnings as errors.
///
/// `cargo clippy` would compile all crates a second time, because it builds no programs. Its driver can do both: it is the
/// compiler with lints, without the optimizations of the intermediate representation. The programs are for tests only.
pub(crate) fn linting_cargo() -> Result<Command> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).args(["--print", "sysroot"]).current_dir(root()).output()?;
    let driver = PathBuf::from(String::from_utf8(output.stdout)?.trim()).join("bin/clippy-driver");
    if !driver.exists() {
        return Err(format!(
            "{} does not exist: install it with rustup component add clippy",
            driver.display()
        )
        .into());
    }
    let mut command = cargo();
    command.env("RUSTC_WORKSPACE_WRAPPER", driver).env(
        "CLIPPY_ARGS",
        // The separator of the driver, which `cargo clippy` writes.
        "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
    );
    Ok(command)
}
