//! Tests of audit events: their content, and their delivery when the process or the receiver fails.

mod delivery;
mod events;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use websvc_testkit::TestWeb;

use crate::harness::{KEY, Response, Service, Site};

const SECRET: &str = "a secret of the webhook";

/// An installation with audit events on for the default team, and its sinks.
struct AuditTest {
    site: Site,
    sinks: Vec<(&'static str, String)>,
    events: TempDir,
}

impl AuditTest {
    fn new(world: &TestWeb) -> Self {
        let audit = Self { site: Site::new(world), sinks: Vec::new(), events: tempfile::tempdir().unwrap() };
        audit.site.succeed(&["teams", "set", "default", "--audit", "on"]);
        audit
    }

    fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.sinks.push((key, value.into()));
        self
    }

    /// Adds a file sink.
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

    /// Returns the events in the file. An incomplete last line of a killed process is left out.
    fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file()).unwrap_or_default();
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        complete.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits until the file has `count` events.
    async fn wait_for_events(&self, count: usize) -> Vec<Value> {
        websvc_testkit::until(&format!("the file has {count} events"), || self.events().len() >= count).await;
        let events = self.events();
        assert_eq!(events.len(), count, "{events:#?}");
        events
    }
}

fn request_id(response: &Response) -> String {
    response.headers["x-request-id"].to_str().unwrap().to_owned()
}

fn id_of(event: &Value) -> String {
    event["requestId"].as_str().unwrap().to_owned()
}
