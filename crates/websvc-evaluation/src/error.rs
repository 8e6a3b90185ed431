//! Errors of an evaluation.

use std::path::PathBuf;

use thiserror::Error;

/// The reason why an evaluation cannot run. A task that fails is not an error.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// The program cannot be started.
    #[error("{program} cannot be started")]
    Program {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The service does not start, or a command of the program fails.
    #[error("{action} failed: {output}")]
    Command {
        /// The command.
        action: String,
        /// The end of its output.
        output: String,
    },
    /// A request to the service fails.
    #[error("{request}: {reason}")]
    Request {
        /// The method and path.
        request: String,
        /// The status and body, or the error of the connection.
        reason: String,
    },
    /// No task has this text in its class or name.
    #[error("no task has \"{0}\" in its name")]
    NoTasks(String),
}
