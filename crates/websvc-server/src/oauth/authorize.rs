//! Consent: a client sends the browser of a user here, and the user decides on a page of the dashboard.
//!
//! The address of a client only opens the page, which then sends its request with the session of the user. The session's
//! cookie is not sent with requests of other pages, and the decision needs the session's token (CSRF). No other page can
//! frame the dashboard.

use std::collections::BTreeSet;

use data_encoding::BASE64URL_NOPAD;
use http::{HeaderValue, Request, StatusCode};
use serde::Deserialize;
use serde_json::json;
use url::Url;
use websvc_store::{KeyRights, KeyScope, MAX_OAUTH_GRANTS, NewGrant, OauthClient};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::error::{OauthError, issuer, uncached};
use super::form::Parameters;
use super::issuer::OauthIssuer;
use super::redirect_uri;
use crate::blocking::run_blocking;
use crate::handler::{parse_body, read_body};
use crate::response::{ApiError, HttpResponse, redirect};
use crate::service::RequestContext;

/// Maximum length of the query of a client in bytes.
const MAX_QUERY_BYTES: usize = 4096;
/// Maximum length of the state that a client gets back, in bytes.
const MAX_STATE_BYTES: usize = 1024;
/// The number of bytes of an S256 challenge.
const CHALLENGE_BYTES: usize = 32;

/// `GET /oauth/authorize`: opens the page of the dashboard, with the query of the client in the fragment.
pub(super) fn open_consent(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let issuer = issuer(context)?;
    let query = request.uri().query().unwrap_or_default();
    let invalid = |text: String| ApiError::new(ErrorCode::BadRequest, text);
    if query.len() > MAX_QUERY_BYTES {
        return Err(invalid(format!("Bad request: the query is longer than {MAX_QUERY_BYTES} bytes")));
    }
    let location = HeaderValue::from_str(&format!("{}/#/authorize?{query}", issuer.as_str()))
        .map_err(|error| invalid(format!("Bad request: {error}")))?;
    Ok(redirect(location))
}

/// A request of the page, with the query that the client sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    query: String,
}

/// The consent of a user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Consent {
    query: String,
    /// The operations that the client may use, of those that it asked for.
    scopes: BTreeSet<String>,
}

/// The checked request of a client.
struct AuthorizationRequest {
    client: OauthClient,
    redirect_uri: String,
    challenge: String,
    scopes: BTreeSet<KeyScope>,
    state: Option<String>,
}

/// `POST /dashboard/oauth/request`: what the page shows to the user.
pub(super) async fn show(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let issuer = issuer(context)?;
    let Shown { query } = parse_body(&read_body(request)?)?;
    let asked = check(context, issuer, &query).await?;
    let host = asked.redirect_uri.parse::<Url>().ok().and_then(|url| url.host_str().map(str::to_owned));
    let body = json!({
        "client": { "id": asked.client.id, "name": asked.client.name, "registeredAt": asked.client.created_at_ms },
        "redirectUri": asked.redirect_uri,
        "redirectHost": host,
        "redirectScheme": redirect_uri::private_scheme(&asked.redirect_uri),
        "team": context.team_name(),
        "scopes": asked.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(),
        "denied": asked.location(issuer, &[("error", "access_denied")])?,
    });
    Ok(uncached(StatusCode::OK, &body))
}

/// `POST /dashboard/oauth/authorize`: the user consents. Responds with the address to which the browser brings the code.
pub(super) async fn authorize(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let issuer = issuer(context)?;
    let Consent { query, scopes } = parse_body(&read_body(request)?)?;
    let asked = check(context, issuer, &query).await?;
    let invalid = |text: &str| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {text}"));
    let granted: BTreeSet<KeyScope> = scopes
        .iter()
        .map(|scope| scope.parse::<KeyScope>().ok().filter(|scope| asked.scopes.contains(scope)))
        .collect::<Option<_>>()
        .ok_or_else(|| invalid("scopes must be some of those that the client asks for"))?;
    if granted.is_empty() {
        return Err(invalid("scopes must not be empty: deny the request instead"));
    }
    let team = context.team_name().to_owned();
    context.trail.set_target(|| format!("client {} for team {team}", asked.client.id));
    let (store, client) = (context.state.store.clone(), asked.client.clone());
    let (redirect_uri, challenge) = (asked.redirect_uri.clone(), asked.challenge.clone());
    let code = run_blocking(move || {
        store.authorize_oauth_client(&NewGrant {
            client: &client.id,
            redirect_uri: &redirect_uri,
            challenge: &challenge,
            team: &team,
            label: &format!("{} (OAuth)", client.name),
            rights: KeyRights { scopes: Some(granted), ..KeyRights::default() },
        })
    })
    .await?
    .map_err(|error| ApiError::internal(&error, "the grant could not be stored"))?
    .ok_or_else(|| {
        let text =
            format!("there are {MAX_OAUTH_GRANTS} grants, revoke their keys or wait until some expire");
        ApiError::new(ErrorCode::RateLimited, text).retry_after(60)
    })?;
    let location = asked.location(issuer, &[("code", code.expose())])?;
    Ok(uncached(StatusCode::OK, &json!({ "location": location })))
}

