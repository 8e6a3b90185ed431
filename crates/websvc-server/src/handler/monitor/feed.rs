//! `GET /v2/monitor/{id}/feed?token=`: the Atom feed of a monitor.

use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Request, StatusCode};
use websvc_store::MonitorRecord;
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;

use super::monitor_id;
use crate::response::{ApiError, HttpResponse, with_type};
use crate::service::RequestContext;

/// Responds with the feed. The token is the permission, because feed readers send no key.
///
/// # Errors
/// 404 if there is no such monitor or the token is wrong, without saying which.
pub(super) async fn feed(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = monitor_id(context, request)?;
    let token = token(request.uri().query());
    // A feed must name itself by an absolute URL.
    let base_url = context.state.base_url(request).unwrap_or_else(|| "http://localhost".to_owned());
    let self_url = feed_url(Some(&base_url), &id, &token).parse().map_err(|_| not_found())?;
    let feed = context.state.monitors.feed(&id, &token, self_url).await?.ok_or_else(not_found)?;
    let mut response =
        with_type(StatusCode::OK, "application/atom+xml; charset=utf-8", Body::from(feed.into_bytes()));
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=60"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

/// Returns the URL of the feed of a monitor, with its token.
pub(super) async fn url(
    context: &RequestContext<'_>,
    base_url: Option<&str>,
    record: &MonitorRecord,
) -> Result<String, ApiError> {
    let token = context.state.monitors.feed_token(record).await?;
    Ok(feed_url(base_url, &record.id, &token))
}

fn feed_url(base_url: Option<&str>, id: &str, token: &str) -> String {
    format!("{}/v2/monitor/{id}/feed?token={token}", base_url.unwrap_or_default())
}

/// Returns the token of a query string; empty if there is none. Other characters than those of tokens are left out.
fn token(query: Option<&str>) -> String {
    let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let token = pairs.into_iter().find_map(|(name, value)| (name == "token").then(|| value.into_owned()));
    token.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).collect()
}

fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "Feed not found")
}
