//! Exports traces of requests to a collector by the OpenTelemetry protocol over HTTP (OTLP 1.x, JSON).
//!
//! A [`SpanLayer`] records the spans of requests and of their stages; an [`Exporter`] sends them in batches. A bounded
//! queue connects the two: a request never waits for the collector, and spans that do not fit in the queue are dropped
//! and counted. `websvc-stage` creates the spans and decides their content: no query, no URL, no page content, no team.
//!
//! It does not use the OpenTelemetry SDK, because the SDK starts a separate thread and runtime for its batches
//! and does not report the number of dropped spans.

mod context;
mod encode;
mod exporter;
mod layer;
mod sampler;
mod span;

use std::sync::Arc;

use websvc_stage::TraceMetrics;

pub(crate) use context::TraceContext;
pub(crate) use exporter::{BatchConfig, Exporter, ExporterConfig};
pub(crate) use layer::SpanLayer;
pub(crate) use sampler::Sampler;

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
