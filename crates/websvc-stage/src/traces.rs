//! Counters of the export of spans.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of exported, dropped and failed spans. Cheap to clone; clones share their counts.
#[derive(Debug, Clone, Default)]
pub struct TraceCounters(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    exported: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

/// Numbers of exported, dropped and failed spans since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceMetrics {
    /// Spans that the collector accepted.
    pub exported: u64,
    /// Spans that did not fit in the queue.
    pub dropped: u64,
    /// Spans that could not be exported.
    pub failed: u64,
}

impl TraceCounters {
    /// Counts spans that the collector accepted.
    pub fn record_exported(&self, spans: u64) {
        self.0.exported.fetch_add(spans, Relaxed);
    }

    /// Counts a span that did not fit in the queue.
    pub fn record_dropped(&self) {
        self.0.dropped.fetch_add(1, Relaxed);
    }

    /// Counts spans that could not be exported.
    pub fn record_failed(&self, spans: u64) {
        self.0.failed.fetch_add(spans, Relaxed);
    }

    /// Returns a snapshot of the counters.
    #[must_use]
    pub fn metrics(&self) -> TraceMetrics {
        TraceMetrics {
            exported: self.0.exported.load(Relaxed),
            dropped: self.0.dropped.load(Relaxed),
            failed: self.0.failed.load(Relaxed),
        }
    }
}
