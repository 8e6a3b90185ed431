//! The verdict of a scanner.

use std::time::Duration;

/// The verdict of a scanner about a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The risk, 0 to 100.
    pub score: u8,
    /// The maximum time for which the verdict may be cached, if the scanner limits it.
    pub ttl: Option<Duration>,
}
