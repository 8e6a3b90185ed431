//! `cargo xtask conformance`: the official clients and schemathesis against the program, as its users run it.
//!
//! The clients search with and without scraping, with authentication on and off; the pages they find are those of
//! `xtask/conformance/site`, served on loopback. Apart from the installation of the clients nothing leaves the machine.

mod client;
mod openapi;
mod report;
mod service;
mod site;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use report::Report;
use serde_json::Value;
use service::Service;
use site::Site;

use crate::cargo::cargo;
use crate::{Result, root};

/// Authentication of the service under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Authentication {
    On,
    Off,
}

impl Authentication {
    const fn name(self) -> &'static str {
        match self {
            Self::On => "auth on",
            Self::Off => "auth off",
        }
    }

    /// The key that callers show.
    const fn key(self) -> Option<&'static str> {
        match self {
            Self::On => Some("fc-conformance"),
            Self::Off => None,
        }
    }
}

/// Checks to run, and their clients.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    /// The program that is checked, which is built when none is given.
    binary: Option<&'a Path>,
    /// Substring of the names of the checks to run; without it, all run.
    only: Option<&'a str>,
}

impl<'a> Options<'a> {
    /// Reads `--binary FILE` and `--only NAME`.
    pub(crate) fn read(arguments: &[&'a str]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments;
        while let [name, value, after @ ..] = rest {
            match *name {
                "--binary" => options.binary = Some(Path::new(*value)),
                "--only" => options.only = Some(value),
                _ => break,
            }
            rest = after;
        }
        match rest {
            [] => Ok(options),
            [other, ..] => {
                Err(format!("conformance takes --binary FILE and --only NAME, not \"{other}\"").into())
            }
        }
    }

    fn asks_for(&self, name: &str) -> bool {
        self.only.is_none_or(|only| name.to_lowercase().contains(&only.to_lowercase()))
    }
}

/// Runs the checks.
pub(crate) fn run(options: &Options<'_>) -> Result {
    let started = Instant::now();
    let mut clients = client::prepare();
    clients.retain(|client| options.asks_for(client.name()));
    let tools = options.asks_for(openapi::NAME).then(openapi::prepare);
    if clients.is_empty() && tools.is_none() {
        return Err(format!("no client has \"{}\" in its name", options.only.unwrap_or_default()).into());
    }
    let binary = match options.binary {
        // Clients start it from directories of their own.
        Some(given) => given.canonicalize()?,
        None => build()?,
    };
    let scratch = scratch()?;
    let site = Site::start(&folder().join("site"))?;
    let mut report = Report::default();
    for mode in [Authentication::Off, Authentication::On] {
        let service = Service::start(&binary, &scratch, &site, mode)?;
        for client in &clients {
            client.run(&service, &scratch, &mut report);
        }
        // Last, because schemathesis adds to what can be found.
        if let Some(tools) = &tools {
            tools.run(&service, &scratch, &mut report)?;
        }
    }
    report.finish(started.elapsed())
}

/// Returns the folder of what is not Rust.
fn folder() -> PathBuf {
    root().join("xtask/conformance")
}

/// Returns an empty folder for data, homes and reports.
fn scratch() -> Result<PathBuf> {
    let scratch = root().join("target/conformance");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    fs::create_dir_all(&scratch)?;
    Ok(scratch)
}

/// Builds the program as the tests have it, with its debug assertions, and returns where it is.
fn build() -> Result<PathBuf> {
    let arguments = ["build", "--package", "websvc-cli", "--bin", "websvc"];
    println!("==> cargo {}", arguments.join(" "));
    let output = cargo()
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("cargo {} failed", arguments.join(" ")).into());
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| "cargo does not say where it put the program".into())
}
