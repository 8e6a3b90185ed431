//! `cargo xtask eval`: evaluations of features that use a language model.

use std::path::PathBuf;

use crate::cargo::cargo;
use crate::{Result, chromium, root};

/// Builds the program, unless `--binary` names one, and runs `evaluate-agent` of websvc-evaluation with the other options.
pub(crate) fn run_agent(options: &[&str]) -> Result {
    let (program, options) = match options {
        ["--binary", program, rest @ ..] => (PathBuf::from(program).canonicalize()?, rest),
        rest => (build()?, rest),
    };
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "websvc-evaluation", "--bin", "evaluate-agent", "--"]);
    command.arg("--program").arg(program);
    match chromium::prepare() {
        Ok(chromium) => {
            command.arg("--chromium").arg(chromium);
        }
        // stdout is the report.
        Err(error) => eprintln!("Chromium is not available, tasks that need it are skipped: {error}"),
    }
    let status = command.args(options).current_dir(root()).status()?;
    if status.success() { Ok(()) } else { Err("the evaluation failed".into()) }
}

fn build() -> Result<PathBuf> {
    let build = ["build", "--package", "websvc-cli", "--bin", "websvc"];
    let status = cargo().args(build).current_dir(root()).status()?;
    if status.success() {
        return Ok(root().join("target/debug/websvc"));
    }
    Err("the program cannot be built".into())
}

/// Evaluates `redactPII` with a model: runs the example `pii` of `websvc-engine` with these arguments.
pub(crate) fn run_pii(arguments: &[&str]) -> Result {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "websvc-engine", "--example", "pii", "--"]);
    let status = command.args(arguments).current_dir(root()).status()?;
    if status.success() { Ok(()) } else { Err("the evaluation failed, see above".into()) }
}
