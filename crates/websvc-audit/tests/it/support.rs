//! Test support: an audit log with sinks, and numbered events.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_audit::{Audit, AuditConfig, Event, Sink};
use websvc_transport::{AddressGuard, Client, ClientConfig};

pub(crate) const LARGE: u64 = 1 << 24;

pub(crate) fn client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}

pub(crate) fn open(dir: &Path, max_bytes: u64, sinks: Vec<Sink>) -> Audit {
    Audit::open(dir, AuditConfig { sinks, max_bytes }).unwrap()
}

/// Records events with these numbers as queries.
pub(crate) fn record(audit: &Audit, numbers: std::ops::Range<u32>) {
    for number in numbers {
        audit.record(&Event { query: Some(number.to_string()), status: Some(200), ..Event::new("search") });
    }
}

/// Returns the number of an event.
#[track_caller]
pub(crate) fn number(event: &Value) -> u32 {
    event["query"].as_str().unwrap().parse().unwrap()
}

/// Returns the numbers of the complete lines of a file. The last line may still be being written.
pub(crate) fn numbers(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|event| number(&event))
        .collect()
}

/// Returns the numbers without repetitions.
pub(crate) fn distinct(mut numbers: Vec<u32>) -> Vec<u32> {
    let mut seen = std::collections::HashSet::new();
    numbers.retain(|number| seen.insert(*number));
    numbers
}

/// An audit log with a running delivery.
pub(crate) struct Delivering {
    pub(crate) audit: Audit,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    _dir: TempDir,
}

impl Delivering {
    pub(crate) fn start(sinks: Vec<Sink>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let audit = open(dir.path(), LARGE, sinks);
        let (stop, stopped) = oneshot::channel::<()>();
        let audit_of_task = audit.clone();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            audit_of_task.deliver(stopped, Duration::from_secs(60)).await;
        });
        Self { audit, stop, task, _dir: dir }
    }

    /// Stops, and waits until the remaining events are delivered.
    pub(crate) async fn stop_and_wait(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}
