//! The seam to the programs that run the code of clients, and the sandbox, which is the one of the service.

use std::fmt;

use websvc_sandbox::{MAX_OUTPUT_BYTES, PROCESSOR_SECONDS};
use websvc_transport::BoxFuture;
use websvc_types::interact::InteractLanguage;
use websvc_types::limits::{INTERACT_OUTPUT_MAX_BYTES, INTERACT_TIMEOUT_MAX_S};

pub use websvc_sandbox::{CdpChannel, ChannelClosed, Language, Outcome, PageTarget, Program, WorkerConfig};

// The sandbox has the limits of the API.
const _: () = assert!(MAX_OUTPUT_BYTES == INTERACT_OUTPUT_MAX_BYTES);
const _: () = assert!(PROCESSOR_SECONDS > INTERACT_TIMEOUT_MAX_S);

/// A program that runs the code of clients.
pub trait CodeRunner: fmt::Debug + Send + Sync {
    /// Returns a language of a request as one of programs.
    ///
    /// # Errors
    /// The reason why it is not available.
    fn language(&self, language: InteractLanguage) -> Result<Language, &'static str>;

    /// Runs code with the current page of a session. It returns soon after the time limit of the program.
    fn run(&self, program: Program, page: PageTarget, channel: Box<dyn CdpChannel>)
    -> BoxFuture<'_, Outcome>;
}

/// The sandbox: runs code in worker processes without files, network and environment.
#[derive(Debug)]
pub struct Sandbox(WorkerConfig);

impl Sandbox {
    /// Creates a sandbox, which starts its workers with this configuration.
    #[must_use]
    pub fn new(worker: WorkerConfig) -> Self {
        Self(worker)
    }
}

impl CodeRunner for Sandbox {
    fn language(&self, language: InteractLanguage) -> Result<Language, &'static str> {
        match language {
            InteractLanguage::Node => Ok(Language::Node),
            InteractLanguage::Bash => Ok(Language::Bash),
            InteractLanguage::Python => Err(
                "this version runs JavaScript with the Playwright API (node) and agent-browser commands (bash)",
            ),
        }
    }

    fn run(
        &self,
        program: Program,
        page: PageTarget,
        channel: Box<dyn CdpChannel>,
    ) -> BoxFuture<'_, Outcome> {
        Box::pin(websvc_sandbox::run(program, page, channel, &self.0))
    }
}
