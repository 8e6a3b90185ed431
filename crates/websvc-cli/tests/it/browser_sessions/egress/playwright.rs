//! Playwright, which runs one program after another.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A process of Node in which Playwright is connected to a session.
pub(super) struct Playwright {
    _process: Child,
    programs: ChildStdin,
    ends: Lines<BufReader<ChildStdout>>,
}

impl Playwright {
    pub(super) async fn connect(package: &Path, cdp_url: &str) -> Self {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/browser_sessions/egress/programs.mjs");
        let mut node = Command::new("node");
        node.arg(script).arg(package).arg(cdp_url).kill_on_drop(true);
        let mut process = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (programs, ends) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut playwright = Self { _process: process, programs, ends: BufReader::new(ends).lines() };
        assert_eq!(playwright.ends.next_line().await.unwrap().as_deref(), Some("connected"));
        playwright
    }

    /// Runs a program, which may fail.
    pub(super) async fn run(&mut self, code: &str) {
        let line = format!("{}\n", Value::from(code));
        self.programs.write_all(line.as_bytes()).await.unwrap();
        assert_eq!(self.ends.next_line().await.unwrap().as_deref(), Some("ended"), "{code}");
    }
}
