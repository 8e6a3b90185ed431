//! Checks of the OpenAPI document: a validator, and schemathesis, which generates requests from it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::{SCRIPT_LIMIT, isolate, run_script};
use super::limit::{ending, limited};
use super::report::{CheckOutcome, Report};
use super::service::Service;
use super::{AuthMode, folder};
use crate::{Result, python, root};

/// Name of these checks.
pub(super) const NAME: &str = "schemathesis";

/// Environment variable that passes the API key to the schemathesis hooks.
const KEY_VARIABLE: &str = "WEBSVC_CONFORMANCE_KEY";

/// Minimum number of requests that schemathesis must make in total.
const MIN_REQUESTS: u64 = 1000;

/// Maximum time of a run of schemathesis.
const RUN_LIMIT: Duration = Duration::from_secs(3600);

/// Random seed, fixed so that runs are reproducible.
const SEED: &str = "1";

/// The Python interpreter with the tools, or the reason why they could not be installed.
#[derive(Debug)]
pub(super) struct Tools {
    python: std::result::Result<PathBuf, String>,
}

/// Returns the tools. Installs them if they are missing.
pub(super) fn prepare() -> Tools {
    Tools { python: python::prepare_openapi_tools().map_err(|error| error.to_string()) }
}

impl Tools {
    /// Validates the OpenAPI document of a service and tests the service against it.
    pub(super) fn run(&self, service: &Service, scratch: &Path, report: &mut Report) -> Result {
        let check = format!("{}: schemathesis", service.mode.name());
        let python = match &self.python {
            Ok(python) => python,
            Err(reason) => {
                report.add(&check, &CheckOutcome::Skipped(reason.clone()));
                return Ok(());
            }
        };
        let mut command = limited(python, SCRIPT_LIMIT);
        let script = folder().join("openapi_document.py");
        command.arg(script).arg(&service.address).arg(root().join("docs/openapi.json"));
        run_script("OpenAPI document", isolate(&mut command, scratch), service, report);
        let began = Instant::now();
        let (version, outcome) = run_schemathesis(python, service, scratch)?;
        report.add_duration(&check, began.elapsed());
        report.add(&format!("{check} {version}"), &outcome);
        Ok(())
    }
}

/// Runs schemathesis with all checks that its configuration does not turn off. Returns its version with the number of
/// requests, and the outcome.
fn run_schemathesis(python: &Path, service: &Service, scratch: &Path) -> Result<(String, CheckOutcome)> {
    let settings = folder().join("schemathesis");
    let name = format!("schemathesis-{}", service.mode.name().replace(' ', "-"));
    let report_file = scratch.join(format!("{name}.json"));
    // A file, because a run is long and shows its progress.
    let log = scratch.join(format!("{name}.txt"));
    let mut command = limited(python.with_file_name("st"), RUN_LIMIT);
    command.arg("--config-file").arg(settings.join("schemathesis.toml"));
    command.arg("run").arg(format!("{}/openapi.json", service.address));
    command.args(["--max-examples", max_examples(service.mode), "--seed", SEED, "--continue-on-failure"]);
    command.args(["--report", "json", "--report-json-path"]).arg(&report_file);
    let mut variables = Vec::new();
    match service.mode {
        AuthMode::On => {
            let key = service.mode.key().unwrap_or_default();
            command.args(["--header", &format!("Authorization: Bearer {key}")]);
            // The hooks start jobs with this key, even for requests that schemathesis sends without it.
            variables.push((KEY_VARIABLE, key));
        }
        // Without authentication the service ignores keys, which this check would report.
        AuthMode::Off => {
            command.args(["--exclude-checks", "ignored_auth"]);
        }
    }
    isolate(&mut command, scratch)
        .envs(variables)
        .env("WEBSVC_MAIL", service.mail.folder())
        .env("WEBSVC_MODEL", if service.mode.has_model() { "1" } else { "0" })
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", settings);
    let status = command.stdout(File::create(&log)?).status()?;
    // If there is no report, the output of schemathesis has the reason.
    let report: Value =
        fs::read(&report_file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let version = report["schemathesis_version"].as_str().unwrap_or_default().to_owned();
    let requests = report["test_cases"]["generated"].as_u64().unwrap_or_default();
    let outcome = if !status.success() {
        let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        CheckOutcome::Failed(format!("{}\n{output}", ending(status, RUN_LIMIT)))
    } else if requests < MIN_REQUESTS {
        CheckOutcome::Failed(format!(
            "schemathesis made only {requests} requests, expected at least {MIN_REQUESTS}"
        ))
    } else {
        CheckOutcome::Passed
    };
    Ok((format!("{version}, {requests} requests"), outcome))
}

/// Returns the number of random requests per operation with a body, in addition to the requests that test each limit.
/// Both modes validate bodies by the same rules, so fewer requests are enough for one of them.
const fn max_examples(mode: AuthMode) -> &'static str {
    match mode {
        AuthMode::On => "100",
        AuthMode::Off => "60",
    }
}
