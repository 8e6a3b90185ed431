//! Why a model gave no answer.

use std::time::Duration;

/// Why a model gave no answer. No message holds the key, the address, or anything of the question and the answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There is no model for this.
    #[error("no model is configured for it")]
    Missing,
    /// No connection, or one that broke.
    #[error("it cannot be reached: {what}")]
    Unreachable {
        /// Operation that failed.
        what: &'static str,
    },
    /// No answer in time, the wait for its turn included.
    #[error("it did not answer within {} ms", after.as_millis())]
    Late {
        /// The time it had.
        after: Duration,
    },
    /// Another status than success, still after what could be tried.
    #[error("it answered with status {status}")]
    Refused {
        /// The status.
        status: u16,
    },
    /// More than is sent or read.
    #[error("{what} is too large")]
    TooLarge {
        /// The question or the answer.
        what: &'static str,
    },
    /// An answer that is none.
    #[error("its answer cannot be used: {what}")]
    BadAnswer {
        /// Reason why the response is invalid.
        what: &'static str,
    },
}
