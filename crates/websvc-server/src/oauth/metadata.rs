//! The documents with which clients find the authorization server and its endpoints.

use http::StatusCode;
use serde_json::{Value, json};
use websvc_store::KeyScope;

use super::error::uncached;
use super::issuer::OauthIssuer;
use crate::response::{ApiError, HttpResponse};

/// The metadata of the MCP endpoint (RFC 9728).
pub(super) fn protected_resource(issuer: &OauthIssuer) -> Result<HttpResponse, ApiError> {
    let body = json!({
        "resource": issuer.resource(),
        "resource_name": "websvc",
        "authorization_servers": [issuer.as_str()],
        "bearer_methods_supported": ["header"],
        "scopes_supported": scopes(),
    });
    Ok(uncached(StatusCode::OK, &body))
}

/// The metadata of the authorization server (RFC 8414).
pub(super) fn authorization_server(issuer: &OauthIssuer) -> Result<HttpResponse, ApiError> {
    let endpoint = |name: &str| format!("{}/oauth/{name}", issuer.as_str());
    let body = json!({
        "issuer": issuer.as_str(),
        "authorization_endpoint": endpoint("authorize"),
        "token_endpoint": endpoint("token"),
        "registration_endpoint": endpoint("register"),
        "revocation_endpoint": endpoint("revoke"),
        "scopes_supported": scopes(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    Ok(uncached(StatusCode::OK, &body))
}

fn scopes() -> Vec<Value> {
    KeyScope::ALL.iter().map(|scope| scope.as_str().into()).collect()
}
