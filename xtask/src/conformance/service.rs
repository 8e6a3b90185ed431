//! The service under test: its data directory, configuration and process.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::mail::MailServer;
use super::{AuthMode, Site, folder};
use crate::Result;
use crate::debian::run;

/// The name of the model of `xtask/conformance/model.py`.
const MODEL: &str = "conformance";

/// A running service whose index has the pages of the site. Stops the process on drop.
#[derive(Debug)]
pub(super) struct Service {
    process: Child,
    /// The program and the options that select the configuration and data directory of this service.
    command: Vec<String>,
    pub(super) address: String,
    pub(super) mode: AuthMode,
    /// True if the service has a Chromium, and so browser sessions.
    pub(super) has_browser: bool,
    /// The server that gets the emails of this service.
    pub(super) mail: MailServer,
}

impl Service {
    /// Crawls the site into a new data directory and serves it. `model` is the address of the language model, if the service
    /// has one.
    pub(super) fn start(
        binary: &Path,
        scratch: &Path,
        site: &Site,
        mode: AuthMode,
        model: Option<&str>,
        chromium: Option<&Path>,
    ) -> Result<Self> {
        let home = scratch.join(mode.name().replace(' ', "-"));
        fs::create_dir_all(&home)?;
        let config = home.join("websvc.toml");
        let mail = MailServer::start(&folder().join("mail.py"), home.join("mail"))?;
        let listen = free_address()?;
        fs::write(&config, configuration(&listen, site, mode, model, chromium) + &mail.configuration())?;
        let data = home.join("data");
        let command = |arguments: &[&str]| {
            let mut command = Command::new(binary);
            command.arg("--config").arg(&config).arg("--data-dir").arg(&data).args(arguments);
            command.env_clear().envs(mode.key().map(|key| ("WEBSVC_API_KEY", key)));
            command.envs(mode.admin_key().map(|key| ("WEBSVC_ADMIN_KEY", key)));
            command
        };
        run(&mut command(&["index", "crawl", "http://tea.test/"]))?;
        let log = home.join("log.txt");
        let mut process = command(&["serve"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()?;
        let mut first_line = String::new();
        BufReader::new(process.stdout.as_mut().expect("the standard output is piped"))
            .read_line(&mut first_line)?;
        // Created before the address is known, so that the process is stopped if parsing it fails.
        let options = [Path::new("--config"), &config, Path::new("--data-dir"), &data];
        let words = std::iter::once(binary).chain(options);
        let command = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let has_browser = chromium.is_some();
        let mut service = Self { process, command, address: String::new(), mode, has_browser, mail };
        let address = first_line.trim().strip_prefix("websvc listening on ");
        service.address = address.ok_or_else(|| start_error(&log))?.to_owned();
        Ok(service)
    }
}

impl Service {
    /// Returns the command that starts an MCP server on this service's data, as a JSON array.
    pub(super) fn mcp_command(&self) -> String {
        let words: Vec<&str> = self.command.iter().map(String::as_str).chain(["mcp"]).collect();
        serde_json::json!(words).to_string()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Both calls fail if the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the address of a port that is free at present. The configuration needs the address before the service starts,
/// because links in emails begin with it.
fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// Returns the configuration. It routes every host to the site, so that the generated URLs of schemathesis never reach
/// the network. The site refuses webhook events, which become dead letters after one attempt.
fn configuration(
    listen: &str,
    site: &Site,
    mode: AuthMode,
    model: Option<&str>,
    chromium: Option<&Path>,
) -> String {
    let address = site.address();
    let required = mode == AuthMode::On;
    let browser = match chromium {
        Some(path) => format!("path = {:?}", path.to_string_lossy()),
        None => "concurrency = 0".to_owned(),
    };
    let model = model.map_or_else(String::new, |address| {
        format!("[llm]\nbase_url = \"http://{address}/v1\"\nmodel = \"{MODEL}\"\n\n")
    });
    format!(
        "[server]\nlisten = \"{listen}\"\npublic_url = \"http://{listen}\"\n\n[auth]\nrequired = {required}\n\n\
         [auth.oauth]\nenabled = {required}\n\n\
         [fetch]\nconnect_to = {{ \"*:80\" = \"{address}\", \"*:443\" = \"{address}\" }}\n\n\
         [browser]\n{browser}\n\n[webhooks]\nattempts = 1\n\n{model}"
    )
}

fn start_error(log: &PathBuf) -> String {
    let log = fs::read_to_string(log).unwrap_or_default();
    format!("the service did not start: {}", log.trim())
}
