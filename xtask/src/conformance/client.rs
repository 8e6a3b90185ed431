//! The official clients: which there are, and how their scripts are run.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::folder;
use super::report::{Line, Outcome, Report};
use super::service::Service;
use crate::cache::Cache;
use crate::{npm, python};

/// A client with its script of checks.
#[derive(Debug)]
pub(super) struct Client {
    name: &'static str,
    /// Interpreter and script, or the reason why the script cannot run.
    script: Result<(OsString, PathBuf), String>,
}

/// Returns the clients, installing them the first time.
pub(super) fn prepare() -> Vec<Client> {
    let scripts = folder().join("clients");
    let python = python::prepare().map(|python| (python.into_os_string(), scripts.join("python_sdk.py")));
    let packages = packages(&scripts).map_err(|error| error.to_string());
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

/// Returns a folder with the clients that are npm packages in its `node_modules` and the scripts of `scripts` beside it,
/// where Node finds the one from the other.
fn packages(scripts: &Path) -> Result<PathBuf, Box<dyn Error>> {
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
    pub(super) fn run(&self, service: &Service, scratch: &Path, report: &mut Report) {
        let (program, script) = match &self.script {
            Ok(script) => script,
            Err(reason) => {
                let check = format!("{}: {}", service.mode.name(), self.name);
                report.add(&check, &Outcome::Skipped(reason.clone()));
                return;
            }
        };
        let mut command = Command::new(program);
        command.arg(script).arg(&service.address).args(service.mode.key());
        let command = isolated(&mut command, scratch).env("WEBSVC_MCP", service.mcp_command());
        run_script(self.name, command, service, report);
    }
}

/// Takes away what could lead a client elsewhere or tell it of somebody's key: variables, and the home directory.
pub(super) fn isolated<'a>(command: &'a mut Command, scratch: &Path) -> &'a mut Command {
    command
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", scratch)
        .env("FIRECRAWL_NO_TELEMETRY", "1")
        .env("FIRECRAWL_NO_UPDATE_CHECK", "1")
        // Before version 22, Node has WebSockets only when it is told.
        .env("NODE_OPTIONS", "--experimental-websocket")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(scratch)
}

/// Runs a script of checks, and adds them to the report. A script that ends before its time has failed.
pub(super) fn run_script(name: &str, command: &mut Command, service: &Service, report: &mut Report) {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            let program = Path::new(command.get_program()).display();
            let reason = Outcome::Failed(format!("cannot run {program}: {error}"));
            report.add(&format!("{}: {name}", service.mode.name()), &reason);
            return;
        }
    };
    let mut client = name.to_owned();
    let mut checks = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match Line::read(line) {
            Some(Line::Client(announced)) => announced.clone_into(&mut client),
            Some(Line::Check(check, outcome)) => {
                checks += 1;
                report.add(&format!("{}: {client}: {check}", service.mode.name()), &outcome);
            }
            None => {}
        }
    }
    if !output.status.success() || checks == 0 {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = format!("the script ended after {checks} checks ({}): {}", output.status, said.trim());
        report.add(&format!("{}: {client}", service.mode.name()), &Outcome::Failed(reason));
    }
}
