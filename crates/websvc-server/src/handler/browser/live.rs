//! `GET /v2/browser/{id}/live`: the page that shows a session, and its WebSocket.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Request, StatusCode};
use uuid::Uuid;
use websvc_transport::{Body, ServerBody};

use super::{screencast, session_id};
use crate::handler::query::parameter;
use crate::handler::watch::is_websocket_request;
use crate::response::{ApiError, HttpResponse, with_type};
use crate::service::RequestContext;

/// The document. `{nonce}` permits its style and its script.
const PAGE: &str = include_str!("live.html");

/// Responds with the page of a session, or connects it.
pub(super) async fn page(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = session_id(context, request)?;
    let token = parameter(request.uri().query(), "token").unwrap_or_default();
    if is_websocket_request(request) {
        return screencast::connect(context, request, id, &token).await;
    }
    context.state.browser_sessions.find_for_viewer(id, &token).await?;
    let nonce = Uuid::new_v4().simple().to_string();
    let body = Body::from(PAGE.replace("{nonce}", &nonce).into_bytes());
    let mut response = with_type(StatusCode::OK, "text/html; charset=utf-8", body);
    // Any page may embed it.
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors *"
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}
