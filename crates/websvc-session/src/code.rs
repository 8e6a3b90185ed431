//! The seam to the programs that run the code of clients.

use std::fmt;
use std::time::Duration;

use websvc_browser::PageTarget;
use websvc_transport::BoxFuture;
use websvc_types::interact::InteractLanguage;

pub use websvc_browser::ChannelClosed;

/// A language of code.
pub type Language = InteractLanguage;

/// Code to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The language of the code.
    pub language: Language,
    /// The code.
    pub code: String,
    /// The maximum duration of the run.
    pub timeout: Duration,
}

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The text that the code has printed.
    pub stdout: String,
    /// The text that the code has printed as errors.
    pub stderr: String,
    /// The value of the last expression as text; `None` if it is undefined.
    pub result: Option<String>,
    /// 0 for success, 124 if the time limit was reached.
    pub exit_code: i32,
    /// True if the time limit stopped the code.
    pub killed: bool,
    /// The reason of the failure, if the code failed.
    pub error: Option<String>,
}

/// A channel of messages of the DevTools protocol (JSON text) of one session, already filtered by the allow list of the
/// session. Messages for a target carry `sessionId`.
pub trait CdpChannel: Send {
    /// Sends a message.
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>>;

    /// Receives a message; `None` if the channel has ended.
    fn receive(&mut self) -> BoxFuture<'_, Option<String>>;
}

/// A program that runs the code of clients.
pub trait CodeRunner: fmt::Debug + Send + Sync {
    /// Returns the reason why a language is not available; `None` if it is.
    fn unavailable(&self, language: Language) -> Option<String>;

    /// Runs code with the current page of a session. It returns soon after the time limit of the program.
    fn run(&self, program: Program, page: PageTarget, channel: Box<dyn CdpChannel>)
    -> BoxFuture<'_, Outcome>;
}
