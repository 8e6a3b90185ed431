//! The challenge to clients without a token.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};

use super::issuer::OauthIssuer;
use crate::response::HttpResponse;

/// Names the metadata of the MCP endpoint in a 401 of it (RFC 9728, section 5.1), so that a client can find out how to get a
/// token.
pub(crate) fn add_challenge(issuer: Option<&OauthIssuer>, path: &str, response: &mut HttpResponse) {
    let Some(issuer) = issuer.filter(|_| path == "/mcp") else { return };
    if response.status() != StatusCode::UNAUTHORIZED {
        return;
    }
    let challenge =
        format!("Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", issuer.as_str());
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
}
