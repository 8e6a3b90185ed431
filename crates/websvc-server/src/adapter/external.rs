//! The API of an "external" search engine of Open WebUI: `{query, count}`, answered with a list.

use http::Request;
use serde_json::{Map, Value, json};
use websvc_store::KeyScope;
use websvc_transport::ServerBody;

use super::{IncomingRequest, ok, read};
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
    let IncomingRequest { base_url, fields } = read(&context, request).await?;
    let mut search_fields = Map::new();
    search_fields.extend(fields.get("query").map(|query| ("query".to_owned(), query.clone())));
    search_fields.extend(fields.get("count").map(|count| ("limit".to_owned(), count.clone())));
    let results = super::search(context, base_url, search_fields).await?.data.web.unwrap_or_default();
    let list = results
        .into_iter()
        .map(|result| json!({ "link": result.url, "title": result.title, "snippet": result.description }));
    Ok(ok(&Value::Array(list.collect())))
}
