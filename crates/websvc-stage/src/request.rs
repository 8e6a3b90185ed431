//! The root span of a request, which relates log lines and stages to the request.

use tracing::field::Empty;
use tracing::{Instrument, Span};

/// The target of the spans of requests and of their stages.
pub const TARGET: &str = "websvc_stage";

/// The name of the root span of a request.
pub const REQUEST: &str = "request";

/// Names of the fields of spans, for `tracing` layers.
pub mod field {
    /// The identifier of the request that its sender receives.
    pub const REQUEST_ID: &str = "request_id";
    /// The `traceparent` header (W3C Trace Context) of the request, unchecked.
    pub const TRACEPARENT: &str = "traceparent";
    /// The HTTP method.
    pub const METHOD: &str = "method";
    /// The path template of the route.
    pub const ROUTE: &str = "route";
    /// The HTTP status of the response.
    pub const STATUS: &str = "status";
    /// True if no content of the request and the response may be stored.
    pub const PRIVATE: &str = "private";
    /// The name of a source in the configuration.
    pub const SOURCE: &str = "source";
}

/// The span of one request. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RequestSpan(Span);

impl RequestSpan {
    /// Creates the span of a request.
    ///
    /// Log lines contain `id`. `traceparent` is the header of the request, unchecked.
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

    /// Creates the span of a request within the current span, or a root span if there is none.
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

    /// Runs `work` within the span.
    pub fn run<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0.clone())
    }

    /// Runs `work` within the span on this thread.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// Records the path template of the route.
    pub fn set_route(&self, route: &'static str) {
        self.0.record(field::ROUTE, route);
    }

    /// Records the HTTP status of the response.
    pub fn set_status(&self, status: u16) {
        self.0.record(field::STATUS, status);
    }

    /// Records that no content of the request and the response may be stored: later log lines within the span omit
    /// all fields that could contain it.
    pub fn set_private(&self) {
        self.0.record(field::PRIVATE, true);
    }
}

/// Returns `work` bound to the current span, to be run on another thread.
pub fn in_current_span<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let span = Span::current();
    move || span.in_scope(work)
}
