//! Measures the service beside its parts: builds what is measured and runs the benchmark.

mod data;
pub(crate) mod extraction;

use std::process::Command;

use crate::{Result, corpus, root};

/// Builds the service with the release profile and measures one side of it: "relevance" or "scale".
pub(crate) fn run_part(part: &str) -> Result {
    cargo(&["build", "--release", "--package", "websvc-cli", "--bin", "websvc", "--example", "bench"], None)?;
    cargo(&["run", "--release", "--package", "websvc-cli", "--example", "bench", "--", part], None)
}

/// Builds with the release profile and runs the benchmark, whose table goes to stdout.
pub(crate) fn run() -> Result {
    cargo(&["build", "--release", "--package", "websvc-cli", "--bin", "websvc", "--example", "bench"], None)?;
    cargo(&["build", "--release", "--package", "websvc-transport", "--examples"], None)?;
    cargo(&["build", "--release", "--package", "websvc-index", "--example", "bare_tantivy"], None)?;
    let corpus = corpus::prepare()?;
    cargo(&["run", "--release", "--package", "websvc-cli", "--example", "bench"], Some(&corpus))
}

fn cargo(arguments: &[&str], corpus: Option<&std::path::Path>) -> Result {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(root());
    if let Some(corpus) = corpus {
        command.env(corpus::VARIABLE, corpus);
    }
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" ")).into()) }
}
