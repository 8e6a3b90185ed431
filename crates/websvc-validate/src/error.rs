//! Why a request is not carried out.

use std::fmt;

use websvc_types::Violation;

/// The reason why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The body is not JSON: 400 `BAD_REQUEST_INVALID_JSON`.
    #[error("malformed JSON at line {line} column {column}: {message}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1; 0 before the first character of a line.
        column: usize,
        /// Description of the violation.
        message: String,
    },
    /// The body breaks rules: 400 `BAD_REQUEST`. All of them are listed, in the order of their paths.
    #[error("{}", ViolationList(.0))]
    Invalid(Vec<Violation>),
    /// The team may not use what the request asks for: 403 `FORBIDDEN`. Told before violations are.
    #[error("{message}")]
    Forbidden {
        /// Permission that the team lacks.
        message: String,
    },
    /// There is no room for what the request needs while others run: 429 `RATE_LIMITED`. Told after violations are.
    #[error("{message}")]
    Exhausted {
        /// Limit that is exceeded, and the remedy.
        message: String,
    },
}

/// Violations as one line.
struct ViolationList<'a>(&'a [Violation]);

impl fmt::Display for ViolationList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, violation) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { "; " };
            write!(f, "{separator}{}", violation.message)?;
        }
        Ok(())
    }
}
