//! Measures the worker processes of the embedded engine, without a browser.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use websvc_sandbox::{
    BoxFuture, CdpChannel, ChannelClosed, Language, Outcome, PageTarget, Program, WorkerConfig,
    run as run_program,
};

use super::report_times;
use crate::process::{program_path, tree_memory_mb};
use crate::report::Report;

/// Programs whose time is measured.
const PROGRAMS: usize = 100;
/// The time in which a worker has loaded its library and waits.
const LOAD_TIME: Duration = Duration::from_millis(500);

/// Measures the time and the memory of a worker.
pub(super) async fn run(report: &mut Report) {
    let mut times = Vec::new();
    for _ in 0..PROGRAMS {
        let started = Instant::now();
        let outcome = run_alone("1 + 1").await;
        assert_eq!(outcome.result.as_deref(), Some("2"), "{outcome:?}");
        times.push(started.elapsed());
    }
    report_times("worker of code, start to the result of 1 + 1", times, "p50 under 15", report);
    let idle = tree_memory_mb(std::process::id());
    let waiting = tokio::spawn(run_alone("await new Promise(() => {})"));
    tokio::time::sleep(LOAD_TIME).await;
    let memory = tree_memory_mb(std::process::id()) - idle;
    waiting.abort();
    report.number("memory of a waiting worker", memory, "MB (PSS)", "under 15");
}

async fn run_alone(code: &str) -> Outcome {
    let worker = WorkerConfig::new(program(), vec!["run-program".to_owned()]);
    let program =
        Program { language: Language::Node, code: code.to_owned(), timeout: Duration::from_secs(60) };
    let page = PageTarget { target_id: "T".to_owned(), session_id: "S".to_owned() };
    run_program(program, page, Box::new(EmptyPage::new()), &worker).await
}

fn program() -> PathBuf {
    program_path("websvc")
}

/// A browser with one empty page, which answers what the library asks at its start.
struct EmptyPage {
    answers: mpsc::UnboundedReceiver<String>,
    to_worker: mpsc::UnboundedSender<String>,
}

impl EmptyPage {
    fn new() -> Self {
        let (to_worker, answers) = mpsc::unbounded_channel();
        Self { answers, to_worker }
    }
}

impl CdpChannel for EmptyPage {
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>> {
        let request: Value = serde_json::from_str(&message).unwrap();
        let frame = json!({ "id": "F", "loaderId": "L", "url": "about:blank", "name": "" });
        let result = match request["method"].as_str() {
            Some("Page.getFrameTree") => json!({ "frameTree": { "frame": frame } }),
            Some("Browser.getVersion") => json!({ "product": "Empty/1" }),
            Some("Target.getTargets") => json!({ "targetInfos": [] }),
            _ => json!({}),
        };
        let response = json!({ "id": request["id"], "sessionId": request["sessionId"], "result": result });
        self.to_worker.send(response.to_string()).unwrap();
        Box::pin(async { Ok(()) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(self.answers.recv())
    }
}
