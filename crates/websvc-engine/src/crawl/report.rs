//! What a crawl tells while it runs and when it ends.

use std::collections::BTreeMap;
use std::time::Duration;

use url::Url;

/// Something that happened in a crawl.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CrawlEvent {
    /// A page went to the index.
    Page {
        /// Its URL after redirects.
        url: Url,
    },
    /// A page could not be got.
    Failed {
        /// Its URL.
        url: Url,
        /// Why.
        reason: String,
    },
    /// A page was left out on purpose.
    Skipped {
        /// Its URL.
        url: Url,
        /// Why.
        reason: &'static str,
    },
    /// More pages are known than before.
    Queued {
        /// How many wait.
        waiting: usize,
    },
}

/// What a crawl came to.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct CrawlReport {
    /// Pages that went to the index.
    pub pages: usize,
    /// Those of them that their hosts said are as they were when they were last fetched.
    pub unchanged: usize,
    /// Pages that could not be got.
    pub errors: usize,
    /// Pages left out on purpose: robots.txt, `noindex`, no text, duplicates, traps.
    pub skipped: usize,
    /// How many were left out for which reason, in words.
    pub skipped_because: BTreeMap<&'static str, usize>,
    /// Pages that were known and not asked for when the crawl ended.
    pub waiting: usize,
    /// Images whose sizes were learned from their files.
    pub image_sizes: usize,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// It was told to stop before it was done.
    pub interrupted: bool,
}

impl CrawlReport {
    pub(super) fn finish(mut self, elapsed: Duration, interrupted: bool) -> Self {
        self.elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.interrupted = interrupted;
        self
    }
}
