//! Counters of the export of spans.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts spans by what became of them. Cheap to clone; clones count together.
#[derive(Debug, Clone, Default)]
pub struct TraceCounters(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    exported: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

/// Counters of exported and dropped spans since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceMetrics {
    /// Spans that the collector took.
    pub exported: u64,
    /// Spans that found no room in the queue.
    pub dropped: u64,
    /// Spans that the collector did not take.
    pub failed: u64,
}

impl TraceCounters {
    /// Counts spans that the collector took.
    pub fn exported(&self, spans: u64) {
        self.0.exported.fetch_add(spans, Relaxed);
    }

    /// Counts one that found no room in the queue.
    pub fn dropped(&self) {
        self.0.dropped.fetch_add(1, Relaxed);
    }

    /// Counts spans that the collector did not take.
    pub fn failed(&self, spans: u64) {
        self.0.failed.fetch_add(spans, Relaxed);
    }

    /// Returns the sums.
    #[must_use]
    pub fn figures(&self) -> TraceMetrics {
        TraceMetrics {
            exported: self.0.exported.load(Relaxed),
            dropped: self.0.dropped.load(Relaxed),
            failed: self.0.failed.load(Relaxed),
        }
    }
}
