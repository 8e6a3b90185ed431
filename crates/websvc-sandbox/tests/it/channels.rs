//! Channels without a browser, and the runs of programs.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use websvc_sandbox::{
    BoxFuture, CdpChannel, ChannelClosed, Language, Outcome, PageTarget, Program, WorkerConfig, run,
};

/// Returns the configuration of the worker of this crate.
pub(crate) fn worker() -> WorkerConfig {
    WorkerConfig::new(PathBuf::from(env!("CARGO_BIN_EXE_websvc-sandbox-worker")), Vec::new())
}

pub(crate) fn program(language: Language, code: &str, seconds: u64) -> Program {
    Program { language, code: code.to_owned(), timeout: Duration::from_secs(seconds) }
}

/// A browser with one empty page, which answers what the library asks at its start, and refuses everything else.
pub(crate) struct FakeBrowser {
    answers: mpsc::UnboundedReceiver<String>,
    to_worker: mpsc::UnboundedSender<String>,
}

impl FakeBrowser {
    pub(crate) fn new() -> Self {
        let (to_worker, answers) = mpsc::unbounded_channel();
        Self { answers, to_worker }
    }
}

fn answer(method: &str) -> Value {
    let frame = json!({ "id": "F", "loaderId": "L", "url": "about:blank", "name": "" });
    match method {
        "Page.getFrameTree" => json!({ "result": { "frameTree": { "frame": frame } } }),
        "Browser.getVersion" => json!({ "result": { "product": "Fake/1" } }),
        "Target.getTargets" => json!({ "result": { "targetInfos": [] } }),
        "Page.enable" | "Runtime.enable" | "Runtime.disable" | "Network.enable" => json!({ "result": {} }),
        other => json!({ "error": { "code": -32000, "message": format!("{other} is not allowed") } }),
    }
}

impl CdpChannel for FakeBrowser {
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>> {
        // A hostile program can send anything.
        let request: Value = serde_json::from_str(&message).unwrap_or_default();
        let mut response = answer(request["method"].as_str().unwrap_or_default());
        response["id"] = request["id"].clone();
        response["sessionId"] = request["sessionId"].clone();
        self.to_worker.send(response.to_string()).unwrap();
        Box::pin(async { Ok(()) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(self.answers.recv())
    }
}

/// Runs a program without a browser.
pub(crate) async fn run_alone(program: Program) -> Outcome {
    run_with(&worker(), program).await
}

/// Runs a program without a browser in a worker.
pub(crate) async fn run_with(worker: &WorkerConfig, program: Program) -> Outcome {
    let page = PageTarget { target_id: "T".to_owned(), session_id: "S".to_owned() };
    run(program, page, Box::new(FakeBrowser::new()), worker).await
}
