//! `cargo xtask bench`: builds the service with the profile `dist` and runs the benchmarks.

pub(crate) mod browser;
mod data;
pub(crate) mod documents;
pub(crate) mod extraction;
mod peer;

use std::path::PathBuf;
use std::process::Command;

use crate::cargo::cargo;
use crate::{Result, chromium, corpus, interpreters, postgres, python, root};

/// Environment variable with the path of the program that measures htmd and dom_smoothie.
const PEER_VARIABLE: &str = "WEBSVC_BENCH_PEER";
/// The test that measures authentication and admission in process.
const ADMISSION_TEST: &str = "requests_of_many_teams_are_all_admitted";
const PEER: &str = include_str!("bench/pages.rs");
const PEER_DEPENDENCIES: &str = "dom_smoothie = \"=0.19.0\"\nhtmd = \"=0.5.6\"";

/// Runs one part of the benchmark: `monitors`, `relevance`, `scale` or `access`.
pub(crate) fn run_part(part: &str) -> Result {
    build_service()?;
    measure(&[part], Vec::new())
}

/// Measures replicas of the service, on the PostgreSQL server of a URL.
pub(crate) fn run_cluster(url: &str) -> Result {
    build_service()?;
    measure(&["cluster"], vec![(postgres::REPLICAS_VARIABLE, url.into())])
}

/// Measures crawls, compared with wget and bare fetches.
pub(crate) fn run_crawl() -> Result {
    build_service()?;
    let environment = match corpus::prepare() {
        Ok(corpus) => vec![(corpus::VARIABLE, corpus)],
        Err(error) => {
            println!("the Python manual is not available: {error}");
            Vec::new()
        }
    };
    measure(&["crawl"], environment)
}

/// Measures scrapes with and without storage.
pub(crate) fn run_scrapes() -> Result {
    build_service()?;
    measure(&["scrapes"], vec![(corpus::VARIABLE, corpus::prepare()?)])
}

/// Measures resident memory after many searches, scrapes and rendered pages.
pub(crate) fn run_memory() -> Result {
    build_service()?;
    let mut environment = vec![(corpus::VARIABLE, corpus::prepare()?)];
    match chromium::prepare() {
        Ok(program) => environment.push((chromium::VARIABLE, program)),
        Err(error) => println!("Chromium is not available: {error}"),
    }
    measure(&["memory"], environment)
}

/// Measures browser sessions: their start, clicks and memory, and Python where its parts are available.
pub(crate) fn run_sessions() -> Result {
    build_service()?;
    let mut environment = vec![(chromium::VARIABLE, chromium::prepare()?)];
    let bubblewrap = (interpreters::BUBBLEWRAP_VARIABLE, interpreters::prepare_bubblewrap());
    let python = (interpreters::PYTHON_VARIABLE, python::prepare_playwright());
    for (variable, prepared) in [bubblewrap, python] {
        match prepared {
            Ok(path) => environment.push((variable, path)),
            Err(error) => println!("{variable} is not available: {error}"),
        }
    }
    measure(&["sessions"], environment)
}

/// Measures authentication and admission in process with 10,000 teams, then the service under overload.
pub(crate) fn run_access() -> Result {
    let mut test = cargo();
    test.args([
        "test",
        "--profile",
        "dist",
        "--package",
        "websvc-server",
        "--lib",
        "--",
        "--nocapture",
        ADMISSION_TEST,
    ]);
    run_in_root(test.env("WEBSVC_BENCH_TEAMS", "10000"))?;
    run_part("access")
}

/// Runs the benchmark of requests and prints its tables to standard output.
pub(crate) fn run() -> Result {
    build_service()?;
    run_cargo(&["build", "--profile", "dist", "--package", "websvc-transport", "--examples"])?;
    run_cargo(&["build", "--profile", "dist", "--package", "websvc-index", "--example", "bare_tantivy"])?;
    let mut environment = vec![(corpus::VARIABLE, corpus::prepare()?)];
    match peer::build("pages", PEER_DEPENDENCIES, PEER) {
        Ok((_, program)) => environment.push((PEER_VARIABLE, program)),
        Err(error) => println!("htmd and dom_smoothie are not available: {error}"),
    }
    measure(&[], environment)
}

/// Builds the program and the benchmark client.
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

/// Runs the example `bench` of websvc-cli.
fn measure(arguments: &[&str], environment: Vec<(&str, PathBuf)>) -> Result {
    let mut command = cargo();
    command
        .args(["run", "--profile", "dist", "--package", "websvc-cli", "--example", "bench", "--"])
        .args(arguments);
    run_in_root(command.envs(environment))
}

fn run_cargo(arguments: &[&str]) -> Result {
    run_in_root(cargo().args(arguments))
}

/// Runs a command in the root of the repository, with its output on the terminal.
fn run_in_root(command: &mut Command) -> Result {
    let status = command.current_dir(root()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}
