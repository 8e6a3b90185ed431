//! `cargo xtask eval`: evaluations that need a language model, which the gate does not have.

use crate::cargo::cargo;
use crate::{Result, root};

/// Evaluates `redactPII` with a model: runs the example `pii` of `websvc-engine` with these arguments.
pub(crate) fn run_pii(arguments: &[&str]) -> Result {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "websvc-engine", "--example", "pii", "--"]);
    let status = command.args(arguments).current_dir(root()).status()?;
    if status.success() { Ok(()) } else { Err("the evaluation failed, see above".into()) }
}
