//! The official clients and their check scripts.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::folder;
use super::limit::{ending, limited};
use super::report::{CheckOutcome, Report, ScriptLine};
use super::service::Service;
use super::site::Site;
use crate::cache::Cache;
use crate::cargo::cargo;
use crate::debian::run;
use crate::{npm, python};

/// Maximum time of a check script.
pub(super) const SCRIPT_LIMIT: Duration = Duration::from_secs(15 * 60);

/// A client and its check script.
#[derive(Debug)]
pub(super) struct Client {
    name: &'static str,
    /// The program that runs the checks with its first arguments, or the reason why it cannot run.
    command: Result<Vec<OsString>, String>,
}

const PYTHON_SDK: &str = "Python SDK";
const RUST_SDK: &str = "Rust SDK";

/// The clients with a script for Node.
const NODE_SCRIPTS: [(&str, &str); 5] = [
    ("JavaScript SDK", "js_sdk.mjs"),
    ("command line", "cli.mjs"),
    ("MCP server", "mcp.mjs"),
    ("MCP client", "mcp_sdk.mjs"),
    ("other programs", "others.mjs"),
];

/// Returns the clients whose names `selects` selects. Installs those that are missing.
pub(super) fn prepare(selects: impl Fn(&str) -> bool) -> Vec<Client> {
    let scripts = folder().join("clients");
    let mut clients = Vec::new();
    if selects(PYTHON_SDK) {
        let command = python::prepare()
            .map(|python| vec![python.into_os_string(), scripts.join("python_sdk.py").into_os_string()])
            .map_err(|error| error.to_string());
        clients.push(Client { name: PYTHON_SDK, command });
    }
    if selects(RUST_SDK) {
        let command = build_rust_sdk().map(|program| vec![program.into_os_string()]);
        clients.push(Client { name: RUST_SDK, command: command.map_err(|error| error.to_string()) });
    }
    let of_node: Vec<_> = NODE_SCRIPTS.into_iter().filter(|(name, _)| selects(name)).collect();
    if !of_node.is_empty() {
        let packages = install_packages(&scripts).map_err(|error| error.to_string());
        clients.extend(of_node.into_iter().map(|(name, script)| {
            let command =
                packages.clone().map(|folder| vec!["node".into(), folder.join(script).into_os_string()]);
            Client { name, command }
        }));
    }
    clients
}

/// Builds the checks of the Rust SDK in the cache folder. Returns the path of the program.
fn build_rust_sdk() -> Result<PathBuf, Box<dyn Error>> {
    let target = Cache::open()?.dir().join("rust_sdk");
    let manifest = folder().join("rust_sdk/Cargo.toml");
    println!("==> cargo build --manifest-path {}", manifest.display());
    let mut command = cargo();
    command.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(&target);
    run(&mut command).map_err(|error| {
        format!("cannot build the checks of the Rust SDK (it needs OpenSSL's headers): {error}")
    })?;
    Ok(target.join("debug/websvc-conformance-rust"))
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
    /// Runs the checks of the client against a service.
    pub(super) fn run(&self, service: &Service, site: &Site, scratch: &Path, report: &mut Report) {
        let words = match &self.command {
            Ok(words) => words,
            Err(reason) => {
                let check = format!("{}: {}", service.mode.name(), self.name);
                report.add(&check, &CheckOutcome::Skipped(reason.clone()));
                return;
            }
        };
        let (program, arguments) = words.split_first().expect("a command begins with its program");
        let mut command = limited(program, SCRIPT_LIMIT);
        command.args(arguments).arg(&service.address).args(service.mode.key());
        let command = isolate(&mut command, scratch)
            .env("WEBSVC_MCP", service.mcp_command())
            .envs(service.mode.admin_key().map(|key| ("WEBSVC_ADMIN_KEY", key)))
            .env("WEBSVC_SITE", site.folder())
            .env("WEBSVC_MODEL", if service.mode.has_model() { "1" } else { "0" })
            .env("WEBSVC_SESSIONS", if service.has_browser { "1" } else { "0" });
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

/// Runs a check script, which has the limit [`SCRIPT_LIMIT`], and adds its checks to the report. Adds a failure if the
/// script exits with an error or reports no check.
pub(super) fn run_script(name: &str, command: &mut Command, service: &Service, report: &mut Report) {
    let began = Instant::now();
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
        let ending = ending(output.status, SCRIPT_LIMIT);
        let reason = format!("the script ended after {checks} checks ({ending}): {}", stderr.trim());
        report.add(&format!("{}: {client}", service.mode.name()), &CheckOutcome::Failed(reason));
    }
    report.add_duration(&format!("{}: {client}", service.mode.name()), began.elapsed());
}
