//! The interpreter inside the sandbox: its command line, its program and its end.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::outputs::{Outputs, pass};
use crate::frame::{Finish, Kind, Start};
use crate::guest_settings::{AGENT_BROWSER, COMMANDS, GUEST_PROGRAM, HOME, Settings, TEMPORARY_FILES};
use crate::output::Output;
use crate::program::{Language, MAX_OUTPUT_BYTES};

/// The port of the DevTools protocol in the sandbox.
pub(super) const DEVTOOLS_PORT: u16 = 9222;
/// The search path of programs.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The file with the program of a shell, in the directory of temporary files.
const SHELL_PROGRAM: &str = "program.sh";
/// The file with the outcome of a driver, in the directory of temporary files.
const OUTCOME: &str = ".outcome";
/// The maximum size of this file: a result, in which each character may be escaped.
const MAX_OUTCOME_BYTES: u64 = 7 * MAX_OUTPUT_BYTES as u64;
/// The maximum time for output of processes that the program leaves behind.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

const PYTHON_DRIVER: &str = include_str!("drivers/driver.py");
const NODE_DRIVER: &str = include_str!("drivers/driver.mjs");

/// The task of a driver, which it reads from standard input.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DriverTask<'a> {
    code: &'a str,
    endpoint: String,
    target_id: &'a str,
    timeout_ms: u64,
    library: Option<&'a Path>,
    is_check: bool,
    outcome: PathBuf,
}

/// The outcome of a driver or of the last `agent-browser`, and the settings of the latter.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DriverOutcome {
    #[serde(default)]
    pub(super) result: Option<String>,
    #[serde(default)]
    pub(super) target_id: Option<String>,
    /// The arguments of the worker that `agent-browser` starts.
    #[serde(default)]
    pub(super) worker_arguments: Vec<String>,
}

/// A running interpreter.
pub(super) struct Interpreter {
    child: Child,
}

impl Interpreter {
    /// Returns a program that has started, with pipes for its outputs.
    pub(super) fn from_child(child: Child) -> Self {
        Self { child }
    }

    /// Starts the interpreter with the program.
    pub(super) fn start(settings: &Settings, start: &Start) -> io::Result<Self> {
        let mut command = Command::new(&settings.program);
        let mut input = String::new();
        match settings.language {
            Language::Python => {
                command.args(["-I", "-X", "utf8", "-c", PYTHON_DRIVER]);
                input = driver_task(settings, start)?;
            }
            Language::Node => {
                command.args(["--input-type=module", "--eval", NODE_DRIVER]);
                input = driver_task(settings, start)?;
            }
            Language::Bash => prepare_shell(&mut command, settings, start)?,
        }
        command
            .env_clear()
            .env("PATH", format!("{COMMANDS}:{PATH}"))
            .env("HOME", HOME)
            .env("LANG", "C.UTF-8");
        command.current_dir(HOME).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // The task of a driver. Programs find the end of their input.
            tokio::spawn(async move { stdin.write_all(input.as_bytes()).await });
        }
        Ok(Self { child })
    }

    /// Passes the output of the program on until it ends.
    pub(super) async fn finish(mut self, outputs: &Outputs) -> io::Result<Finish> {
        let (Some(stdout), Some(stderr)) = (self.child.stdout.take(), self.child.stderr.take()) else {
            return Err(io::Error::other("the interpreter has no pipes"));
        };
        let passed = tokio::spawn({
            let (to_stdout, to_stderr) = (outputs.sender(), outputs.sender());
            async move {
                tokio::join!(pass(stdout, Kind::Stdout, to_stdout), pass(stderr, Kind::Stderr, to_stderr))
            }
        });
        let status = self.child.wait().await?;
        // Processes that the program has left behind may keep the pipes open. They end with the sandbox.
        let _ = timeout(LAST_OUTPUT_TIMEOUT, passed).await;
        let DriverOutcome { result, target_id, worker_arguments: _ } = read_outcome();
        let (mut text, mut truncated) = (None, false);
        if let Some(result) = result {
            let mut output = Output::default();
            output.push(&result);
            truncated = output.is_cut();
            text = Some(output.into_text());
        }
        let (exit_code, error) = end(status);
        Ok(Finish { result: text, exit_code, error, target_id, truncated })
    }
}

fn driver_task(settings: &Settings, start: &Start) -> io::Result<String> {
    let task = DriverTask {
        code: &start.code,
        endpoint: format!("ws://127.0.0.1:{DEVTOOLS_PORT}/"),
        target_id: &start.target_id,
        timeout_ms: start.timeout_ms,
        library: settings.library.as_deref(),
        is_check: settings.is_check,
        outcome: outcome_file(),
    };
    Ok(serde_json::to_string(&task)?)
}

/// Writes the program of a shell to a file, because its standard input is for its commands.
fn prepare_shell(command: &mut Command, settings: &Settings, start: &Start) -> io::Result<()> {
    let file = Path::new(TEMPORARY_FILES).join(SHELL_PROGRAM);
    let check = format!("bash --version | head -n 1\ncommand -v {AGENT_BROWSER} > /dev/null\n");
    std::fs::write(&file, if settings.is_check { &check } else { &start.code })?;
    write_outcome(&DriverOutcome {
        result: None,
        target_id: Some(start.target_id.clone()),
        worker_arguments: settings.worker_arguments.clone(),
    })?;
    command.args(["--norc", "--noprofile"]).arg(file);
    Ok(())
}

/// Returns the command that starts a worker of the embedded engine.
pub(super) fn worker_program() -> PathBuf {
    PathBuf::from(GUEST_PROGRAM)
}

fn outcome_file() -> PathBuf {
    Path::new(TEMPORARY_FILES).join(OUTCOME)
}

/// Reads the outcome of a driver. A program may have changed or removed it, which only affects itself.
pub(super) fn read_outcome() -> DriverOutcome {
    let mut text = String::new();
    let read =
        File::open(outcome_file()).and_then(|file| file.take(MAX_OUTCOME_BYTES).read_to_string(&mut text));
    match read {
        Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => DriverOutcome::default(),
    }
}

pub(super) fn write_outcome(outcome: &DriverOutcome) -> io::Result<()> {
    std::fs::write(outcome_file(), serde_json::to_string(outcome)?)
}

/// Returns the exit code as a shell has it, and an error for a signal.
fn end(status: ExitStatus) -> (i32, Option<String>) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (code, None),
        (None, Some(signal)) => (128 + signal, Some(format!("the interpreter was ended by signal {signal}"))),
        (None, None) => (1, None),
    }
}
