//! The queue between the layer that records spans and the exporter that sends them.

use std::sync::Arc;
use std::time::Duration;

use websvc_stage::TraceMetrics;

use crate::otlp::exporter::Exporter;
use crate::otlp::layer::SpanLayer;
use crate::otlp::sampler::Sampler;

/// Limits of the queue and of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchConfig {
    /// Maximum number of queued spans, at least 1.
    pub(crate) queue: usize,
    /// Maximum number of spans in a batch, at least 1.
    pub(crate) batch: usize,
    /// Maximum time that a batch waits for further spans.
    pub(crate) delay: Duration,
}

impl Default for BatchConfig {
    fn default() -> Self {
        Self { queue: 2048, batch: 512, delay: Duration::from_secs(5) }
    }
}

/// Returns the two ends of a new queue of spans. Spans that do not fit in it are counted in `metrics`.
#[must_use]
pub(crate) fn pipeline(
    sampler: Sampler,
    batch_config: BatchConfig,
    metrics: Arc<TraceMetrics>,
) -> (SpanLayer, Exporter) {
    let (sender, receiver) = tokio::sync::mpsc::channel(batch_config.queue.max(1));
    (SpanLayer::new(sampler, sender, Arc::clone(&metrics)), Exporter::new(receiver, batch_config, metrics))
}
