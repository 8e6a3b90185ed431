//! Browser sessions: browsers that clients control with code and over the DevTools protocol.
//!
//! - [`Sessions`] creates sessions, runs code in them and ends them. Each session has a Chromium of its own, a row in the
//!   store, and one task that waits for its end: deletion, `ttl`, inactivity, a crash, or the shutdown of the service.
//! - [`CodeRunner`] is the seam to the programs that run the code of clients; [`Sandbox`] is the one of the service.
//! - [`Sessions::prompt`] lets a language model do a task in a session, with the loop of [`page_agent`].
//!
//! The browser of a session runs in this process only; other processes of the service know the session from its row.

mod active;
mod code;
mod config;
mod error;
mod lifetime;
mod metrics;
mod model;
pub mod page_agent;
mod program;
mod program_run;
mod prompt;
mod prompt_metrics;
mod registry;
mod running;
mod sessions;
mod token;
mod urls;

pub use active::ClientConnection;
pub use code::{
    CdpChannel, ChannelClosed, CodeRunner, DEFAULT_INTERPRETER_MEMORY_BYTES, Interpreter, InterpreterConfig,
    InterpreterError, Language, Outcome, PageTarget, Program, Sandbox, SandboxConfig, WorkerConfig,
};
pub use config::SessionsConfig;
pub use error::SessionError;
pub use metrics::{OpenSessions, SessionMetrics};
pub use model::{Execution, NewSession, SessionBilling, SessionCharge, SessionEnd, SessionView, ViewMode};
pub use prompt::PromptExecution;
pub use prompt_metrics::PromptMetrics;
pub use sessions::Sessions;
pub use urls::SessionUrls;
