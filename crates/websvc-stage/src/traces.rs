//! Metrics of the export of spans.

use crate::counter::Counter;

/// Counters of spans since the start of the process.
#[derive(Debug, Default)]
pub struct TraceMetrics {
    /// Spans that the collector accepted.
    pub exported: Counter,
    /// Spans that did not fit in the queue.
    pub dropped: Counter,
    /// Spans that could not be exported.
    pub failed: Counter,
}
