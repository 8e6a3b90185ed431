//! The OpenAPI document: a validator reads it, and schemathesis makes requests out of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::client::{isolated, run_script};
use super::report::{Outcome, Report};
use super::service::Service;
use super::{Authentication, folder};
use crate::{Result, python, root};

/// Name of these checks.
pub(super) const NAME: &str = "schemathesis";

/// The variable by which the hooks know the key.
const KEY: &str = "WEBSVC_CONFORMANCE_KEY";

/// So many requests schemathesis has to have made in all.
const REQUESTS_MIN: u64 = 1000;

/// Keeps one run like the other.
const SEED: &str = "1";

/// The interpreter with the tools, or why there is none.
#[derive(Debug)]
pub(super) struct Tools {
    python: std::result::Result<PathBuf, String>,
}

/// Returns the tools, installing them the first time.
pub(super) fn prepare() -> Tools {
    Tools { python: python::prepare_openapi_tools().map_err(|error| error.to_string()) }
}

impl Tools {
    /// Checks the document of a service, and the service by it.
    pub(super) fn run(&self, service: &Service, scratch: &Path, report: &mut Report) -> Result {
        let check = format!("{}: schemathesis", service.mode.name());
        let python = match &self.python {
            Ok(python) => python,
            Err(reason) => {
                report.add(&check, &Outcome::Skipped(reason.clone()));
                return Ok(());
            }
        };
        let mut command = Command::new(python);
        let script = folder().join("openapi_document.py");
        command.arg(script).arg(&service.address).arg(root().join("docs/openapi.json"));
        run_script("OpenAPI document", isolated(&mut command, scratch), service, report);
        let (version, outcome) = schemathesis(python, service, scratch)?;
        report.add(&format!("{check} {version}"), &outcome);
        Ok(())
    }
}

/// Runs schemathesis with all its checks but those that its configuration names; returns its version too.
fn schemathesis(python: &Path, service: &Service, scratch: &Path) -> Result<(String, Outcome)> {
    let settings = folder().join("schemathesis");
    let result = scratch.join(format!("schemathesis-{}.json", service.mode.name().replace(' ', "-")));
    let mut command = Command::new(python.with_file_name("st"));
    command.arg("--config-file").arg(settings.join("schemathesis.toml"));
    command.arg("run").arg(format!("{}/openapi.json", service.address));
    command.args(["--max-examples", examples(service.mode), "--seed", SEED, "--continue-on-failure"]);
    command.args(["--report", "json", "--report-json-path"]).arg(&result);
    let mut given = Vec::new();
    match service.mode {
        Authentication::On => {
            let key = service.mode.key().unwrap_or_default();
            command.args(["--header", &format!("Authorization: Bearer {key}")]);
            // What the hooks begin is begun with it, too, also for requests that are made without it.
            given.push((KEY, key));
        }
        // Nobody is asked for a key, which is what this check would find.
        Authentication::Off => {
            command.args(["--exclude-checks", "ignored_auth"]);
        }
    }
    isolated(&mut command, scratch)
        .envs(given)
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", settings);
    let output = command.output()?;
    // Without a result, what it printed says why.
    let result: Value =
        fs::read(&result).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let version = result["schemathesis_version"].as_str().unwrap_or_default().to_owned();
    let requests = result["test_cases"]["generated"].as_u64().unwrap_or_default();
    let outcome = if !output.status.success() {
        Outcome::Failed(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stdout)))
    } else if requests < REQUESTS_MIN {
        Outcome::Failed(format!("it made only {requests} requests"))
    } else {
        Outcome::Passed
    };
    Ok((format!("{version}, {requests} requests"), outcome))
}

/// How many random requests it makes out of each operation that has a body, beside those for each limit. Both modes
/// check the same bodies by the same rules, so that one of them can do with fewer.
const fn examples(mode: Authentication) -> &'static str {
    match mode {
        Authentication::On => "100",
        Authentication::Off => "60",
    }
}
