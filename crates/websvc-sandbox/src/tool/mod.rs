//! Programs of the operator, such as a downloader of media, in a sandbox of bubblewrap. Unlike interpreters, they reach the
//! network: only through a socket of the service, which is a SOCKS proxy.
//!
//! The sandbox has a network namespace of its own. The guest in it (see [`crate::run_guest`]) listens on the loopback
//! interface and passes each connection to the socket. A program that ignores the proxy finds no other way out.

mod disk;
#[cfg(target_os = "linux")]
mod removal;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::frame::Start;
use crate::guest_settings::{GuestSettings, PROXY_SOCKET, TOOL_OUTPUT, ToolSettings};
use crate::interpreter::command::{next_user_if_root, sandbox_command};
use crate::interpreter::exposure::Exposure;
use crate::interpreter::{
    InterpreterError, NoBrowser, SandboxConfig, check_path, check_system, last_lines, memory,
};
use crate::process::{Pipes, Worker};
use crate::program::Outcome;
use crate::run::{failure, supervise};

#[cfg(target_os = "linux")]
pub use removal::remove_output;

/// The port of the SOCKS proxy on the loopback interface of the sandbox.
pub const TOOL_PROXY_PORT: u16 = 1080;
/// The directory in the sandbox with the output of a tool.
pub const TOOL_OUTPUT_DIRECTORY: &str = TOOL_OUTPUT;

/// Certificates that the system trusts. The private keys of servers are in other directories.
const CERTIFICATES: &[&str] = &["/etc/ssl/certs", "/etc/pki/ca-trust/extracted"];

/// A program of the operator, and those that it starts.
#[derive(Debug, Clone)]
pub struct Tool {
    programs: Vec<PathBuf>,
    sandbox: SandboxConfig,
    exposure: Exposure,
}

/// One run of a tool.
#[derive(Debug, Clone)]
pub struct ToolRun<'a> {
    /// The index of the program among those of [`Tool::prepare`].
    pub program: usize,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// Files that exist only in the sandbox, by their absolute paths in its `/tmp`.
    pub files: Vec<(String, String)>,
    /// The directory of the machine that is [`TOOL_OUTPUT_DIRECTORY`] in the sandbox; empty, and not used for anything else.
    pub output: Option<&'a Path>,
    /// The Unix socket of the SOCKS proxy. Without it, the tool has no network.
    pub proxy: Option<&'a Path>,
    /// The maximum size of each file that the tool writes. All files together may have a few times this size.
    pub max_file_bytes: u64,
    /// The time after which the tool is killed.
    pub timeout: Duration,
}

/// The task of a guest that runs a tool.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToolTask {
    pub(crate) arguments: Vec<String>,
    pub(crate) files: Vec<(String, String)>,
}

impl Tool {
    /// Finds the directories of the programs. None of them may contain a file that is hidden by the configuration.
    ///
    /// # Errors
    /// [`InterpreterError`].
    pub async fn prepare(programs: &[PathBuf], sandbox: SandboxConfig) -> Result<Self, InterpreterError> {
        check_system(&sandbox)?;
        let mut real = Vec::new();
        for program in programs {
            check_path(program, "a program", Path::is_file)?;
            // A link may be in a directory that the sandbox does not have.
            let found = program.canonicalize();
            let path = || InterpreterError::Path { path: program.clone(), expected: "a program" };
            real.push(found.map_err(|_| path())?);
        }
        let exposure = Exposure::of_programs(&real, &sandbox).await?;
        Ok(Self { programs: real, sandbox, exposure })
    }

    /// Returns the paths of the programs in the sandbox.
    #[must_use]
    pub fn programs(&self) -> &[PathBuf] {
        &self.programs
    }

    /// Runs a program without network and output, and returns the first line that it prints.
    ///
    /// # Errors
    /// [`InterpreterError::Check`] if it fails.
    pub async fn first_line(
        &self,
        program: usize,
        argument: &str,
        timeout: Duration,
    ) -> Result<String, InterpreterError> {
        let outcome = self
            .run(ToolRun {
                program,
                arguments: vec![argument.to_owned()],
                files: Vec::new(),
                output: None,
                proxy: None,
                max_file_bytes: 0,
                timeout,
            })
            .await;
        if outcome.exit_code != 0 {
            let text = outcome.stderr.trim();
            return Err(InterpreterError::Check(last_lines(if text.is_empty() {
                "it printed no error"
            } else {
                text
            })));
        }
        Ok(outcome.stdout.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Runs a program in a sandbox of its own and returns its outcome, shortly after the timeout at the latest. All its
    /// processes have ended by then. Dropping the future kills them, too.
    pub async fn run(&self, run: ToolRun<'_>) -> Outcome {
        let ToolRun { program, arguments, files, output, proxy, max_file_bytes, timeout } = run;
        let user = next_user_if_root();
        if let Some(user) = user
            && let Some(path) = output.into_iter().chain(proxy).find(|path| !own(path, user))
        {
            return failure(format!("cannot give {} to the user {user} of the sandbox", path.display()));
        }
        let settings = ToolSettings {
            program: self.programs[program].clone(),
            has_proxy: proxy.is_some(),
            max_file_bytes,
            user,
        };
        let command = self.command(&settings, output, proxy);
        let mut process = match Worker::start(command, Pipes::WithErrors) {
            Ok(process) => process,
            Err(error) => return failure(format!("cannot start the sandbox of tools: {error}")),
        };
        let task = serde_json::to_string(&ToolTask { arguments, files });
        let start = Start {
            language: "tool".to_owned(),
            code: task.expect("a task is strings"),
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            target_id: String::new(),
            session_id: String::new(),
            memory_bytes: self.sandbox.memory_bytes,
        };
        let id = process.id();
        let watch = async {
            tokio::select! {
                reason = memory::watch(id, self.sandbox.memory_bytes) => reason,
                reason = disk::watch(output, max_file_bytes) => reason,
            }
        };
        supervise(&mut process, &start, &mut NoBrowser, Box::pin(watch)).await
    }

    fn command(&self, settings: &ToolSettings, output: Option<&Path>, proxy: Option<&Path>) -> Command {
        let mut command = sandbox_command(&self.sandbox, &self.exposure, settings.user);
        for directory in CERTIFICATES {
            for ancestor in
                Path::new(directory).ancestors().skip(1).collect::<Vec<_>>().into_iter().rev().skip(1)
            {
                command.args(["--perms", "0755", "--dir"]).arg(ancestor);
            }
            command.args(["--ro-bind-try", directory, directory]);
        }
        if let Some(output) = output {
            command.arg("--bind").arg(output).arg(TOOL_OUTPUT);
        }
        if let Some(proxy) = proxy {
            command.arg("--ro-bind").arg(proxy).arg(PROXY_SOCKET);
        }
        let settings = GuestSettings::Tool(settings.clone());
        crate::interpreter::command::finish(command, &self.sandbox, &settings)
    }
}

/// Removes a directory and everything in it; it is not an error if it does not exist. Blocks.
///
/// # Errors
/// Something cannot be removed.
#[cfg(not(target_os = "linux"))]
pub fn remove_output(directory: &Path) -> std::io::Result<()> {
    // Other systems have no sandbox for tools, so no tool has written here.
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Err(_) | Ok(()) => Ok(()),
    }
}

/// Gives a file to the user of a sandbox. Returns whether that succeeded.
#[cfg(unix)]
fn own(path: &Path, user: u32) -> bool {
    std::os::unix::fs::chown(path, Some(user), Some(user)).is_ok()
}

#[cfg(not(unix))]
fn own(_path: &Path, _user: u32) -> bool {
    false
}
