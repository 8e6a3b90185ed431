//! Writes to the page cache, and its metrics. When the disk is full, pages are still served but nothing is written for
//! a while, so that the remaining space is left to the rest of the service.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use websvc_store::StoreError;

/// The time without writes after the disk was full, in milliseconds.
const DISK_FULL_BACKOFF_MS: u64 = 60_000;

/// The metrics of the page cache since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMetrics {
    /// Pages that were stored.
    pub stored: u64,
    /// Pages that could not be stored.
    pub failed: u64,
    /// Pages that were skipped because the disk was full a moment before.
    pub skipped: u64,
    /// True if the disk is full: nothing is stored now.
    pub is_full: bool,
    /// Lookups that hit the output cache, which has the requested formats in memory.
    pub hits_in_memory: u64,
    /// Lookups that hit the page cache.
    pub hits: u64,
    /// Total size of the bodies of these hits, in bytes.
    pub hit_bytes: u64,
    /// Lookups that found nothing, or only a stale page.
    pub misses: u64,
    /// Misses that found a stale page.
    pub stale: u64,
    /// Stale pages that their host confirmed with 304 Not Modified.
    pub revalidated: u64,
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
    stored: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
    hits_in_memory: AtomicU64,
    hits: AtomicU64,
    hit_bytes: AtomicU64,
    misses: AtomicU64,
    stale: AtomicU64,
    revalidated: AtomicU64,
}

impl CacheWriter {
    /// Stores a page by `put`, unless the disk was full a moment ago. Returns the time of the fetch if the cache has
    /// the page now.
    pub(crate) fn store(
        &self,
        now_ms: u64,
        put: impl FnOnce() -> Result<Option<u64>, StoreError>,
    ) -> Result<Option<u64>, CacheWriteError> {
        if now_ms < self.paused_until_ms.load(Relaxed) {
            self.skipped.fetch_add(1, Relaxed);
            return Err(CacheWriteError);
        }
        let error = match put() {
            Ok(fetched_at_ms) => {
                self.stored.fetch_add(u64::from(fetched_at_ms.is_some()), Relaxed);
                return Ok(fetched_at_ms);
            }
            Err(error) => error,
        };
        self.failed.fetch_add(1, Relaxed);
        let source = &error as &dyn std::error::Error;
        if matches!(error, StoreError::Full { .. }) {
            self.paused_until_ms.store(now_ms + DISK_FULL_BACKOFF_MS, Relaxed);
            tracing::error!(error = source, "disk is full: pages are served but not cached");
        } else {
            tracing::error!(error = source, "page could not be cached");
        }
        Err(CacheWriteError)
    }

    pub(crate) fn metrics(&self, now_ms: u64) -> CacheMetrics {
        CacheMetrics {
            stored: self.stored.load(Relaxed),
            failed: self.failed.load(Relaxed),
            skipped: self.skipped.load(Relaxed),
            is_full: now_ms < self.paused_until_ms.load(Relaxed),
            hits_in_memory: self.hits_in_memory.load(Relaxed),
            hits: self.hits.load(Relaxed),
            hit_bytes: self.hit_bytes.load(Relaxed),
            misses: self.misses.load(Relaxed),
            stale: self.stale.load(Relaxed),
            revalidated: self.revalidated.load(Relaxed),
        }
    }

    /// Counts a cache lookup.
    pub(crate) fn record_lookup(&self, lookup: LookupOutcome) {
        match lookup {
            LookupOutcome::OutputHit => self.hits_in_memory.fetch_add(1, Relaxed),
            LookupOutcome::ResponseHit { bytes } => {
                self.hit_bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Relaxed);
                self.hits.fetch_add(1, Relaxed)
            }
            LookupOutcome::Miss => self.misses.fetch_add(1, Relaxed),
            LookupOutcome::Stale => {
                self.stale.fetch_add(1, Relaxed);
                self.misses.fetch_add(1, Relaxed)
            }
        };
    }

    /// Counts a stale page that its host confirmed with 304 Not Modified.
    pub(crate) fn record_revalidation(&self) {
        self.revalidated.fetch_add(1, Relaxed);
    }
}
