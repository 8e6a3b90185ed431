//! Whether pages are kept in the cache: when the disk is full they are served all the same, and nothing is written for
//! a while, so that what is left of the disk is left to others.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use websvc_store::StoreError;

/// How long nothing is stored after the disk was full, in milliseconds.
const PAUSE_MS: u64 = 60_000;

/// What became of the pages that were to be kept, since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMetrics {
    /// Pages that were stored.
    pub stored: u64,
    /// Pages that could not be stored.
    pub failed: u64,
    /// Pages that nobody tried to store, because the disk was full a moment before.
    pub passed_over: u64,
    /// The disk is full: nothing is stored now.
    pub is_full: bool,
    /// Pages that were asked for and were in memory, in the formats that were asked for.
    pub hits_in_memory: u64,
    /// Pages that were asked for and were in the cache as received.
    pub hits: u64,
    /// Bytes of these as received.
    pub hit_bytes: u64,
    /// Pages that were asked for and were not in the cache, or were too old.
    pub misses: u64,
}

/// What became of a question to the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookupOutcome {
    /// It had the page in memory, in the formats that are asked for.
    OutputHit,
    /// It had the page as received.
    ResponseHit {
        /// Its length.
        bytes: usize,
    },
    /// It had no page that may answer.
    Miss,
}

/// A page was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheWriteError;

/// Counts, and remembers that the disk is full.
#[derive(Debug, Default)]
pub(crate) struct CacheWriter {
    paused_until_ms: AtomicU64,
    stored: AtomicU64,
    failed: AtomicU64,
    passed_over: AtomicU64,
    hits_in_memory: AtomicU64,
    hits: AtomicU64,
    hit_bytes: AtomicU64,
    misses: AtomicU64,
}

impl CacheWriter {
    /// Stores a page by `put`, unless the disk was full a moment ago. Returns when the page was fetched, if the cache has
    /// it now.
    pub(crate) fn store(
        &self,
        now_ms: u64,
        put: impl FnOnce() -> Result<Option<u64>, StoreError>,
    ) -> Result<Option<u64>, CacheWriteError> {
        if now_ms < self.paused_until_ms.load(Relaxed) {
            self.passed_over.fetch_add(1, Relaxed);
            return Err(CacheWriteError);
        }
        let error = match put() {
            Ok(kept) => {
                self.stored.fetch_add(u64::from(kept.is_some()), Relaxed);
                return Ok(kept);
            }
            Err(error) => error,
        };
        self.failed.fetch_add(1, Relaxed);
        let error_value = &error as &dyn std::error::Error;
        if matches!(error, StoreError::Full { .. }) {
            self.paused_until_ms.store(now_ms + PAUSE_MS, Relaxed);
            tracing::error!(error = error_value, "the disk is full: pages are served and not cached");
        } else {
            tracing::error!(error = error_value, "a page did not reach the cache");
        }
        Err(CacheWriteError)
    }

    pub(crate) fn report(&self, now_ms: u64) -> CacheMetrics {
        CacheMetrics {
            stored: self.stored.load(Relaxed),
            failed: self.failed.load(Relaxed),
            passed_over: self.passed_over.load(Relaxed),
            is_full: now_ms < self.paused_until_ms.load(Relaxed),
            hits_in_memory: self.hits_in_memory.load(Relaxed),
            hits: self.hits.load(Relaxed),
            hit_bytes: self.hit_bytes.load(Relaxed),
            misses: self.misses.load(Relaxed),
        }
    }

    /// Counts a question to the cache.
    pub(crate) fn record_lookup(&self, lookup: LookupOutcome) {
        match lookup {
            LookupOutcome::OutputHit => self.hits_in_memory.fetch_add(1, Relaxed),
            LookupOutcome::ResponseHit { bytes } => {
                self.hit_bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Relaxed);
                self.hits.fetch_add(1, Relaxed)
            }
            LookupOutcome::Miss => self.misses.fetch_add(1, Relaxed),
        };
    }
}
