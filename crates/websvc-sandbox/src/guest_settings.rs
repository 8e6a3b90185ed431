//! The agreement between the service and a guest: what the sandbox has, and the settings of the guest.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::program::Language;

/// The path of this program in the sandbox.
pub(crate) const GUEST_PROGRAM: &str = "/websvc/program";
/// The directory of `agent-browser` in the sandbox.
pub(crate) const COMMANDS: &str = "/websvc/bin";
/// The name of the command that drives the page from a shell.
pub(crate) const AGENT_BROWSER: &str = "agent-browser";
/// The working directory of programs, which they may write to.
pub(crate) const HOME: &str = "/home";
/// The directory of temporary files.
pub(crate) const TEMPORARY_FILES: &str = "/tmp";
/// The maximum size of the files in each directory that programs may write to, and of each file.
pub(crate) const MAX_MEMORY_FILES_BYTES: u64 = 64 * 1024 * 1024;

/// The directory of the output of a tool.
pub(crate) const TOOL_OUTPUT: &str = "/output";
/// The socket of the SOCKS proxy of a tool.
pub(crate) const PROXY_SOCKET: &str = "/websvc/proxy";

/// Returns the path of the command `agent-browser` in the sandbox.
pub(crate) fn agent_browser_link() -> PathBuf {
    PathBuf::from(COMMANDS).join(AGENT_BROWSER)
}

/// The settings of a guest, its last argument, as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum GuestSettings {
    /// It runs programs of clients with an interpreter.
    Interpreter(Settings),
    /// It runs a program of the operator.
    Tool(ToolSettings),
}

/// The settings of a guest that runs a program of the operator.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolSettings {
    pub(crate) program: PathBuf,
    /// There is a socket of a proxy.
    pub(crate) has_proxy: bool,
    pub(crate) max_file_bytes: u64,
    /// The user that the guest changes to, if it starts as root.
    pub(crate) user: Option<u32>,
}

/// The settings of a guest that runs programs of clients.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    pub(crate) language: Language,
    pub(crate) program: PathBuf,
    pub(crate) library: Option<PathBuf>,
    pub(crate) is_check: bool,
    pub(crate) worker_arguments: Vec<String>,
    /// The user that the guest changes to, if it starts as root.
    pub(crate) user: Option<u32>,
}
