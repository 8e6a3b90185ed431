//! `cargo xtask conformance`: runs the official clients and schemathesis against the program.
//!
//! The clients search with and without scraping, with authentication on and off. They find the pages of
//! `xtask/conformance/site`, served on loopback. With authentication the service has a language model, which
//! `xtask/conformance/model.py` stands in for; `mail.py` stands in for a mail server.
//! Only the installation of the clients uses the network.

mod chromiums;
mod client;
mod limit;
mod loopback;
mod mail;
mod openapi;
mod report;
mod service;
mod site;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use client::Client;
use loopback::LoopbackServer;
use report::{CheckOutcome, Report};
use serde_json::Value;
use service::Service;
use site::Site;

use crate::cargo::cargo;
use crate::{Result, chromium, root};

/// Authentication mode of the service under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AuthMode {
    On,
    Off,
}

impl AuthMode {
    const fn name(self) -> &'static str {
        match self {
            Self::On => "auth on",
            Self::Off => "auth off",
        }
    }

    /// The API key that clients send; `None` if authentication is off.
    const fn key(self) -> Option<&'static str> {
        match self {
            Self::On => Some("fc-conformance"),
            Self::Off => None,
        }
    }

    /// The admin key of the user who allows OAuth clients; `None` if authentication is off, and so OAuth.
    const fn admin_key(self) -> Option<&'static str> {
        match self {
            Self::On => Some("fc-conformance-admin"),
            Self::Off => None,
        }
    }

    /// Returns true if the service has a language model. Without one, agent runs and extractions must name what is
    /// missing; both modes together test both.
    const fn has_model(self) -> bool {
        match self {
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// Command-line options of the task.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    /// Program to test. If `None`, the program is built.
    binary: Option<&'a Path>,
    /// Substring that the names of the checks to run must contain. If `None`, all checks run.
    only: Option<&'a str>,
}

impl<'a> Options<'a> {
    /// Parses `--binary FILE` and `--only NAME`.
    pub(crate) fn parse(arguments: &[&'a str]) -> Result<Self> {
        let mut options = Self::default();
        let mut remaining = arguments;
        while let [name, value, tail @ ..] = remaining {
            match *name {
                "--binary" => options.binary = Some(Path::new(*value)),
                "--only" => options.only = Some(value),
                _ => break,
            }
            remaining = tail;
        }
        match remaining {
            [] => Ok(options),
            [other, ..] => Err(format!(
                "unexpected argument \"{other}\": conformance takes --binary FILE and --only NAME"
            )
            .into()),
        }
    }

    fn selects(&self, name: &str) -> bool {
        self.only.is_none_or(|only| name.to_lowercase().contains(&only.to_lowercase()))
    }
}

/// Runs the selected checks in both authentication modes and prints the report.
pub(crate) fn run(options: &Options<'_>) -> Result {
    let started = Instant::now();
    let clients = client::prepare(|name| options.selects(name));
    let tools = options.selects(openapi::NAME).then(openapi::prepare);
    let runs_browser_tests = options.selects(chromiums::NAME);
    let needs_service = !clients.is_empty() || tools.is_some();
    if !needs_service && !runs_browser_tests {
        return Err(format!("no check has \"{}\" in its name", options.only.unwrap_or_default()).into());
    }
    let mut report = Report::default();
    if runs_browser_tests {
        chromiums::run(&mut report)?;
    }
    if needs_service {
        run_with_services(options, &clients, tools.as_ref(), &mut report)?;
    }
    report.finish(started.elapsed())
}

/// Runs the checks that need a service, in both authentication modes.
fn run_with_services(
    options: &Options<'_>,
    clients: &[Client],
    tools: Option<&openapi::Tools>,
    report: &mut Report,
) -> Result {
    let binary = match options.binary {
        // Clients start the program from other directories, so the path must be absolute.
        Some(path) => path.canonicalize()?,
        None => build()?,
    };
    let chromium = chromium::prepare().map_err(|error| error.to_string());
    let scratch = scratch()?;
    let site = Site::start(&folder().join("site"), scratch.join("site"))?;
    let model = LoopbackServer::start(Command::new("python3").arg(folder().join("model.py")))?;
    if let Err(reason) = &chromium {
        report.add("browser sessions", &CheckOutcome::Skipped(reason.clone()));
    }
    let chromium = chromium.as_deref().ok();
    for mode in [AuthMode::Off, AuthMode::On] {
        let model = mode.has_model().then(|| model.address());
        let service = Service::start(&binary, &scratch, &site, mode, model.as_deref(), chromium)?;
        for client in clients {
            client.run(&service, &site, &scratch, report);
        }
        // Last, because schemathesis adds documents to the index.
        if let Some(tools) = tools {
            tools.run(&service, &scratch, report)?;
        }
    }
    Ok(())
}

/// Returns the folder of the scripts, manifests and pages of the checks.
fn folder() -> PathBuf {
    root().join("xtask/conformance")
}

/// Creates an empty folder for data, home directories and reports.
fn scratch() -> Result<PathBuf> {
    let scratch = root().join("target/conformance");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    fs::create_dir_all(&scratch)?;
    Ok(scratch)
}

/// Builds the program with debug assertions, as for the tests, and returns its path.
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
        .ok_or_else(|| "cargo did not print the path of the program".into())
}
