//! Rejection of a request.

use std::fmt;

use websvc_types::Violation;

/// Reason why a request is rejected.
///
/// ```
/// use websvc_types::SearchRequest;
/// use websvc_validate::{Policy, Rejection, read_request};
///
/// let rejection = read_request::<SearchRequest>(b"{\"query\": }", &Policy::default()).unwrap_err();
/// assert!(matches!(rejection, Rejection::Json { line: 1, .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The body is not JSON: 400 `BAD_REQUEST_INVALID_JSON`.
    #[error("malformed JSON at line {line} column {column}: {message}")]
    Json {
        /// Line of the error, from 1.
        line: usize,
        /// Column of the error, from 1; 0 before the first character of a line.
        column: usize,
        /// Description of the error.
        message: String,
    },
    /// The body breaks rules: 400 `BAD_REQUEST`. All violations are listed, in the order of their paths.
    #[error("{}", ViolationList(.0))]
    Invalid(Vec<Violation>),
    /// The team lacks a permission: 403 `FORBIDDEN`. Takes precedence over violations.
    #[error("{message}")]
    Forbidden {
        /// Message that names the permission.
        message: String,
    },
    /// Running requests use up a limit that the request needs: 429 `RATE_LIMITED`. Violations take precedence.
    #[error("{message}")]
    Exhausted {
        /// Message that names the limit and the remedy.
        message: String,
    },
}

/// Displays violations on one line.
struct ViolationList<'a>(&'a [Violation]);

impl fmt::Display for ViolationList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}", violation.message)?;
        }
        Ok(())
    }
}
