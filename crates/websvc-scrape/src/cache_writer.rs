//! Writes to the page cache, and its metrics. When the disk is full, pages are still served but nothing is written for
//! a while, so that the remaining space is left to the rest of the service.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use websvc_stage::Counter;
use websvc_store::StoreError;

/// The time without writes after the disk was full, in milliseconds.
const DISK_FULL_BACKOFF_MS: u64 = 60_000;

/// The metrics of the page cache since the start.
#[derive(Debug, Default)]
pub struct CacheMetrics {
    /// Pages that were stored.
    pub stored: Counter,
    /// Pages that could not be stored.
    pub failed: Counter,
    /// Pages that were skipped because the disk was full a moment before.
    pub skipped: Counter,
    /// Lookups that hit the output cache, which has the requested formats in memory.
    pub hits_in_memory: Counter,
    /// Lookups that hit the page cache.
    pub hits: Counter,
    /// Total size of the bodies of these hits, in bytes.
    pub hit_bytes: Counter,
    /// Lookups that found nothing, or only a stale page.
    pub misses: Counter,
    /// Misses that found a stale page.
    pub stale: Counter,
    /// Stale pages that their host confirmed with 304 Not Modified.
    pub revalidated: Counter,
}

/// The outcome of a cache lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookupOutcome {
    /// The output cache had the requested formats.
    OutputHit,
    /// The page cache had the page as received.
    ResponseHit {
        /// The length of the body.
        bytes: usize,
    },
    /// No cache had a page that may be served.
    Miss,
    /// The page cache had a page that is too old to be served. This is a miss, too.
    Stale,
}

/// The error of a page that was not stored; the reason was logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheWriteError;

/// Stores pages unless the disk is full, and counts stores and lookups.
#[derive(Debug, Default)]
pub(crate) struct CacheWriter {
    /// The end of the time without writes; 0 if the disk was never full.
    paused_until_ms: AtomicU64,
    metrics: CacheMetrics,
}

impl CacheWriter {
    /// Stores a page by `put`, unless the disk was full a moment ago. Returns the time of the fetch if the cache has
    /// the page now.
    pub(crate) fn store(
        &self,
        now_ms: u64,
        put: impl FnOnce() -> Result<Option<u64>, StoreError>,
    ) -> Result<Option<u64>, CacheWriteError> {
        if self.is_full(now_ms) {
            self.metrics.skipped.add(1);
            return Err(CacheWriteError);
        }
        let error = match put() {
            Ok(fetched_at_ms) => {
                self.metrics.stored.add(u64::from(fetched_at_ms.is_some()));
                return Ok(fetched_at_ms);
            }
            Err(error) => error,
        };
        self.metrics.failed.add(1);
        let source = &error as &dyn std::error::Error;
        if matches!(error, StoreError::Full { .. }) {
            self.paused_until_ms.store(now_ms + DISK_FULL_BACKOFF_MS, Relaxed);
            tracing::error!(error = source, "disk is full: pages are served but not cached");
        } else {
            tracing::error!(error = source, "page could not be cached");
        }
        Err(CacheWriteError)
    }

    /// Returns whether the disk is full, so that nothing is stored now.
    pub(crate) fn is_full(&self, now_ms: u64) -> bool {
        now_ms < self.paused_until_ms.load(Relaxed)
    }

    pub(crate) fn metrics(&self) -> &CacheMetrics {
        &self.metrics
    }

    /// Counts a cache lookup.
    pub(crate) fn record_lookup(&self, lookup: LookupOutcome) {
        let metrics = &self.metrics;
        match lookup {
            LookupOutcome::OutputHit => metrics.hits_in_memory.add(1),
            LookupOutcome::ResponseHit { bytes } => {
                metrics.hit_bytes.add(u64::try_from(bytes).unwrap_or(u64::MAX));
                metrics.hits.add(1);
            }
            LookupOutcome::Miss => metrics.misses.add(1),
            LookupOutcome::Stale => {
                metrics.stale.add(1);
                metrics.misses.add(1);
            }
        }
    }

    /// Counts a stale page that its host confirmed with 304 Not Modified.
    pub(crate) fn record_revalidation(&self) {
        self.metrics.revalidated.add(1);
    }
}
