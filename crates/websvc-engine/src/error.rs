//! Errors of operations and of external sources.

use std::time::Duration;

use websvc_scrape::ScrapeError;
use websvc_types::{ErrorCode, Violation};
use websvc_validate::SearchPlan;

use crate::bill::{Bill, ChargeKind};

fn messages(violations: &[Violation]) -> String {
    violations.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>().join("; ")
}

/// The error of an operation that failed as a whole. The error of a single page is part of its result instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The search exceeded its timeout.
    #[error("the search did not finish within its timeout of {timeout_ms} ms")]
    Timeout {
        /// The timeout.
        timeout_ms: u64,
        /// The charges that apply nevertheless: URL scans that were made.
        bill: Bill,
    },
    /// The map exceeded its timeout and found nothing.
    #[error("the map did not finish within its timeout of {timeout_ms} ms")]
    MapTimeout {
        /// The timeout.
        timeout_ms: u64,
    },
    /// Nothing of the site could be fetched.
    #[error("the site could not be mapped: {0}")]
    MapFailed(#[source] ScrapeError),
    /// All sources failed.
    #[error("no search source is available: {}", reasons.join("; "))]
    NoSource {
        /// The reason of each source, with its name.
        reasons: Vec<String>,
    },
    /// The request requires something that this installation does not support.
    #[error("{}", messages(violations))]
    NotSupported {
        /// The error code of the response.
        code: ErrorCode,
        /// One entry per unsupported option.
        violations: Vec<Violation>,
    },
    /// The requested page could not be scraped.
    #[error("{0}")]
    Page(#[source] ScrapeError),
    /// The browser profile could not be opened.
    #[error("{0}")]
    Profile(#[source] ScrapeError),
    /// The request allows only cached pages, and none of the results is cached.
    #[error("{message}")]
    CacheMiss {
        /// The 404 code of `minAge` or lockdown.
        code: ErrorCode,
        /// The error text of the pages.
        message: String,
        /// The charges that apply nevertheless.
        bill: Bill,
    },
}

impl EngineError {
    /// Creates the error for a search that exceeded its timeout.
    #[must_use]
    pub fn late(plan: &SearchPlan) -> Self {
        let timeout_ms = u64::try_from(plan.timeout.as_millis()).unwrap_or(u64::MAX);
        Self::Timeout { timeout_ms, bill: Bill::default() }
    }

    /// Adds the charge for the URLs that were scanned before the error.
    pub(crate) fn with_scans(mut self, scanned: u64, price: u64) -> Self {
        if let Self::CacheMiss { bill, .. } | Self::Timeout { bill, .. } = &mut self {
            bill.add_line(ChargeKind::ThreatScan, scanned, price);
        }
        self
    }

    /// Takes the charges of a failed operation: lockdown misses and URL scans.
    #[must_use]
    pub fn take_bill(&mut self) -> Bill {
        match self {
            Self::CacheMiss { bill, .. } | Self::Timeout { bill, .. } => std::mem::take(bill),
            Self::MapTimeout { .. }
            | Self::MapFailed(_)
            | Self::NoSource { .. }
            | Self::NotSupported { .. }
            | Self::Profile(_)
            | Self::Page(_) => Bill::default(),
        }
    }
}

/// The error of a request to an external source. The texts are shown to callers, so they contain no address and no
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SourceError {
    /// The circuit breaker of the source is open.
    #[error("paused after failures, next attempt in {} s; last failure: {reason}", retry_after.as_secs() + 1)]
    Paused {
        /// The time until the next attempt.
        retry_after: Duration,
        /// The failure that opened the breaker.
        reason: String,
    },
    /// The configured rate limit of the source is exhausted.
    #[error("the configured rate limit is exhausted, next request in {} ms", wait.as_millis())]
    Busy {
        /// The time until a request is allowed.
        wait: Duration,
    },
    /// The source did not respond in time.
    #[error("no response within {} ms", after.as_millis())]
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// The connection failed or broke.
    #[error("{text}")]
    Unreachable {
        /// The error of the HTTP client.
        text: String,
    },
    /// The source rejected the request because of its rate limit.
    #[error("rate limited by the source (429){}", next_attempt(*retry_after))]
    Limited {
        /// The value of `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// JSON is not enabled on a SearXNG instance.
    #[error("JSON is not enabled (403): add `json` to `search.formats` in its settings.yml")]
    JsonDisabled,
    /// The status is neither success nor one of the above.
    #[error("responded with status {status}{}", detail(message))]
    Status {
        /// The status.
        status: u16,
        /// The explanation; may be empty.
        message: String,
    },
    /// The source redirects. Redirects are not followed, because headers with secrets must not reach another host.
    #[error("redirects (status {status}): configure the redirect target as its address")]
    Redirect {
        /// The status.
        status: u16,
    },
    /// The content type is not JSON.
    #[error("responded with {content_type:?} instead of JSON")]
    NotJson {
        /// The content type of the response.
        content_type: String,
    },
    /// The body is not valid JSON, or has an unexpected structure.
    #[error("its response cannot be read: {what}")]
    Unreadable {
        /// The problem.
        what: String,
    },
}

fn next_attempt(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!(", next attempt in {} s", wait.as_secs()))
}

fn detail(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
