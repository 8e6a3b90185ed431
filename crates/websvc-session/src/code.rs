//! The seam to the programs that run the code of clients, and the sandbox, which is the one of the service.

use std::fmt;

use websvc_sandbox::{MAX_OUTPUT_BYTES, PROCESSOR_SECONDS};
use websvc_transport::BoxFuture;
use websvc_types::interact::InteractLanguage;
use websvc_types::limits::{INTERACT_OUTPUT_MAX_BYTES, INTERACT_TIMEOUT_MAX_S};

pub use websvc_sandbox::{
    CdpChannel, ChannelClosed, DEFAULT_INTERPRETER_MEMORY_BYTES, Interpreter, InterpreterConfig,
    InterpreterError, Language, Outcome, PageTarget, Program, SandboxConfig, WorkerConfig,
};

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

    /// Runs lines of `agent-browser` commands that no client wrote, such as those of a language model. They never run in
    /// a shell, even if code in [`Language::Bash`] does.
    fn run_commands(
        &self,
        program: Program,
        page: PageTarget,
        channel: Box<dyn CdpChannel>,
    ) -> BoxFuture<'_, Outcome> {
        self.run(program, page, channel)
    }
}

/// The sandboxes of the service: the interpreters of the operator run code in bubblewrap, and worker processes with an
/// embedded engine run the other languages. Both are without files, network and environment of the service.
#[derive(Debug)]
pub struct Sandbox {
    worker: WorkerConfig,
    interpreters: Vec<Interpreter>,
}

impl Sandbox {
    /// Creates a sandbox, which starts its workers with this configuration. Each interpreter runs all code of its
    /// language.
    #[must_use]
    pub fn new(worker: WorkerConfig, interpreters: Vec<Interpreter>) -> Self {
        Self { worker, interpreters }
    }

    fn interpreter(&self, language: Language) -> Option<&Interpreter> {
        self.interpreters.iter().find(|interpreter| interpreter.language() == language)
    }
}

impl CodeRunner for Sandbox {
    fn language(&self, language: InteractLanguage) -> Result<Language, &'static str> {
        match language {
            InteractLanguage::Node => Ok(Language::Node),
            InteractLanguage::Bash => Ok(Language::Bash),
            InteractLanguage::Python if self.interpreter(Language::Python).is_some() => Ok(Language::Python),
            InteractLanguage::Python => Err(
                "the operator has configured no interpreter for it (interact.interpreters.python); use node, which is \
                 JavaScript with the Playwright API, or bash, which is agent-browser commands",
            ),
        }
    }

    fn run(
        &self,
        program: Program,
        page: PageTarget,
        channel: Box<dyn CdpChannel>,
    ) -> BoxFuture<'_, Outcome> {
        match self.interpreter(program.language) {
            Some(interpreter) => Box::pin(interpreter.run(program, page, channel)),
            None => Box::pin(websvc_sandbox::run(program, page, channel, &self.worker)),
        }
    }

    fn run_commands(
        &self,
        program: Program,
        page: PageTarget,
        channel: Box<dyn CdpChannel>,
    ) -> BoxFuture<'_, Outcome> {
        Box::pin(websvc_sandbox::run(program, page, channel, &self.worker))
    }
}
