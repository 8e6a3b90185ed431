//! `cargo xtask eval`: evaluations of features that use a language model.

use std::path::PathBuf;

use crate::cargo::cargo;
use crate::{Result, chromium, root};

/// Runs the evaluation of the agent with these options. Tasks of pages with scripts need Chromium.
pub(crate) fn run_agent(options: &[&str]) -> Result {
    match chromium::prepare() {
        Ok(chromium) => run("agent", &["--chromium", &chromium.to_string_lossy()], options),
        // stdout is the report.
        Err(error) => {
            eprintln!("Chromium is not available, tasks that need it are skipped: {error}");
            run("agent", &[], options)
        }
    }
}

/// Runs the evaluation of the formats with these options.
pub(crate) fn run_formats(options: &[&str]) -> Result {
    run("formats", &[], options)
}

/// Builds the program, unless `--binary` names one, and runs `evaluate` of websvc-evaluation with the other options.
fn run(evaluation: &str, own_options: &[&str], options: &[&str]) -> Result {
    let (program, options) = match options.iter().position(|option| *option == "--binary") {
        Some(at) => {
            let program = options.get(at + 1).ok_or("--binary needs a value")?;
            (PathBuf::from(program).canonicalize()?, [&options[..at], &options[at + 2..]].concat())
        }
        None => (build()?, options.to_vec()),
    };
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "websvc-evaluation", "--bin", "evaluate", "--", evaluation]);
    command.arg("--program").arg(program).args(own_options).args(options);
    let status = command.current_dir(root()).status()?;
    if status.success() { Ok(()) } else { Err("the evaluation failed, see above".into()) }
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
