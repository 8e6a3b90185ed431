//! Programs, their outcomes, and the configuration of the workers that run them.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The maximum size of each of standard output, standard error and the result of a program, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// The maximum processor time of a worker, in seconds: the longest timeout of a program, and a little more.
pub const PROCESSOR_SECONDS: u32 = 310;

/// The exit code of a program that was killed at its deadline.
pub const TIMEOUT_EXIT_CODE: i32 = 124;

/// The language of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// JavaScript with the Playwright API.
    Node,
    /// Python with the asynchronous API of Playwright. The embedded engine does not run it.
    Python,
    /// Lines of `agent-browser` commands, or a program of a shell that has this command.
    Bash,
}

impl Language {
    /// Returns the name of the language in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Bash => "bash",
        }
    }
}

/// A program of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The language of the code.
    pub language: Language,
    /// The text of the program.
    pub code: String,
    /// The time after which the program is killed.
    pub timeout: Duration,
}

/// The result of running a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The text that the program wrote to standard output, at most [`MAX_OUTPUT_BYTES`].
    pub stdout: String,
    /// The text that the program wrote to standard error, including an uncaught error, at most [`MAX_OUTPUT_BYTES`].
    pub stderr: String,
    /// The value of the last expression: a string as it is, any other value as JSON. If there is none, the trimmed
    /// standard output, if that is not empty.
    pub result: Option<String>,
    /// 0, 1 after an uncaught error, the argument of `process.exit`, or [`TIMEOUT_EXIT_CODE`].
    pub exit_code: i32,
    /// The program was killed at its deadline.
    pub killed: bool,
    /// A message about the failure of the program, if it failed, at most [`MAX_OUTPUT_BYTES`].
    pub error: Option<String>,
    /// An output or the result was longer than [`MAX_OUTPUT_BYTES`] and was cut.
    pub truncated: bool,
    /// The target of the page that `page` was at the end, if it is another one than at the start.
    pub page: Option<String>,
}

/// A page of the browser, attached to the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTarget {
    /// The id of the target.
    pub target_id: String,
    /// The id of the session of the DevTools protocol that is attached to it.
    pub session_id: String,
}

/// The program that worker processes run, and their memory limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerConfig {
    /// The program, which calls [`run_worker`](crate::run_worker) when it is started with `arguments`.
    pub program: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The maximum memory of the engine, in bytes.
    pub memory_bytes: u64,
}

impl WorkerConfig {
    /// Creates a configuration with the default memory limit of 64 MiB.
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments, memory_bytes: 64 * 1024 * 1024 }
    }
}
