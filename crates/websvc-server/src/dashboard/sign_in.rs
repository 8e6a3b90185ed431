//! Signing in and out.

use std::net::IpAddr;
use std::time::Instant;

use http::header::{CACHE_CONTROL, FORWARDED, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use serde::{Deserialize, Serialize};
use websvc_store::Caller;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::session::{COOKIE_NAME, LIFE, OPEN_TOKEN, csrf_error, has_session, has_token};
use super::{done, read};
use crate::authenticate::{self, Authentication, authenticate, identify};
use crate::authorize::authorise_admin;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignIn {
    key: String,
}

/// Who is signed in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Session<'a> {
    /// Whether a key is asked for at all.
    required: bool,
    /// The team of whoever is signed in.
    team: Option<&'a str>,
    /// What requests have to carry; nobody is signed in without.
    csrf_token: Option<&'a str>,
}

/// `GET /dashboard/session`: who is signed in.
pub(super) fn session(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    if context.authentication == Authentication::Open {
        require_loopback(request.body().peer_addr().ip(), request.uri(), request.headers())?;
        return Ok(private(json(
            StatusCode::OK,
            &Session { required: false, team: None, csrf_token: Some(OPEN_TOKEN) },
        )));
    }
    let address = context.origin.client_ip(request.body().peer_addr().ip(), request.headers());
    let key = context.sessions.key(request.method(), request.headers())?;
    let token = context.sessions.token(request.headers());
    let caller = match key.map(|key| admin(context, &key, address)) {
        Some(Ok(caller)) => Some(caller),
        // A key that is no longer valid is nobody's: that is no failure of whoever asks.
        Some(Err(refused)) if matches!(refused.status(), 401 | 403) => None,
        Some(Err(failed)) => return Err(failed),
        None => None,
    };
    let team = caller.as_ref().map(|caller| caller.team.name.as_str());
    let session = Session { required: true, team, csrf_token: token.as_deref().filter(|_| team.is_some()) };
    Ok(private(json(StatusCode::OK, &session)))
}

/// `POST /dashboard/session`: begins a session for an admin key.
pub(super) async fn sign_in(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let origin = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let address = context.origin.client_ip(request.body().peer_addr().ip(), request.headers());
    let SignIn { key } = read(request).await?;
    let caller = try_key(context, key.trim(), address)?;
    let begun = context.sessions.begin(key.trim())?;
    let session = Session { required: true, team: Some(&caller.team.name), csrf_token: Some(&begun.token) };
    let mut reply = private(json(StatusCode::OK, &session));
    let secure = if origin.is_some_and(|origin| origin.starts_with("https:")) { "; Secure" } else { "" };
    set_cookie(&mut reply, &format!("{}; Max-Age={}{secure}", begun.cookie, LIFE.as_secs()));
    Ok(reply)
}

/// `DELETE /dashboard/session`.
pub(super) fn sign_out(context: &RequestContext<'_>, request: &Request<ServerBody>) -> HttpResponse {
    context.sessions.end(request.headers());
    let mut reply = private(done());
    set_cookie(&mut reply, "; Max-Age=0");
    reply
}

/// Lets whoever sits before this machine administer it, where no key is asked for.
///
/// # Errors
/// 403 for everybody else, and for what another page may have sent.
pub(crate) fn admit_without_key(request: &Request<ServerBody>) -> Result<(), ApiError> {
    require_loopback(request.body().peer_addr().ip(), request.uri(), request.headers())?;
    // A browser asks before it sends this header for another page, and is told no.
    if request.method().is_safe() || has_token(request.headers(), OPEN_TOKEN) {
        Ok(())
    } else {
        Err(csrf_error())
    }
}

/// Returns who administers by the key of a request, `None` where nobody is asked for one.
///
/// # Errors
/// 401 and 403 for everybody else, 429 after too many wrong keys.
pub(crate) fn administrator(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<Option<Caller>, ApiError> {
    if context.authentication == Authentication::Open {
        return Ok(None);
    }
    let address = context.origin.client_ip(request.body().peer_addr().ip(), request.headers());
    match authenticate::key(request.headers()) {
        // Whoever has a session has shown the right key before; wrong ones of others at the address are not held against it.
        Some(key) if has_session(request) => admin(context, key, address).map(Some),
        Some(key) => try_key(context, key, address).map(Some),
        None => {
            authenticate(context.authentication, context.store, request.headers(), address, context.trail)
        }
    }
}

/// Returns the administrator with a key that somebody shows; wrong ones are counted.
fn try_key(context: &RequestContext<'_>, key: &str, address: IpAddr) -> Result<Caller, ApiError> {
    context.attempts.admit(address, key, Instant::now())?;
    let found = admin(context, key, address);
    if found.as_ref().is_err_and(|refused| refused.status() == 401) {
        context.attempts.record(address, key, Instant::now());
    }
    found
}

/// Returns the administrator with this key.
fn admin(context: &RequestContext<'_>, key: &str, address: IpAddr) -> Result<Caller, ApiError> {
    let caller = identify(context.store, key, address, context.trail)?;
    authorise_admin(&caller)?;
    Ok(caller)
}

fn set_cookie(reply: &mut HttpResponse, value: &str) {
    let cookie = format!("{COOKIE_NAME}={value}; Path=/; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        reply.headers_mut().insert(SET_COOKIE, cookie);
    }
}

fn private(mut reply: HttpResponse) -> HttpResponse {
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// Refuses whoever is not on this machine: where no key is asked for, the page is for those who sit before it. The
/// name that was asked for counts too: a page elsewhere could give its own name our address.
///
/// # Errors
/// 403 for everybody else.
pub(super) fn require_loopback(peer: IpAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let host = uri.host().map(str::to_owned).or_else(|| {
        let authority: http::uri::Authority = headers.get(HOST)?.to_str().ok()?.parse().ok()?;
        Some(authority.host().to_owned())
    });
    let named_here = host.is_some_and(|host| {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    });
    let led_here = headers.contains_key(FORWARDED) || headers.contains_key("x-forwarded-for");
    if peer.to_canonical().is_loopback() && named_here && !led_here {
        return Ok(());
    }
    let text = "Forbidden: without keys ([auth] required = false) the dashboard is for this machine only, at \
                http://localhost or http://127.0.0.1";
    Err(ApiError::new(ErrorCode::Forbidden, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_keys_only_this_machine_is_let_in_and_only_by_its_own_name() {
        let check = |peer: &str, host: &str, forwarded: bool, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            if forwarded {
                headers.insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
            }
            let allowed =
                require_loopback(peer.parse().unwrap(), &"/dashboard/keys".parse().unwrap(), &headers);
            assert_eq!(allowed.is_ok(), expected, "{peer} {host} {forwarded}");
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
