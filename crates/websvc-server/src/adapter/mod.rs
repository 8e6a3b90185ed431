//! Adapters for other APIs: version 1 of the official API, SearXNG, Open WebUI, and Reader and reranker of Jina.
//!
//! An adapter translates a request into one of version 2, and the response back. Checks, credits and the work itself are
//! those of version 2.

mod external;
mod llms_txt;
mod reader;
mod rerank;
mod searxng;
mod v1;
pub(crate) mod v1_jobs;
mod v1_usage;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Map, Value};
use websvc_transport::ServerBody;
use websvc_types::SearchResponse;
use websvc_validate::read_object;

use crate::handler;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

pub(crate) use external::ENDPOINTS as EXTERNAL;
pub(crate) use llms_txt::ENDPOINTS as LLMS_TXT;
pub(crate) use reader::ENDPOINTS as READER;
pub(crate) use rerank::ENDPOINTS as RERANK;
pub(crate) use searxng::ENDPOINTS as SEARXNG;
pub(crate) use v1::{ENDPOINTS as V1, translate_options};
pub(crate) use v1_usage::ENDPOINTS as V1_USAGE;

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
