//! Adapters for other APIs: version 1 of the official API, SearXNG, Open WebUI and Jina.
//!
//! An adapter translates a request into one of version 2, and the response back. Checks, credits and the work itself are
//! those of version 2.

mod external;
mod llms_txt;
mod rerank;
mod searxng;
mod v1;
mod v1_jobs;
mod v1_usage;

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

pub(crate) use v1::translate_options;

/// An operation of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    ScrapeV1,
    ScrapeResultV1,
    SearchV1,
    JobV1(JobKind, JobOperation),
    LlmsTxtStart,
    LlmsTxtStatus,
    CreditUsageV1,
    TokenUsageV1,
    SearchSearxng,
    SearchExternal,
    Rerank,
}

impl Operation {
    /// Returns the group of the operation that does the work.
    pub(crate) fn group(self) -> OperationGroup {
        match self {
            Self::ScrapeV1 | Self::ScrapeResultV1 => OperationGroup::Scrape,
            Self::JobV1(JobKind::Batch, _) => OperationGroup::Batch,
            Self::JobV1(JobKind::Crawl, _) | Self::LlmsTxtStart | Self::LlmsTxtStatus => {
                OperationGroup::Crawl
            }
            Self::CreditUsageV1 | Self::TokenUsageV1 => OperationGroup::Team,
            Self::SearchV1 | Self::SearchSearxng | Self::SearchExternal => OperationGroup::Search,
            Self::Rerank => OperationGroup::Rerank,
        }
    }

    /// Returns the name in audit events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::JobV1(kind, operation) => operation.name(kind),
            Self::ScrapeResultV1 => "scrape-result",
            Self::LlmsTxtStart => "llmstxt",
            Self::LlmsTxtStatus => "llmstxt-status",
            Self::CreditUsageV1 => "credit-usage",
            Self::TokenUsageV1 => "token-usage",
            Self::ScrapeV1 | Self::SearchV1 | Self::SearchSearxng | Self::SearchExternal | Self::Rerank => {
                self.group().name()
            }
        }
    }

    /// Returns the formats that a key must allow because all responses of the operation may contain them.
    pub(crate) fn formats(self) -> &'static [&'static str] {
        match self {
            Self::LlmsTxtStart | Self::LlmsTxtStatus => &["markdown"],
            Self::ScrapeV1
            | Self::ScrapeResultV1
            | Self::SearchV1
            | Self::JobV1(..)
            | Self::CreditUsageV1
            | Self::TokenUsageV1
            | Self::SearchSearxng
            | Self::SearchExternal
            | Self::Rerank => &[],
        }
    }

    /// Returns the scope that a key needs; `None` if every key may request the operation.
    pub(crate) fn scope(self) -> Option<KeyScope> {
        match self {
            Self::ScrapeV1 | Self::ScrapeResultV1 => Some(KeyScope::Scrape),
            Self::JobV1(JobKind::Batch, _) => Some(KeyScope::Batch),
            Self::JobV1(JobKind::Crawl, _) | Self::LlmsTxtStart | Self::LlmsTxtStatus => {
                Some(KeyScope::Crawl)
            }
            Self::SearchV1 | Self::SearchSearxng | Self::SearchExternal | Self::Rerank => {
                Some(KeyScope::Search)
            }
            Self::CreditUsageV1 | Self::TokenUsageV1 => None,
        }
    }
}

/// Handles a request to an adapter.
pub(crate) async fn perform(
    operation: Operation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    match operation {
        Operation::ScrapeV1 => v1::scrape(context, request).await,
        Operation::ScrapeResultV1 => v1::scrape_result(&context, &request).await,
        Operation::LlmsTxtStart => llms_txt::start(context, request).await,
        Operation::LlmsTxtStatus => llms_txt::status(&context, &request).await,
        Operation::CreditUsageV1 => v1_usage::credit_usage(&context).await,
        Operation::TokenUsageV1 => v1_usage::token_usage(&context).await,
        Operation::SearchV1 => v1::search(context, request).await,
        Operation::JobV1(kind, operation) => v1_jobs::job(kind, operation, context, request).await,
        Operation::SearchSearxng => searxng::search(context, request).await,
        Operation::SearchExternal => external::search(context, request).await,
        Operation::Rerank => rerank::rerank(context, request).await,
    }
}

/// A request with a JSON object as its body.
struct IncomingRequest {
    /// The base URL under which the client reaches the service.
    base_url: Option<String>,
    fields: Map<String, Value>,
}

/// Reads a request with a JSON object as its body.
async fn read(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<IncomingRequest, ApiError> {
    let base_url = context.state.base_url(&request);
    let body = handler::read_body(request)?;
    let fields = context.state.admission.decode_body(body, read_object).await?;
    Ok(IncomingRequest { base_url, fields })
}

/// Runs the search of a request of version 2.
async fn search(
    context: RequestContext<'_>,
    base_url: Option<String>,
    fields: Map<String, Value>,
) -> Result<SearchResponse, ApiError> {
    handler::respond_to_search(context, base_url, Bytes::from(Value::Object(fields).to_string())).await
}

fn ok(value: &Value) -> HttpResponse {
    json(StatusCode::OK, value)
}
