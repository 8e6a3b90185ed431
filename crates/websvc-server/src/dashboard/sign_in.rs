//! Signing in and out.

use std::net::IpAddr;
use std::time::Instant;

use http::header::{CACHE_CONTROL, FORWARDED, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use serde::{Deserialize, Serialize};
use websvc_store::Caller;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::session::{COOKIE_NAME, NewSession, OPEN_TOKEN, csrf_error, has_session, has_token};
use super::session_store::SESSION_TTL;
use super::{read, run_on_store, success};
use crate::authenticate::{self, Authentication, authenticate, identify};
use crate::authorize::authorize_admin;
use crate::oidc::Oidc;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The secret of a user who signs in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum SignIn {
    /// An admin key.
    Key(String),
    /// The token of a [link](super::SignInLinks).
    Link(String),
}

/// The state of a session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Session<'a> {
    /// The dashboard requires a key.
    required: bool,
    /// The team of the user who is signed in.
    team: Option<&'a str>,
    /// The token for requests that change something; `None` if no user is signed in.
    csrf_token: Option<&'a str>,
    /// The name of the identity provider by which users can sign in.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a str>,
}

/// `GET /dashboard/session`: the state of the session.
pub(super) async fn session(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    if context.state.authentication == Authentication::Open {
        require_loopback(request.body().peer_addr().ip(), request.uri(), request.headers())?;
        return Ok(uncached(json(
            StatusCode::OK,
            &Session { required: false, team: None, csrf_token: Some(OPEN_TOKEN), provider: None },
        )));
    }
    let address = context.state.client_ip(request);
    let found = context.state.sessions.find(request.headers()).await?;
    let admin = match &found {
        Some(session) => Some(find_admin(context, &session.key, address).await),
        None => None,
    };
    let caller = match admin {
        Some(Ok(caller)) => Some(caller),
        // A session whose key is no longer valid counts as none.
        Some(Err(error)) if matches!(error.status(), 401 | 403) => None,
        Some(Err(error)) => return Err(error),
        None => None,
    };
    let team = caller.as_ref().map(|caller| caller.team.name.as_str());
    let token = found.as_ref().map(|session| session.token.as_str());
    let sign_in = context.state.oidc.as_ref().and_then(Oidc::sign_in);
    let provider = sign_in.map(|sign_in| sign_in.name.as_str());
    let session = Session { required: true, team, csrf_token: token.filter(|_| team.is_some()), provider };
    Ok(uncached(json(StatusCode::OK, &session)))
}

/// `POST /dashboard/session`: starts a session for an admin key, or for a link that signs in once.
pub(super) async fn sign_in(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let address = context.state.client_ip(&request);
    let key = match read(request)? {
        SignIn::Key(key) => key.trim().to_owned(),
        SignIn::Link(token) => key_of_link(context, &token, address)?,
    };
    let caller = try_key(context, &key, address).await?;
    let NewSession { cookie, token } = context.state.sessions.start(&key).await?;
    let team = Some(caller.team.name.as_str());
    let session = Session { required: true, team, csrf_token: Some(&token), provider: None };
    let mut response = uncached(json(StatusCode::OK, &session));
    let is_secure = base_url.is_some_and(|url| url.starts_with("https:"));
    set_cookie(&mut response, &session_cookie(&cookie, is_secure));
    Ok(response)
}

/// Returns the key of a link that signs in once.
///
/// # Errors
/// 401 for unknown, used and expired links, 429 after too many of them.
fn key_of_link(context: &RequestContext<'_>, token: &str, address: IpAddr) -> Result<String, ApiError> {
    let now = Instant::now();
    context.state.sign_in_limiter.admit(address, token, now)?;
    context.state.sign_in_links.take(token, now).ok_or_else(|| {
        context.state.sign_in_limiter.record(address, token, now);
        let text = "Unauthorized: this link was used or is older than ten minutes, sign in with an admin key";
        ApiError::new(ErrorCode::Unauthorized, text)
    })
}

/// `DELETE /dashboard/session`: ends the session.
///
/// # Errors
/// 503 or 500 if the session may continue, because the database cannot be written.
pub(super) async fn sign_out(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let session = context.state.sessions.find(request.headers()).await?;
    context.state.sessions.end(request.headers()).await?;
    // The key of a user of an identity provider is for this session only.
    if let Some(session) = session {
        let store = context.state.store.clone();
        run_on_store(move || store.delete_sign_in_key(&session.key)).await?;
    }
    let mut response = uncached(success());
    set_cookie(&mut response, &cookie_header("; Max-Age=0"));
    Ok(response)
}

