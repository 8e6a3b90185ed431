//! Registration of clients (RFC 7591).

use std::time::Instant;

use http::{Request, StatusCode};
use serde::Deserialize;
use serde_json::json;
use websvc_store::{MAX_OAUTH_CLIENTS, OauthClient};
use websvc_transport::ServerBody;

use super::error::{OauthError, issuer, uncached};
use super::redirect_uri;
use crate::blocking::run_blocking;
use crate::handler::read_body;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// Maximum number of redirect addresses of a client.
const MAX_REDIRECT_URIS: usize = 10;
/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 100;
/// The name of a client without one.
const NAMELESS: &str = "MCP client";
/// The text that stands for a wrong key in the limit of registrations by address.
const LIMITED_AS: &str = "oauth-registration";

/// The metadata of a client that matter here. All other fields are ignored, as RFC 7591 demands.
#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    redirect_uris: Vec<String>,
    client_name: Option<String>,
}

/// Registers a client. It gets no secret, whatever method of authentication it asks for: it would be one that every copy of a
/// program contains.
pub(super) async fn register(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let issuer = issuer(context)?;
    let (state, now) = (context.state, Instant::now());
    let address = state.client_ip(&request);
    // Each registration counts, because each takes space.
    state.sign_in_limiter.admit(address, LIMITED_AS, now)?;
    state.sign_in_limiter.record(address, LIMITED_AS, now);
    let (name, redirect_uris) = match check(&read_body(request)?, issuer.redirect_schemes()) {
        Ok(checked) => checked,
        Err(error) => return Ok(error.into_response()),
    };
    let store = state.store.clone();
    let registered = run_blocking(move || store.register_oauth_client(&name, &redirect_uris)).await?;
    let registered =
        registered.map_err(|error| ApiError::internal(&error, "the client could not be registered"))?;
    let Some(OauthClient { id, name, redirect_uris, created_at_ms }) = registered else {
        let text = format!(
            "there are {MAX_OAUTH_CLIENTS} clients with grants, ask the administrator to revoke some"
        );
        return Ok(OauthError::new("invalid_client_metadata", text).into_response());
    };
    let body = json!({
        "client_id": id,
        "client_id_issued_at": created_at_ms / 1000,
        "client_name": name,
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    Ok(uncached(StatusCode::CREATED, &body))
}

/// Returns the name and the redirect addresses of a client.
fn check(body: &[u8], schemes: &[String]) -> Result<(String, Vec<String>), OauthError> {
    let invalid = |text: String| OauthError::new("invalid_client_metadata", text);
    let Metadata { redirect_uris, client_name } =
        serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))?;
    if redirect_uris.is_empty() || redirect_uris.len() > MAX_REDIRECT_URIS {
        let text = format!(
            "redirect_uris must have 1 to {MAX_REDIRECT_URIS} addresses, not {}",
            redirect_uris.len()
        );
        return Err(OauthError::new("invalid_redirect_uri", text));
    }
    for address in &redirect_uris {
        redirect_uri::check(address, schemes)
            .map_err(|rule| OauthError::new("invalid_redirect_uri", format!("{address:?} {rule}")))?;
    }
    let name: String = client_name.unwrap_or_default().chars().filter(|char| is_shown(*char)).collect();
    let name = name.trim().to_owned();
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(invalid(format!("client_name is longer than {MAX_NAME_CHARS} characters")));
    }
    Ok((if name.is_empty() { NAMELESS.to_owned() } else { name }, redirect_uris))
}

/// Returns whether a character may be part of a name: not one that is invisible or turns the direction of what follows.
pub(crate) fn is_shown(char: char) -> bool {
    let is_direction =
        matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    !char.is_control() && !is_direction
}
