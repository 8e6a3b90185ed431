//! The command that starts a sandbox.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::process::Command;

use super::exposure::Exposure;
use super::{GuestTask, InterpreterConfig, SandboxConfig};
use crate::guest_settings::{
    COMMANDS, GUEST_PROGRAM, GuestSettings, HOME, MAX_MEMORY_FILES_BYTES, Settings, TEMPORARY_FILES,
    agent_browser_link,
};

/// The namespaces that are always new. The network namespace has a loopback interface of its own, and nothing else.
const NAMESPACES: &[&str] =
    &["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];

/// The first user ID of programs if the service runs as root. It is beyond the ranges that distributions and container
/// programs assign.
const FIRST_USER: u32 = 1_900_000_000;
/// The number of user IDs. Each program has its own, because the kernel counts processes by it.
const USERS: u32 = 10_000;

/// Returns the command of bubblewrap.
///
/// Without root, the sandbox has a user namespace. As root it has none, because the kernel does not count the processes
/// of root: the guest changes to a user of its own instead, before it reads anything.
pub(super) fn command(
    config: &InterpreterConfig,
    sandbox: &SandboxConfig,
    exposure: &Exposure,
    task: GuestTask,
) -> Command {
    let user = next_user_if_root();
    let settings = GuestSettings::Interpreter(settings(config, sandbox, task, user));
    finish(sandbox_command(sandbox, exposure, user), sandbox, &settings)
}

/// Returns the beginning of the command of bubblewrap: the namespaces and the directories.
pub(crate) fn sandbox_command(sandbox: &SandboxConfig, exposure: &Exposure, user: Option<u32>) -> Command {
    let mut command = Command::new(&sandbox.bubblewrap);
    command.args(NAMESPACES).args([
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--hostname",
        "sandbox",
    ]);
    if user.is_none() {
        command.args(["--unshare-user", "--cap-drop", "ALL"]);
    }
    // Before the directories of interpreters, which may be in them.
    for directory in [HOME, TEMPORARY_FILES] {
        add_memory_files(&mut command, directory);
    }
    add_directories(&mut command, exposure);
    command.arg("--ro-bind").arg(&sandbox.program).arg(GUEST_PROGRAM);
    command.arg("--symlink").arg(GUEST_PROGRAM).arg(agent_browser_link());
    command.args(["--proc", "/proc", "--dev", "/dev"]);
    add_memory_files(&mut command, "/dev/shm");
    command
}

/// Adds the end of the command of bubblewrap: the guest with its settings.
pub(crate) fn finish(mut command: Command, sandbox: &SandboxConfig, settings: &GuestSettings) -> Command {
    let settings = serde_json::to_string(settings).expect("settings are strings, numbers and paths of UTF-8");
    command.args(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--"]);
    command.arg(GUEST_PROGRAM).args(&sandbox.guest_arguments).arg(settings);
    command
}

/// Adds a directory that programs may write to. The kernel does not count its memory for any process, so it has a limit.
fn add_memory_files(command: &mut Command, directory: &str) {
    command.args(["--size", &MAX_MEMORY_FILES_BYTES.to_string(), "--perms", "1777", "--tmpfs", directory]);
}

fn add_directories(command: &mut Command, exposure: &Exposure) {
    // bubblewrap makes directories that it creates on its own inaccessible to other users.
    for directory in exposure.ancestors() {
        command.args(["--perms", "0755", "--dir"]).arg(directory);
    }
    for directory in &exposure.directories {
        command.arg("--ro-bind").arg(directory).arg(directory);
    }
    for (link, target) in &exposure.links {
        command.arg("--symlink").arg(target).arg(link);
    }
    // The linker finds the libraries of the system without the first; links of Debian lead through the second.
    for optional in ["/etc/ld.so.cache", "/etc/alternatives"] {
        command.args(["--perms", "0755", "--dir", "/etc", "--ro-bind-try", optional, optional]);
    }
    for directory in ["/websvc", COMMANDS] {
        command.args(["--perms", "0755", "--dir", directory]);
    }
}

fn settings(
    config: &InterpreterConfig,
    sandbox: &SandboxConfig,
    task: GuestTask,
    user: Option<u32>,
) -> Settings {
    Settings {
        language: config.language,
        program: config.program.clone(),
        library: config.library.clone(),
        is_check: task == GuestTask::Check,
        worker_arguments: sandbox.worker_arguments.clone(),
        user,
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// Returns the user of the next sandbox, if this process is root.
pub(crate) fn next_user_if_root() -> Option<u32> {
    is_root().then(next_user)
}

fn next_user() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);

    let first = std::process::id().wrapping_mul(64);
    FIRST_USER + first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % USERS
}
