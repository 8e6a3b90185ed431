//! The queue between those who make spans and the one that sends them.

use std::time::Duration;

use websvc_stage::TraceCounters;

use crate::exporter::Exporter;
use crate::layer::SpanLayer;
use crate::sampler::Sampler;

/// The bounds of what is kept until it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchConfig {
    /// Spans that wait at most; at least 1.
    pub queue: usize,
    /// Spans that are sent at once at most; at least 1.
    pub batch: usize,
    /// How long a span waits for others at most.
    pub delay: Duration,
}

impl Default for BatchConfig {
    fn default() -> Self {
        Self { queue: 2048, batch: 512, delay: Duration::from_secs(5) }
    }
}

/// Makes the two ends of a queue of spans. Spans that find no room are counted in `counters`.
#[must_use]
pub fn traces(sampler: Sampler, batching: BatchConfig, counters: TraceCounters) -> (SpanLayer, Exporter) {
    let (sender, receiver) = tokio::sync::mpsc::channel(batching.queue.max(1));
    (SpanLayer::new(sampler, sender, counters.clone()), Exporter::new(receiver, batching, counters))
}
