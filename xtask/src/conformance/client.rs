//! The official clients and their check scripts.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::folder;
use super::report::{CheckOutcome, Report, ScriptLine};
use super::service::Service;
use super::site::Site;
use crate::cache::Cache;
use crate::{npm, python};

/// A client and its check script.
#[derive(Debug)]
pub(super) struct Client {
    name: &'static str,
    /// Interpreter and path of the script, or the reason why the script cannot run.
    script: Result<(OsString, PathBuf), String>,
}

/// Returns the clients. Installs those that are missing.
pub(super) fn prepare() -> Vec<Client> {
    let scripts = folder().join("clients");
    let python = python::prepare().map(|python| (python.into_os_string(), scripts.join("python_sdk.py")));
    let packages = install_packages(&scripts).map_err(|error| error.to_string());
    let node = |name, script| {
        let script = packages.clone().map(|folder| (OsString::from("node"), folder.join(script)));
        Client { name, script }
    };
    vec![
        Client { name: "Python SDK", script: python.map_err(|error| error.to_string()) },
        node("JavaScript SDK", "js_sdk.mjs"),
        node("command line", "cli.mjs"),
        node("MCP server", "mcp.mjs"),
        node("MCP client", "mcp_sdk.mjs"),
        node("other programs", "others.mjs"),
    ]
}

/// Installs the npm packages of the clients and copies the scripts next to `node_modules`, so that Node can resolve the
/// packages from the scripts. Returns the folder.
fn install_packages(scripts: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let folder = npm::install(&Cache::open()?, "conformance", &folder())?;
    for script in fs::read_dir(scripts)? {
        let script = script?;
        fs::copy(script.path(), folder.join(script.file_name()))?;
    }
    Ok(folder)
}

impl Client {
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Runs the checks of the client against a service.
    pub(super) fn run(&self, service: &Service, site: &Site, scratch: &Path, report: &mut Report) {
        let (program, script) = match &self.script {
            Ok(script) => script,
            Err(reason) => {
                let check = format!("{}: {}", service.mode.name(), self.name);
                report.add(&check, &CheckOutcome::Skipped(reason.clone()));
                return;
            }
        };
        let mut command = Command::new(program);
        command.arg(script).arg(&service.address).args(service.mode.key());
        let command = isolate(&mut command, scratch)
            .env("WEBSVC_MCP", service.mcp_command())
            .env("WEBSVC_SITE", site.folder());
        run_script(self.name, command, service, report);
    }
}

/// Hides the developer's environment variables and home directory from a client, since they could contain other
/// addresses or API keys.
pub(super) fn isolate<'a>(command: &'a mut Command, scratch: &Path) -> &'a mut Command {
    command
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", scratch)
        .env("FIRECRAWL_NO_TELEMETRY", "1")
        .env("FIRECRAWL_NO_UPDATE_CHECK", "1")
        // Before version 22, Node has WebSockets only with this option.
        .env("NODE_OPTIONS", "--experimental-websocket")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(scratch)
}

/// Runs a check script and adds its checks to the report. Adds a failure if the script exits with an error or reports
/// no check.
pub(super) fn run_script(name: &str, command: &mut Command, service: &Service, report: &mut Report) {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            let program = Path::new(command.get_program()).display();
            let outcome = CheckOutcome::Failed(format!("cannot run {program}: {error}"));
            report.add(&format!("{}: {name}", service.mode.name()), &outcome);
            return;
        }
    };
    let mut client = name.to_owned();
    let mut checks = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match ScriptLine::parse(line) {
            Some(ScriptLine::Client(version)) => version.clone_into(&mut client),
            Some(ScriptLine::Check(check, outcome)) => {
                checks += 1;
                report.add(&format!("{}: {client}: {check}", service.mode.name()), &outcome);
            }
            None => {}
        }
    }
    if !output.status.success() || checks == 0 {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let reason = format!("the script ended after {checks} checks ({}): {}", output.status, stderr.trim());
        report.add(&format!("{}: {client}", service.mode.name()), &CheckOutcome::Failed(reason));
    }
}
