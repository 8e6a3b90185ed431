//! Runs the program of a client against a browser page.
//!
//! A program is JavaScript with the Playwright API, or lines of `agent-browser` commands. It runs in an embedded engine
//! (QuickJS) inside a worker process without files, network and environment. All it can do is send messages of the
//! DevTools protocol over its pipes. [`run`] starts the worker, passes the messages on, and kills it at the deadline.
//!
//! An [`Interpreter`] runs programs instead if the operator has configured one: real Python, Node or a shell, in a sandbox of
//! bubblewrap.
//!
//! A [`Tool`] is a program of the operator in the same sandbox, which reaches the network through a socket of the service.
//!
//! The Playwright API is a library in `src/library`, which the worker loads before the program. The files in
//! `src/library/page` run in the pages.

mod channel;
mod frame;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod guest;
mod guest_settings;
mod interpreter;
mod methods;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod no_guest;
mod output;
mod process;
mod program;
mod run;
mod tool;
mod worker;

pub use channel::{BoxFuture, CdpChannel, ChannelClosed};
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use guest::{agent_browser, run_guest};
pub use interpreter::{
    DEFAULT_INTERPRETER_MEMORY_BYTES, Interpreter, InterpreterConfig, InterpreterError, SandboxConfig,
};
pub use methods::METHODS;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub use no_guest::{agent_browser, run_guest};
pub use program::{
    Language, MAX_OUTPUT_BYTES, Outcome, PROCESSOR_SECONDS, PageTarget, Program, TIMEOUT_EXIT_CODE,
    WorkerConfig,
};
pub use run::run;
pub use tool::{TOOL_OUTPUT_DIRECTORY, TOOL_PROXY_PORT, Tool, ToolRun, remove_output};
pub use worker::run_worker;
