//! The program under check: its data directory, its configuration, its process.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{Authentication, Site};
use crate::Result;
use crate::debian::run;

/// A running service that knows the pages of the site; it is stopped when dropped.
#[derive(Debug)]
pub(super) struct Service {
    process: Child,
    /// The program and what leads it to the data of this service.
    program: Vec<String>,
    pub(super) address: String,
    pub(super) mode: Authentication,
}

impl Service {
    /// Crawls the site into a new data directory and serves it.
    pub(super) fn start(binary: &Path, scratch: &Path, site: &Site, mode: Authentication) -> Result<Self> {
        let home = scratch.join(mode.name().replace(' ', "-"));
        fs::create_dir_all(&home)?;
        let config = home.join("websvc.toml");
        fs::write(&config, configuration(site, mode))?;
        let data = home.join("data");
        let command = |arguments: &[&str]| {
            let mut command = Command::new(binary);
            command.arg("--config").arg(&config).arg("--data-dir").arg(&data).args(arguments);
            command.env_clear().envs(mode.key().map(|key| ("WEBSVC_API_KEY", key)));
            command
        };
        run(&mut command(&["index", "crawl", "http://tea.test/"]))?;
        let log = home.join("log.txt");
        let mut process = command(&["serve", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().expect("the standard output is piped"))
            .read_line(&mut line)?;
        // From here on the process is stopped whatever happens.
        let options = [Path::new("--config"), &config, Path::new("--data-dir"), &data];
        let program = std::iter::once(binary).chain(options);
        let program = program.map(|part| part.to_string_lossy().into_owned()).collect();
        let mut service = Self { process, program, address: String::new(), mode };
        let address = line.trim().strip_prefix("websvc listening on ");
        service.address = address.ok_or_else(|| did_not_start(&log))?.to_owned();
        Ok(service)
    }
}

impl Service {
    /// Returns what starts the tools of MCP over this service's data, as a JSON array.
    pub(super) fn mcp_command(&self) -> String {
        let words: Vec<&str> = self.program.iter().map(String::as_str).chain(["mcp"]).collect();
        serde_json::json!(words).to_string()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Every host leads to the site: what schemathesis adds to the index must not be asked for elsewhere.
fn configuration(site: &Site, mode: Authentication) -> String {
    let address = site.address();
    let required = mode == Authentication::On;
    format!(
        "[auth]\nrequired = {required}\n\n[fetch]\nconnect_to = {{ \"*:80\" = \"{address}\", \"*:443\" = \"{address}\" }}\n"
    )
}

fn did_not_start(log: &PathBuf) -> String {
    let said = fs::read_to_string(log).unwrap_or_default();
    format!("the service did not start: {}", said.trim())
}
