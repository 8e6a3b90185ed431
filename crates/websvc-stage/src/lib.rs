//! The stages of a request: their names, their durations and their `tracing` spans.
//!
//! [`StageTimes`] runs the work of a [`Stage`] in a `tracing` span and counts its duration in a histogram. Spans
//! contain names of stages, names from the configuration, statuses and the identifier of the request, but never a
//! query, a URL or content. Without a subscriber that is interested in it, a span costs one comparison.

#![deny(missing_docs)]

mod counter;
mod histogram;
mod request;
mod stage;
mod times;
mod traces;

pub use counter::{Counter, CountersBy};
pub use histogram::{Distribution, Histogram};
pub use request::{REQUEST, RequestSpan, TARGET, field, in_current_span};
pub use stage::Stage;
pub use times::{STAGE_BOUNDS_US, StageTimes, TimedFuture};
pub use traces::TraceMetrics;
