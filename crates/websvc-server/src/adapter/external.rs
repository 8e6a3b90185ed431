//! `POST /search`: the API of an "external" search engine of Open WebUI, `{query, count}`, answered with a list; and that of
//! SearXNG.

use http::Request;
use serde_json::{Map, Value, json};
use websvc_store::KeyScope;
use websvc_transport::ServerBody;
use websvc_types::{ErrorCode, Violation, ViolationCode};

use super::{IncomingRequest, ok, read, searxng};
use crate::response::{ApiError, HttpResponse};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::post(
    "/search",
    OperationGroup::Search,
    handler!(|context, request| search(context, request).await),
)
.name("search")
.scope(KeyScope::Search)
.body(RequestBody::SHORT)];

/// `POST /search`.
async fn search(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    if searxng::is_searxng(&request) {
        return searxng::search(context, request).await;
    }
    let IncomingRequest { base_url, fields } = read(&context, request).await?;
    check_fields(&fields)?;
    let mut search_fields = Map::new();
    search_fields.extend(fields.get("query").map(|query| ("query".to_owned(), query.clone())));
    search_fields.extend(fields.get("count").map(|count| ("limit".to_owned(), count.clone())));
    let results = super::search(context, base_url, search_fields).await?.data.web.unwrap_or_default();
    let list = results
        .into_iter()
        .map(|result| json!({ "link": result.url, "title": result.title, "snippet": result.description }));
    Ok(ok(&Value::Array(list.collect())))
}

/// Rejects the fields of other search APIs, which would be ignored.
fn check_fields(fields: &Map<String, Value>) -> Result<(), ApiError> {
    let unknown = fields.keys().filter(|name| !["query", "count"].contains(&name.as_str()));
    let violations: Vec<Violation> = unknown
        .map(|name| Violation {
            path: format!("/{name}"),
            code: ViolationCode::UnknownField,
            message: format!(
                "{name} is unknown: POST /search takes query and count, POST /v2/search has more options"
            ),
        })
        .collect();
    if violations.is_empty() { Ok(()) } else { Err(ApiError::invalid(ErrorCode::BadRequest, violations)) }
}
