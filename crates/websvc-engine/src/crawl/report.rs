//! The progress events and the final report of a crawl.

use std::collections::BTreeMap;
use std::time::Duration;

use url::Url;

/// A progress event of a crawl.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CrawlEvent {
    /// A page was added to the index.
    Page {
        /// Its URL after redirects.
        url: Url,
    },
    /// A page could not be fetched.
    Failed {
        /// Its URL.
        url: Url,
        /// The reason.
        reason: String,
    },
    /// A page was skipped on purpose.
    Skipped {
        /// Its URL.
        url: Url,
        /// The reason.
        reason: &'static str,
    },
    /// The queue has changed.
    Queued {
        /// The number of queued pages and listings.
        count: usize,
    },
}

/// The result of a crawl.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct CrawlReport {
    /// Pages that were added to the index.
    pub pages: usize,
    /// Those of `pages` that have not changed since they were last fetched, according to their hosts.
    pub unchanged: usize,
    /// Pages that could not be fetched.
    pub errors: usize,
    /// Pages that were skipped on purpose: robots.txt, `noindex`, no text, duplicates, traps.
    pub skipped: usize,
    /// The number of skipped pages by reason.
    pub skipped_because: BTreeMap<&'static str, usize>,
    /// Pages that were still queued when the crawl ended.
    pub waiting: usize,
    /// Images whose sizes were read from their files.
    pub image_sizes: usize,
    /// The duration in milliseconds.
    pub elapsed_ms: u64,
    /// The crawl was stopped before it was done.
    pub interrupted: bool,
}

impl CrawlReport {
    pub(super) fn finish(mut self, elapsed: Duration, interrupted: bool) -> Self {
        self.elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.interrupted = interrupted;
        self
    }
}
