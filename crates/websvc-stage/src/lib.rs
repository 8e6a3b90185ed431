//! The stages of a request: what they are called, how long they take, and whose request they are of.
//!
//! A [`Stage`] that is run by [`StageTimes`] is counted in a histogram and is a span of `tracing`. Spans have the names
//! of stages, the names of the configuration, statuses and the identifier of the request: no query, no URL and no
//! content, whoever asks. Where nobody listens to spans they cost a comparison.

#![deny(missing_docs)]

mod histogram;
mod request;
mod stage;
mod times;
mod traces;

pub use histogram::{Distribution, Histogram};
pub use request::{REQUEST, RequestSpan, TARGET, field, in_current_span};
pub use stage::Stage;
pub use times::{STAGE_BOUNDS_US, StageTimes, TimedFuture};
pub use traces::{TraceCounters, TraceMetrics};
