//! Responses of OAuth: refusals, and the 404 while it is off.

use http::header::CACHE_CONTROL;
use http::{HeaderValue, StatusCode};
use serde_json::json;
use websvc_types::ErrorCode;

use super::issuer::OauthIssuer;
use crate::response::{ApiError, HttpResponse, json as json_response};
use crate::service::RequestContext;

/// Returns the issuer.
///
/// # Errors
/// 404 if OAuth is off.
pub(super) fn issuer<'a>(context: &RequestContext<'a>) -> Result<&'a OauthIssuer, ApiError> {
    context.state.oauth.as_ref().ok_or_else(|| {
        ApiError::new(ErrorCode::NotFound, "Not found: OAuth is off (auth.oauth.enabled), send an API key")
    })
}

/// Returns a JSON response that no cache may store.
pub(super) fn uncached(status: StatusCode, body: &serde_json::Value) -> HttpResponse {
    let mut response = json_response(status, body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A refusal in the form of OAuth (RFC 6749, section 5.2), which clients read instead of the errors of the service.
#[derive(Debug)]
pub(crate) struct OauthError {
    pub(super) code: &'static str,
    pub(super) description: String,
}

impl OauthError {
    pub(super) fn new(code: &'static str, description: impl Into<String>) -> Self {
        Self { code, description: description.into() }
    }

    /// Returns the broken rule.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    pub(super) fn into_response(self) -> HttpResponse {
        let body = json!({ "error": self.code, "error_description": self.description });
        uncached(StatusCode::BAD_REQUEST, &body)
    }
}
