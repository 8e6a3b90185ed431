//! Why an operation failed as a whole.

use websvc_scrape::ScrapeError;
use websvc_types::{ErrorCode, Violation};

fn messages(violations: &[Violation]) -> String {
    violations.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>().join("; ")
}

/// Why an operation failed as a whole. A page that failed is not here: it stays in the results with its error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The search was not done within its time.
    #[error("the search was not done within its time of {timeout_ms} ms")]
    Timeout {
        /// The time the request had.
        timeout_ms: u64,
    },
    /// No source could answer.
    #[error("no search source could answer: {}", reasons.join("; "))]
    NoSource {
        /// One reason per source, each naming it.
        reasons: Vec<String>,
    },
    /// The request asks for something that this installation cannot do and that may not be left out.
    #[error("{}", messages(violations))]
    NotSupported {
        /// The code of the answer.
        code: ErrorCode,
        /// One entry per thing that is missing.
        violations: Vec<Violation>,
    },
    /// The one page that was asked for could not be had.
    #[error("{0}")]
    Page(#[source] ScrapeError),
    /// Only the cache was to be asked, and it could serve none of the results.
    #[error("{message}")]
    CacheMiss {
        /// The 404 code of `minAge` or lockdown.
        code: ErrorCode,
        /// The text of the pages' own error.
        message: String,
    },
}
