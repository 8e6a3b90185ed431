//! Interpreters of the operator that run programs in a sandbox of bubblewrap, seen from the service.
//!
//! bubblewrap starts this program again inside the sandbox (the guest, see [`crate::run_guest`]), which starts the
//! interpreter. The guest speaks with the service over its pipes, as the workers of the embedded engine do, so the only
//! way out of the sandbox is the channel of the session.

pub(crate) mod command;
pub(crate) mod exposure;
pub(crate) mod memory;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::channel::{BoxFuture, CdpChannel, ChannelClosed};
use crate::frame::Start;
use crate::process::{Pipes, Worker};
use crate::program::{Language, Outcome, PageTarget, Program};
use crate::run::{failure, supervise};

use self::exposure::Exposure;

/// The default of the maximum memory of the processes of a program together, in bytes.
pub const DEFAULT_INTERPRETER_MEMORY_BYTES: u64 = 512 * 1024 * 1024;

/// The maximum time for each of the two programs of the check of an interpreter.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// An interpreter, as the operator configures it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterpreterConfig {
    /// The language that it runs.
    pub language: Language,
    /// The program: `python3`, also of a virtual environment, `node` or `bash`.
    pub program: PathBuf,
    /// The folder of the package playwright-core, for [`Language::Node`].
    pub library: Option<PathBuf>,
}

/// The sandbox in which interpreters run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    /// The program `bwrap`.
    pub bubblewrap: PathBuf,
    /// This program, which calls [`run_guest`](crate::run_guest) when it is started with `guest_arguments` and one more.
    pub program: PathBuf,
    /// The arguments before that of the guest.
    pub guest_arguments: Vec<String>,
    /// The arguments with which the program calls [`run_worker`](crate::run_worker).
    pub worker_arguments: Vec<String>,
    /// The maximum memory of the processes of a program together, in bytes.
    pub memory_bytes: u64,
    /// Files and directories that no interpreter may see, such as the data directory of the service.
    pub hidden: Vec<PathBuf>,
}

/// An interpreter that has passed its check.
#[derive(Debug, Clone)]
pub struct Interpreter {
    config: InterpreterConfig,
    sandbox: SandboxConfig,
    exposure: Exposure,
    version: String,
}

/// The reason why an interpreter cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InterpreterError {
    /// The system has no namespaces of Linux, or its processor is not supported.
    #[error("interpreters need Linux on x86-64 or ARM64")]
    System,
    /// The kernel does not list the children of processes, so their memory cannot be measured.
    #[error("the kernel does not list the children of processes (CONFIG_PROC_CHILDREN)")]
    Kernel,
    /// A configured path is not absolute, or does not exist.
    #[error("{} is not the absolute path of {expected}", path.display())]
    Path {
        /// The configured path.
        path: PathBuf,
        /// The kind of file that was expected.
        expected: &'static str,
    },
    /// The interpreter did not tell its directories.
    #[error("{} does not run: {reason}", path.display())]
    Program {
        /// The interpreter.
        path: PathBuf,
        /// The last line of its error output.
        reason: String,
    },
    /// A directory that the interpreter needs contains a file that no program may see.
    #[error("{} would be visible to programs, because {} is", hidden.display(), exposed.display())]
    Exposed {
        /// The file or directory that must not be visible.
        hidden: PathBuf,
        /// The directory that the interpreter needs.
        exposed: PathBuf,
    },
    /// A first program failed in the sandbox.
    #[error("a first program failed in the sandbox: {0}")]
    Check(String),
}

impl Interpreter {
    /// Finds the directories that the interpreter needs, and runs a first program in the sandbox.
    ///
    /// # Errors
    /// [`InterpreterError`].
    pub async fn prepare(
        config: InterpreterConfig,
        sandbox: SandboxConfig,
    ) -> Result<Self, InterpreterError> {
        check_system(&sandbox)?;
        check_path(&config.program, "an interpreter", Path::is_file)?;
        if let Some(library) = &config.library {
            let has_package = |path: &Path| path.join("package.json").is_file();
            check_path(library, "the folder of the npm package playwright-core", has_package)?;
        }
        let exposure = Exposure::find(&config, &sandbox).await?;
        let mut interpreter = Self { config, sandbox, exposure, version: String::new() };
        let outcome = interpreter.check().await;
        if outcome.exit_code != 0 {
            let text = outcome.stderr.trim();
            let reason = if text.is_empty() { "it printed no error" } else { text };
            return Err(InterpreterError::Check(last_lines(reason)));
        }
        interpreter.version = outcome.stdout.trim().to_owned();
        Ok(interpreter)
    }

    /// Returns the language that it runs.
    #[must_use]
    pub fn language(&self) -> Language {
        self.config.language
    }

    /// Returns the versions of the interpreter and of its libraries.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs a first program, without a page.
    async fn check(&self) -> Outcome {
        let program = Program { language: self.config.language, code: String::new(), timeout: CHECK_TIMEOUT };
        let page = PageTarget { target_id: String::new(), session_id: String::new() };
        self.run_guest(program, page, Box::new(NoBrowser), GuestTask::Check).await
    }

    /// Runs a program in a sandbox of its own and returns its outcome.
    ///
    /// The outcome arrives shortly after the timeout of the program at the latest. All its processes have been killed by
    /// then. Dropping the future kills them, too.
    pub async fn run(&self, program: Program, page: PageTarget, channel: Box<dyn CdpChannel>) -> Outcome {
        self.run_guest(program, page, channel, GuestTask::Program).await
    }

    async fn run_guest(
        &self,
        program: Program,
        page: PageTarget,
        mut channel: Box<dyn CdpChannel>,
        task: GuestTask,
    ) -> Outcome {
        let command = command::command(&self.config, &self.sandbox, &self.exposure, task);
        let mut process = match Worker::start(command, Pipes::WithErrors) {
            Ok(process) => process,
            Err(error) => return failure(format!("cannot start the sandbox of programs: {error}")),
        };
        let start = Start::new(&program, &page, self.sandbox.memory_bytes);
        let watch = memory::watch(process.id(), self.sandbox.memory_bytes);
        supervise(&mut process, &start, &mut *channel, Box::pin(watch)).await
    }
}

/// The task of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GuestTask {
    /// It runs a program.
    Program,
    /// It checks that the interpreter and its libraries start.
    Check,
}

impl fmt::Display for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.config.program.display(), self.version)
    }
}

/// The channel of a check, which has no browser.
pub(crate) struct NoBrowser;

impl CdpChannel for NoBrowser {
    fn send(&mut self, _message: String) -> BoxFuture<'_, Result<(), ChannelClosed>> {
        Box::pin(async { Ok(()) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(std::future::pending())
    }
}

/// Checks that this system has what sandboxes need.
pub(crate) fn check_system(sandbox: &SandboxConfig) -> Result<(), InterpreterError> {
    if cfg!(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))) {
        return Err(InterpreterError::System);
    }
    if !Path::new("/proc/thread-self/children").exists() {
        return Err(InterpreterError::Kernel);
    }
    check_path(&sandbox.bubblewrap, "the program bwrap (Debian package bubblewrap)", Path::is_file)
}

pub(crate) fn check_path(
    path: &Path,
    expected: &'static str,
    is_expected: impl Fn(&Path) -> bool,
) -> Result<(), InterpreterError> {
    if path.is_absolute() && is_expected(path) {
        return Ok(());
    }
    Err(InterpreterError::Path { path: path.to_owned(), expected })
}

/// Returns the last lines of a text, at most 500 characters: those of a traceback say what is wrong.
pub(crate) fn last_lines(text: &str) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(500));
    text[start..].lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("; ")
}