impl AuthorizationRequest {
    /// Returns the address of the client with parameters of a response, its state, and the issuer (RFC 9207), by which it
    /// recognizes the response of another server.
    fn location(&self, issuer: &OauthIssuer, parameters: &[(&str, &str)]) -> Result<String, ApiError> {
        let mut url = Url::parse(&self.redirect_uri)
            .map_err(|error| ApiError::internal(&error, "a registered redirect address is not valid"))?;
        let mut query = url.query_pairs_mut();
        query.extend_pairs(parameters);
        if let Some(state) = &self.state {
            query.append_pair("state", state);
        }
        query.append_pair("iss", issuer.as_str());
        drop(query);
        Ok(url.into())
    }
}

/// Checks the query of a client. The user sees what is wrong. The browser does not return to the client, whose address may be
/// the wrong part.
async fn check(
    context: &RequestContext<'_>,
    issuer: &OauthIssuer,
    query: &str,
) -> Result<AuthorizationRequest, ApiError> {
    let refused = |error: OauthError| {
        let text = format!("Bad request of the client: {}: {}", error.code, error.description);
        ApiError::new(ErrorCode::BadRequest, text)
    };
    let parameters = Parameters::parse(query.as_bytes()).map_err(refused)?;
    let id = parameters.require("client_id").map_err(refused)?.to_owned();
    let store = context.state.store.clone();
    let client = run_blocking(move || store.oauth_client(&id)).await?;
    let client = client.map_err(|error| ApiError::internal(&error, "the client could not be read"))?;
    let client = client.ok_or_else(|| {
        refused(OauthError::new(
            "invalid_client",
            "the client is not registered, or was removed: connect again",
        ))
    })?;
    check_parameters(issuer, &parameters, client).map_err(refused)
}

fn check_parameters(
    issuer: &OauthIssuer,
    parameters: &Parameters,
    client: OauthClient,
) -> Result<AuthorizationRequest, OauthError> {
    let invalid = |text: &str| OauthError::new("invalid_request", text);
    let redirect_uri = parameters.require("redirect_uri")?;
    if !redirect_uri::is_registered(&client.redirect_uris, redirect_uri, issuer.redirect_schemes()) {
        return Err(invalid("redirect_uri is not one that the client has registered"));
    }
    if parameters.require("response_type")? != "code" {
        return Err(OauthError::new("unsupported_response_type", "response_type must be code"));
    }
    if parameters.require("code_challenge_method")? != "S256" {
        return Err(invalid("code_challenge_method must be S256"));
    }
    let challenge = parameters.require("code_challenge")?;
    if BASE64URL_NOPAD.decode(challenge.as_bytes()).map(|bytes| bytes.len()) != Ok(CHALLENGE_BYTES) {
        return Err(invalid("code_challenge is not a SHA-256 in base64url"));
    }
    if parameters.get("resource").is_some_and(|resource| !issuer.is_resource(resource)) {
        return Err(OauthError::new("invalid_target", format!("resource must be {}", issuer.resource())));
    }
    let state = parameters.get("state").map(str::to_owned);
    if state.as_ref().is_some_and(|state| state.len() > MAX_STATE_BYTES) {
        return Err(invalid("state is longer than 1024 bytes"));
    }
    let scopes = match parameters.get("scope") {
        // Clients also ask for scopes of other servers, such as `offline_access`.
        Some(scopes) => scopes.split(' ').filter_map(|scope| scope.parse::<KeyScope>().ok()).collect(),
        None => KeyScope::ALL.iter().copied().collect::<BTreeSet<_>>(),
    };
    if scopes.is_empty() {
        return Err(OauthError::new("invalid_scope", "scope has no operation of this service"));
    }
    let (redirect_uri, challenge) = (redirect_uri.to_owned(), challenge.to_owned());
    Ok(AuthorizationRequest { client, redirect_uri, challenge, scopes, state })
}
