//! Interfaces of others over the operations there are: version 1 of the official one, SearXNG's, Open WebUI's, Jina's.
//!
//! An adapter turns a request into one of version 2 and the answer back; what is allowed, what it costs and how it is
//! done is said there alone.

mod external;
mod rerank;
mod searxng;
mod v1;
mod v1_jobs;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Map, Value};
use websvc_store::{JobKind, KeyScope};
use websvc_transport::ServerBody;
use websvc_types::SearchResponse;
use websvc_validate::read_object;

use crate::handler::{self, JobOperation};
use crate::response::{ApiError, HttpResponse, json};
use crate::route::OperationGroup;
use crate::service::RequestContext;

/// What can be asked of the adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    ScrapeV1,
    SearchV1,
    JobV1(JobKind, JobOperation),
    SearchSearxng,
    SearchExternal,
    Rerank,
}

impl Operation {
    /// Returns what it is counted as: the operation that does it.
    pub(crate) fn group(self) -> OperationGroup {
        match self {
            Self::ScrapeV1 => OperationGroup::Scrape,
            Self::JobV1(JobKind::Batch, _) => OperationGroup::Batch,
            Self::JobV1(JobKind::Crawl, _) => OperationGroup::Crawl,
            Self::SearchV1 | Self::SearchSearxng | Self::SearchExternal => OperationGroup::Search,
            Self::Rerank => OperationGroup::Rerank,
        }
    }

    /// Returns what audit events call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::JobV1(kind, operation) => operation.name(kind),
            Self::ScrapeV1 | Self::SearchV1 | Self::SearchSearxng | Self::SearchExternal | Self::Rerank => {
                self.group().name()
            }
        }
    }

    /// Returns the scope that a key has to have.
    pub(crate) fn scope(self) -> KeyScope {
        match self {
            Self::ScrapeV1 => KeyScope::Scrape,
            Self::JobV1(JobKind::Batch, _) => KeyScope::Batch,
            Self::JobV1(JobKind::Crawl, _) => KeyScope::Crawl,
            Self::SearchV1 | Self::SearchSearxng | Self::SearchExternal | Self::Rerank => KeyScope::Search,
        }
    }
}

/// Does what is asked.
pub(crate) async fn perform(
    operation: Operation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    match operation {
        Operation::ScrapeV1 => v1::scrape(context, request).await,
        Operation::SearchV1 => v1::search(context, request).await,
        Operation::JobV1(kind, operation) => v1_jobs::job(kind, operation, context, request).await,
        Operation::SearchSearxng => searxng::search(context, request).await,
        Operation::SearchExternal => external::search(context, request).await,
        Operation::Rerank => rerank::rerank(context, request).await,
    }
}

/// What the sender says of a request: where it reaches us, and the body.
struct IncomingRequest {
    origin: Option<String>,
    fields: Map<String, Value>,
}

/// Reads the body of a request, an object.
async fn read(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<IncomingRequest, ApiError> {
    let origin = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let body = handler::read_body(request).await?;
    let fields = context.admission.decode_body(body, read_object).await?;
    Ok(IncomingRequest { origin, fields })
}

/// Searches by a request of version 2.
async fn search(
    context: RequestContext<'_>,
    origin: Option<String>,
    fields: Map<String, Value>,
) -> Result<SearchResponse, ApiError> {
    handler::answer_search(context, origin, Bytes::from(Value::Object(fields).to_string())).await
}

fn ok(value: &Value) -> HttpResponse {
    json(StatusCode::OK, value)
}
