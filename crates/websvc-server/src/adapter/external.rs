//! What Open WebUI asks of an "external" search engine: `{query, count}`, answered with a bare list.

use http::Request;
use serde_json::{Map, Value, json};
use websvc_transport::ServerBody;

use super::{IncomingRequest, ok, read};
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// `POST /search`.
pub(super) async fn search(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let IncomingRequest { origin, fields } = read(&context, request).await?;
    let mut asked = Map::new();
    asked.extend(fields.get("query").map(|query| ("query".to_owned(), query.clone())));
    asked.extend(fields.get("count").map(|count| ("limit".to_owned(), count.clone())));
    let found = super::search(context, origin, asked).await?.data.web.unwrap_or_default();
    let list = found
        .into_iter()
        .map(|found| json!({ "link": found.url, "title": found.title, "snippet": found.description }));
    Ok(ok(&Value::Array(list.collect())))
}
