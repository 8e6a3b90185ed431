//! Audit events: what requests leave for a system elsewhere, whatever becomes of the process or of that system.

mod delivery;
mod telling;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use websvc_testkit::TestWeb;

use crate::harness::{Answer, KEY, Service, Site};

const SECRET: &str = "a secret of the webhook";

/// An installation whose default team wants events, and where they go.
struct Watched {
    site: Site,
    sinks: Vec<(&'static str, String)>,
    events: TempDir,
}

impl Watched {
    fn new(world: &TestWeb) -> Self {
        let watched =
            Self { site: Site::new(world), sinks: Vec::new(), events: tempfile::tempdir().unwrap() };
        watched.site.succeed(&["teams", "set", "default", "--audit", "on"]);
        watched
    }

    fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.sinks.push((key, value.into()));
        self
    }

    /// Adds a file to the sinks.
    fn with_file(self) -> Self {
        let path = self.file().to_str().unwrap().to_owned();
        self.with("WEBSVC__AUDIT__FILE", path)
    }

    fn file(&self) -> PathBuf {
        self.events.path().join("audit.jsonl")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.site.command(arguments);
        command.envs(self.sinks.iter().map(|(key, value)| (key, value)));
        command
    }

    fn serve(&self) -> Service {
        Service::start(self.command(&["serve", "--listen", "127.0.0.1:0"]).env("WEBSVC_API_KEY", KEY))
    }

    /// Returns the events of the file so far: its whole lines. One that a killed process began is none.
    fn told(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file()).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits until the file has so many events.
    async fn until_told(&self, count: usize) -> Vec<Value> {
        websvc_testkit::until(&format!("{count} events are told"), || self.told().len() >= count).await;
        let told = self.told();
        assert_eq!(told.len(), count, "{told:#?}");
        told
    }
}

fn request_id(answer: &Answer) -> String {
    answer.headers["x-request-id"].to_str().unwrap().to_owned()
}

fn id_of(event: &Value) -> String {
    event["requestId"].as_str().unwrap().to_owned()
}
