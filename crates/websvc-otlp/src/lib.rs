//! Traces of requests to a collector, by the OpenTelemetry protocol over HTTP (OTLP 1.x, JSON).
//!
//! A [`SpanLayer`] takes the spans of requests and their stages, an [`Exporter`] sends them in batches. Between them is
//! a queue with a bound: a request never waits for a collector, and what finds no room is counted. What a span may tell
//! is settled where it is made, in `websvc-stage`: no query, no URL, no content, no team.
//!
//! Written by hand, because the SDK brings a thread and a runtime of its own for its batches, and does not say what it
//! has dropped.

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
pub use queue::{BatchConfig, traces};
pub use sampler::Sampler;
