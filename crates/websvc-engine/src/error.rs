//! Why an operation failed as a whole.

use std::time::Duration;

use websvc_scrape::ScrapeError;
use websvc_types::{ErrorCode, Violation};
use websvc_validate::SearchPlan;

use crate::bill::{Bill, ChargeKind};

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
        /// What it costs all the same: the scans that were done.
        bill: Bill,
    },
    /// Nothing of a site was found within the time of its map.
    #[error("the map was not done within its time of {timeout_ms} ms")]
    MapTimeout {
        /// The time the request had.
        timeout_ms: u64,
    },
    /// Nothing of a site could be had.
    #[error("the site could not be mapped: {0}")]
    MapFailed(#[source] ScrapeError),
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
    /// The profile that the pages were to be drawn with could not be had.
    #[error("{0}")]
    Profile(#[source] ScrapeError),
    /// Only the cache was to be asked, and it could serve none of the results.
    #[error("{message}")]
    CacheMiss {
        /// The 404 code of `minAge` or lockdown.
        code: ErrorCode,
        /// The text of the pages' own error.
        message: String,
        /// What it costs all the same.
        bill: Bill,
    },
}

impl EngineError {
    /// Says that a search was not done within its time.
    #[must_use]
    pub fn late(plan: &SearchPlan) -> Self {
        let timeout_ms = u64::try_from(plan.timeout().as_millis()).unwrap_or(u64::MAX);
        Self::Timeout { timeout_ms, bill: Bill::default() }
    }

    /// Adds the URLs that were scanned before it to what is to be paid.
    pub(crate) fn with_scans(mut self, scanned: u64, price: u64) -> Self {
        if let Self::CacheMiss { bill, .. } | Self::Timeout { bill, .. } = &mut self {
            bill.add_line(ChargeKind::ThreatScan, scanned, price);
        }
        self
    }

    /// Takes what is to be paid although there is no answer: the misses of lockdown, and what was scanned before; else
    /// nothing.
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

/// Why a source elsewhere gave no answer to one request. The texts are for callers: they name no address and no
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SourceError {
    /// It failed too often and is left alone.
    #[error("it is paused after failures, the next attempt is in {} s; the last failure: {reason}", retry_after.as_secs() + 1)]
    Paused {
        /// Until the next attempt.
        retry_after: Duration,
        /// The failure that led to the pause.
        reason: String,
    },
    /// More questions than its configured rate.
    #[error("more questions than its configured rate allows; there is room in {} ms", wait.as_millis())]
    Busy {
        /// Until there is room.
        wait: Duration,
    },
    /// No answer in time.
    #[error("it did not answer within {} ms", after.as_millis())]
    Timeout {
        /// The time it had.
        after: Duration,
    },
    /// No connection, or one that broke.
    #[error("{text}")]
    Unreachable {
        /// What the client says.
        text: String,
    },
    /// It limits its callers.
    #[error("its limiter refuses requests (429){}", come_back(*retry_after))]
    Limited {
        /// What it says in `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// JSON is not enabled on an instance of SearXNG.
    #[error("it refuses JSON (403): add `json` to `search.formats` in its settings.yml")]
    JsonDisabled,
    /// Another status than success.
    #[error("it answered with status {status}{}", detail(message))]
    Status {
        /// The status.
        status: u16,
        /// What it says about it; may be empty.
        message: String,
    },
    /// It sends elsewhere, and headers with secrets do not go elsewhere by themselves.
    #[error("it redirects (status {status}): configure the address that it redirects to")]
    Redirect {
        /// The status.
        status: u16,
    },
    /// Not JSON by its type.
    #[error("it answered with {content_type:?} in place of JSON")]
    NotJson {
        /// The type of the answer.
        content_type: String,
    },
    /// JSON by its type only, or of another shape.
    #[error("its answer cannot be read: {what}")]
    Unreadable {
        /// What is wrong with it.
        what: String,
    },
}

fn come_back(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!(", the next attempt is in {} s", wait.as_secs()))
}

fn detail(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