/// Authenticates an administrator; `None` without authentication, if the request comes from this machine.
///
/// # Errors
/// 401 and 403 for all other requests, 429 after too many wrong keys.
pub(crate) async fn authenticate_admin(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<Option<Caller>, ApiError> {
    let state = context.state;
    if state.authentication == Authentication::Open {
        return check_local_request(request).map(|()| None);
    }
    let address = state.client_ip(request);
    match authenticate::key(request.headers()) {
        // The limit of wrong keys does not apply: the user of a session has sent the correct key before.
        Some(key) if has_session(request) => find_admin(context, &key, address).await.map(Some),
        Some(key) => try_key(context, &key, address).await.map(Some),
        None => authenticate(state.authenticator(), request.headers(), address, context.trail).await,
    }
}

/// Allows a request without authentication if a user of this machine has sent it.
///
/// # Errors
/// 403 for requests from other machines, and for those that another page may have sent.
fn check_local_request(request: &Request<ServerBody>) -> Result<(), ApiError> {
    require_loopback(request.body().peer_addr().ip(), request.uri(), request.headers())?;
    // Before a browser sends this header for another page, it sends a preflight request, which is rejected.
    if request.method().is_safe() || has_token(request.headers(), OPEN_TOKEN) {
        Ok(())
    } else {
        Err(csrf_error())
    }
}

/// Returns the administrator with this key; wrong keys are limited.
async fn try_key(context: &RequestContext<'_>, key: &str, address: IpAddr) -> Result<Caller, ApiError> {
    context.state.sign_in_limiter.admit(address, key, Instant::now())?;
    let admin = find_admin(context, key, address).await;
    if admin.as_ref().is_err_and(|error| error.status() == 401) {
        context.state.sign_in_limiter.record(address, key, Instant::now());
    }
    admin
}

/// Returns the administrator with this key.
async fn find_admin(context: &RequestContext<'_>, key: &str, address: IpAddr) -> Result<Caller, ApiError> {
    let caller = identify(context.state.authenticator(), key, address, context.trail).await?;
    authorize_admin(&caller)?;
    Ok(caller)
}

/// Returns the header with the cookie of a new session.
pub(crate) fn session_cookie(cookie: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    cookie_header(&format!("{cookie}; Max-Age={}{secure}", SESSION_TTL.as_secs()))
}

fn cookie_header(value: &str) -> String {
    format!("{COOKIE_NAME}={value}; Path=/; HttpOnly; SameSite=Strict")
}

fn set_cookie(response: &mut HttpResponse, cookie: &str) {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
}

/// Forbids caches to store a response.
fn uncached(mut response: HttpResponse) -> HttpResponse {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Rejects requests from other machines: without authentication, the dashboard is only for users of this machine. The
/// requested host is checked, too: a page could resolve its own host name to this address (DNS rebinding).
///
/// # Errors
/// 403
fn require_loopback(peer: IpAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let host = uri.host().map(str::to_owned).or_else(|| {
        let authority: http::uri::Authority = headers.get(HOST)?.to_str().ok()?.parse().ok()?;
        Some(authority.host().to_owned())
    });
    let is_local_host = host.is_some_and(|host| {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    });
    let is_forwarded = headers.contains_key(FORWARDED) || headers.contains_key("x-forwarded-for");
    if peer.to_canonical().is_loopback() && is_local_host && !is_forwarded {
        return Ok(());
    }
    let text = "Forbidden: without keys ([auth] required = false) the dashboard is available only on this machine, at \
                http://localhost or http://127.0.0.1";
    Err(ApiError::new(ErrorCode::Forbidden, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_peers_with_a_loopback_host_are_allowed() {
        let check = |peer: &str, host: &str, is_forwarded: bool, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            if is_forwarded {
                headers.insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
            }
            let result =
                require_loopback(peer.parse().unwrap(), &"/dashboard/keys".parse().unwrap(), &headers);
            assert_eq!(result.is_ok(), expected, "{peer} {host} {is_forwarded}");
        };
        check("127.0.0.1", "127.0.0.1:3002", false, true);
        check("127.0.0.1", "localhost:3002", false, true);
        check("::1", "[::1]:3002", false, true);
        check("::ffff:127.0.0.1", "LOCALHOST", false, true);
        check("10.0.0.7", "127.0.0.1:3002", false, false);
        check("127.0.0.1", "rebound.test:3002", false, false);
        check("127.0.0.1", "127.0.0.1.rebound.test", false, false);
        check("127.0.0.1", "localhost:3002", true, false);
    }
}
