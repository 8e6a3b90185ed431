//! Cargo as the tasks call it.

use std::env;
use std::process::Command;

/// Variables that cargo sets for a program it runs, beside those that begin with `CARGO_PKG_`.
const OF_THIS_PROGRAM: [&str; 3] = ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_MANIFEST_LINKS"];

/// Returns the cargo that built this program, without what it said of this program.
///
/// Build scripts look at these variables (that of ring does): with them, what a person built is built again by a task, and
/// what a task built by the person, from ring upwards.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    for (name, _) in env::vars_os() {
        let is_of_this_program = name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || OF_THIS_PROGRAM.contains(&name));
        if is_of_this_program {
            command.env_remove(name);
        }
    }
    command
}
