//! Measures the service beside its parts: builds what is measured and runs the benchmark.

pub(crate) mod browser;
mod data;
pub(crate) mod extraction;
mod peer;

use std::path::PathBuf;
use std::process::Command;

use crate::cargo::cargo;
use crate::{Result, chromium, corpus, root};

/// Names the program around htmd and dom_smoothie to the benchmark.
const PEER_VARIABLE: &str = "WEBSVC_BENCH_PEER";
/// The test that measures authentication and admission in process.
const DOOR: &str = "requests_of_many_teams_in_turn_are_all_admitted";
const PEER: &str = include_str!("bench/pages.rs");
const PEER_DEPENDENCIES: &str = "dom_smoothie = \"=0.19.0\"\nhtmd = \"=0.5.6\"";

/// Builds the service with the profile dist and measures one side of it: "relevance" or "scale".
pub(crate) fn run_part(part: &str) -> Result {
    build_service()?;
    measure(&[part], Vec::new())
}

/// Builds with the profile dist and measures crawls, beside wget and bare fetches.
pub(crate) fn run_crawl() -> Result {
    build_service()?;
    let environment = match corpus::prepare() {
        Ok(corpus) => vec![(corpus::VARIABLE, corpus)],
        Err(error) => {
            println!("the Python manual is absent: {error}");
            Vec::new()
        }
    };
    measure(&["crawl"], environment)
}

/// Builds with the profile dist and measures memory after searches, scrapes and rendered pages.
pub(crate) fn run_memory() -> Result {
    build_service()?;
    let mut environment = vec![(corpus::VARIABLE, corpus::prepare()?)];
    match chromium::prepare() {
        Ok(program) => environment.push((chromium::VARIABLE, program)),
        Err(error) => println!("there is no Chromium: {error}"),
    }
    measure(&["memory"], environment)
}

/// Builds with the profile dist and measures the door: what it costs in process, ten thousand teams, an overload.
pub(crate) fn run_access() -> Result {
    let mut door = cargo();
    door.args([
        "test",
        "--profile",
        "dist",
        "--package",
        "websvc-server",
        "--lib",
        "--",
        "--nocapture",
        DOOR,
    ]);
    finish(door.env("WEBSVC_BENCH_TEAMS", "10000"))?;
    run_part("access")
}

/// Builds with the profile dist and runs the benchmark, whose table goes to stdout.
pub(crate) fn run() -> Result {
    build_service()?;
    run_cargo(&["build", "--profile", "dist", "--package", "websvc-transport", "--examples"])?;
    run_cargo(&["build", "--profile", "dist", "--package", "websvc-index", "--example", "bare_tantivy"])?;
    let mut environment = vec![(corpus::VARIABLE, corpus::prepare()?)];
    match peer::build("pages", PEER_DEPENDENCIES, PEER) {
        Ok((_, program)) => environment.push((PEER_VARIABLE, program)),
        Err(error) => println!("htmd and dom_smoothie are absent: {error}"),
    }
    measure(&[], environment)
}

fn build_service() -> Result {
    run_cargo(&[
        "build",
        "--profile",
        "dist",
        "--package",
        "websvc-cli",
        "--bin",
        "websvc",
        "--example",
        "bench",
    ])
}

fn measure(arguments: &[&str], environment: Vec<(&str, PathBuf)>) -> Result {
    let mut command = cargo();
    command
        .args(["run", "--profile", "dist", "--package", "websvc-cli", "--example", "bench", "--"])
        .args(arguments);
    finish(command.envs(environment))
}

fn run_cargo(arguments: &[&str]) -> Result {
    finish(cargo().args(arguments))
}

fn finish(command: &mut Command) -> Result {
    let status = command.current_dir(root()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}
