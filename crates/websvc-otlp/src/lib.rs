//! Exports traces of requests to a collector by the OpenTelemetry protocol over HTTP (OTLP 1.x, JSON).
//!
//! A [`SpanLayer`] records the spans of requests and of their stages; an [`Exporter`] sends them in batches. A bounded
//! queue connects the two: a request never waits for the collector, and spans that do not fit in the queue are dropped
//! and counted. `websvc-stage` creates the spans and decides their content: no query, no URL, no page content, no team.
//!
//! The crate does not use the OpenTelemetry SDK, because the SDK starts a separate thread and runtime for its batches
//! and does not report the number of dropped spans.

#![deny(missing_docs)]

mod context;
mod encode;
mod exporter;
mod layer;
mod queue;
mod sampler;
mod span;

pub use context::{SpanId, TraceContext, TraceId};
pub use exporter::{ExportError, Exporter, ExporterConfig};
pub use layer::SpanLayer;
pub use queue::{BatchConfig, pipeline};
pub use sampler::Sampler;
