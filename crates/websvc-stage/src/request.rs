//! The span that a whole request is: it tells its lines of the log and its stages from those of others.

use tracing::field::Empty;
use tracing::{Instrument, Span};

/// The target of the spans of requests and of their stages.
pub const TARGET: &str = "websvc_stage";

/// The name of the span that a whole request is.
pub const REQUEST: &str = "request";

/// The names of the fields of spans, for those who listen to them.
pub mod field {
    /// The identifier by which the sender knows the request.
    pub const REQUEST_ID: &str = "request_id";
    /// The `traceparent` of W3C that came with the request, as it came.
    pub const TRACEPARENT: &str = "traceparent";
    /// The method of HTTP.
    pub const METHOD: &str = "method";
    /// The path of the route, as the table of routes has it.
    pub const ROUTE: &str = "route";
    /// The status that was answered.
    pub const STATUS: &str = "status";
    /// True when nothing of what is asked and answered may be kept.
    pub const PRIVATE: &str = "private";
    /// The name of a source in the configuration.
    pub const SOURCE: &str = "source";
}

/// The span of one request. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RequestSpan(Span);

impl RequestSpan {
    /// Makes the span of a request: `id` is what its lines in the log are found by, `traceparent` is what the sender
    /// says of the trace that it is a part of, unchecked.
    #[must_use]
    pub fn new(id: &str, method: &str, traceparent: Option<&str>) -> Self {
        Self(tracing::info_span!(
            target: TARGET,
            parent: None,
            REQUEST,
            request_id = id,
            traceparent,
            method,
            route = Empty,
            status = Empty,
            private = Empty,
        ))
    }

    /// Makes the span of a request that is a part of another, or stands alone when there is none.
    #[must_use]
    pub fn within(id: &str, method: &str) -> Self {
        if Span::current().is_none() {
            return Self::new(id, method, None);
        }
        Self(tracing::info_span!(
            target: TARGET,
            REQUEST,
            request_id = id,
            traceparent = Empty,
            method,
            route = Empty,
            status = Empty,
            private = Empty,
        ))
    }

    /// Does the work of the request.
    pub fn run<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0.clone())
    }

    /// Does what belongs to the request on this thread.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// Notes the route, one of the service's own table.
    pub fn set_route(&self, route: &'static str) {
        self.0.record(field::ROUTE, route);
    }

    /// Notes the status of the answer.
    pub fn set_status(&self, status: u16) {
        self.0.record(field::STATUS, status);
    }

    /// Notes that nothing of what is asked and answered may be kept: lines of the log that are written within the
    /// request tell from now on nothing that could hold it.
    pub fn is_private(&self) {
        self.0.record(field::PRIVATE, true);
    }
}

/// Returns work for another thread that belongs to the request and the stage of this one.
pub fn in_current_span<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let span = Span::current();
    move || span.in_scope(work)
}
