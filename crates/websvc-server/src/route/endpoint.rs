//! An endpoint: a method and a path with its handler, and everything that the stages before the handler need to know.
//!
//! Each endpoint is a row in the file of its handler. [`super::TABLES`] collects the rows.

use http::{Method, Request};
use websvc_store::{ApiVersion, JobKind, KeyScope};
use websvc_transport::{BoxFuture, ServerBody};

use super::RequestBody;
use super::group::OperationGroup;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The future of a handler.
pub(crate) type HandlerFuture<'a> = BoxFuture<'a, Result<HttpResponse, ApiError>>;

/// The handler of an endpoint. Its future is boxed: its type would become too deep for the compiler.
pub(crate) type Handler = for<'a> fn(RequestContext<'a>, Request<ServerBody>) -> HandlerFuture<'a>;

/// Makes a [`Handler`] of an asynchronous expression.
macro_rules! handler {
    (|$context:pat_param, $request:pat_param| $response:expr) => {
        |$context, $request| Box::pin(async move { $response })
    };
}
pub(crate) use handler;

/// The credential that an endpoint needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessLevel {
    Key,
    /// An admin key, or a session of the dashboard with one.
    Admin,
    Public,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    /// The path; a segment in braces matches any segment, and one that ends with an asterisk all segments that follow.
    pub(crate) path: &'static str,
    pub(crate) handler: Handler,
    /// The label in metrics.
    pub(crate) group: OperationGroup,
    pub(crate) access: AccessLevel,
    /// The name in audit events. Public endpoints, and those that only read for the dashboard, write none.
    pub(crate) name: Option<&'static str>,
    /// The scope that a key needs; `None` if every key may send requests to the endpoint.
    pub(crate) scope: Option<KeyScope>,
    /// The formats that a key must allow because all responses may contain them. The formats of single requests and of
    /// stored documents are checked by their handlers.
    pub(crate) formats: &'static [&'static str],
    pub(crate) body: RequestBody,
    /// True if replicas pass its requests on to each other.
    pub(crate) is_forwarded: bool,
    /// The kind of the job whose progress a WebSocket at this path reports.
    pub(crate) watched: Option<JobKind>,
}

impl Endpoint {
    /// Returns an endpoint that needs a key of any scope, reads no body and is not audited.
    const fn new(method: Method, path: &'static str, group: OperationGroup, handler: Handler) -> Self {
        Self {
            method,
            path,
            handler,
            group,
            access: AccessLevel::Key,
            name: None,
            scope: None,
            formats: &[],
            body: RequestBody::None,
            is_forwarded: false,
            watched: None,
        }
    }

    pub(crate) const fn get(path: &'static str, group: OperationGroup, handler: Handler) -> Self {
        Self::new(Method::GET, path, group, handler)
    }

    pub(crate) const fn post(path: &'static str, group: OperationGroup, handler: Handler) -> Self {
        Self::new(Method::POST, path, group, handler)
    }

    pub(crate) const fn put(path: &'static str, group: OperationGroup, handler: Handler) -> Self {
        Self::new(Method::PUT, path, group, handler)
    }

    pub(crate) const fn patch(path: &'static str, group: OperationGroup, handler: Handler) -> Self {
        Self::new(Method::PATCH, path, group, handler)
    }

    pub(crate) const fn delete(path: &'static str, group: OperationGroup, handler: Handler) -> Self {
        Self::new(Method::DELETE, path, group, handler)
    }

    /// Names the endpoint in audit events.
    pub(crate) const fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Needs a key with this scope.
    pub(crate) const fn scope(mut self, scope: KeyScope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Needs a key that allows these formats.
    pub(crate) const fn formats(mut self, formats: &'static [&'static str]) -> Self {
        self.formats = formats;
        self
    }

    /// Reads a body.
    pub(crate) const fn body(mut self, body: RequestBody) -> Self {
        self.body = body;
        self
    }

    /// Needs no key.
    pub(crate) const fn public(mut self) -> Self {
        self.access = AccessLevel::Public;
        self
    }

    /// Needs an admin key.
    pub(crate) const fn admin(mut self) -> Self {
        self.access = AccessLevel::Admin;
        self
    }

    /// Accepts requests that another replica passes on.
    pub(crate) const fn forwarded(mut self) -> Self {
        self.is_forwarded = true;
        self
    }

    /// Accepts WebSockets that report the progress of a job.
    pub(crate) const fn watched(mut self, kind: JobKind) -> Self {
        self.watched = Some(kind);
        self
    }

    /// Returns the version of the API in the path; the current one for a path without a version.
    pub(crate) fn api_version(&self) -> ApiVersion {
        if self.path.starts_with("/v1/") { ApiVersion::V1 } else { ApiVersion::V2 }
    }

    /// Returns whether the pattern of the endpoint matches a normal path.
    pub(super) fn matches(&self, path: &str) -> bool {
        if !self.path.contains('{') {
            return self.path == path;
        }
        let mut segments = path.split('/');
        let is_prefix = self.path.split('/').all(|pattern| {
            segments.next().is_some_and(|segment| {
                pattern == segment || (pattern.starts_with('{') && !segment.is_empty())
            })
        });
        is_prefix && (self.has_rest() || segments.next().is_none())
    }

    /// Returns whether the path of a request goes on after that of the endpoint, with text of the client such as a URL.
    pub(crate) fn has_rest(&self) -> bool {
        self.path.ends_with("*}")
    }

    /// Returns the segment of a path that a name in braces matches; an empty text if the pattern has no such name.
    pub(crate) fn capture<'p>(&self, path: &'p str, name: &str) -> &'p str {
        let is_named = |pattern: &str| {
            pattern.strip_prefix('{').and_then(|pattern| pattern.strip_suffix('}')) == Some(name)
        };
        let segments = |path: &'p str| path.split('/').filter(|segment| !segment.is_empty());
        let patterns = self.path.split('/').filter(|pattern| !pattern.is_empty());
        let mut pairs = patterns.zip(segments(path));
        pairs.find(|(pattern, _)| is_named(pattern)).map_or("", |(_, segment)| segment)
    }
}
