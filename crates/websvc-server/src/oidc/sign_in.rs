//! Sign-in to the dashboard by the authorization code flow with a proof (OpenID Connect Core, section 3.1; RFC 7636).
//!
//! No request chooses where the browser goes: to the endpoint of the provider, and back to the page. A failure is shown by the
//! page, from a code in its address, so that the text of another page is never on it; the log has the reason.

use std::time::Instant;

use http::header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use url::Url;
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;

use super::bearer::no_team;
use super::claims::{Identity, Purpose};
use super::config::SignInConfig;
use super::exchange::{CodeProof, exchange};
use super::flow::{Flow, removed_cookie};
use super::refusal::TokenRefusal;
use super::token::shown;
use super::{Oidc, provider};
use crate::authenticate::find_caller;
use crate::blocking::run_blocking;
use crate::dashboard::session::NewSession;
use crate::dashboard::{SESSION_TTL, session_cookie};
use crate::oauth::Parameters;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// Maximum length of the query with which the browser returns, in bytes. Codes of some providers have two kilobytes.
const MAX_QUERY_BYTES: usize = 8192;
/// The text that stands for a wrong key in the limit of failures by address.
const LIMITED_AS: &str = "oidc-callback";

/// The kind of a failure, for the page, and its reason, for the log.
#[derive(Debug)]
struct SignInFailure {
    code: &'static str,
    reason: String,
}

/// The browser has another sign-in, or none.
const EXPIRED: &str = "expired";
/// The provider or the user has refused.
const DENIED: &str = "denied";
/// The provider does not respond as it should.
const PROVIDER: &str = "provider";
/// The ID token proves nothing.
const TOKEN: &str = "token";
/// The user may not administer, or has no team.
const RIGHTS: &str = "rights";

fn failure(code: &'static str, reason: impl Into<String>) -> SignInFailure {
    SignInFailure { code, reason: reason.into() }
}

impl From<provider::ProviderError> for SignInFailure {
    fn from(error: provider::ProviderError) -> Self {
        failure(PROVIDER, error.to_string())
    }
}

impl From<TokenRefusal> for SignInFailure {
    fn from(refusal: TokenRefusal) -> Self {
        let code = match refusal {
            TokenRefusal::Invalid(_) => TOKEN,
            TokenRefusal::Forbidden(_) => RIGHTS,
            TokenRefusal::Unavailable(_) => PROVIDER,
        };
        failure(code, refusal.reason())
    }
}

/// `GET /dashboard/oidc/start`: sends the browser to the provider. Parameters are ignored.
pub(super) async fn start(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let (oidc, config) = configured(context)?;
    let flow = Flow::start(context.state.store.now_ms())?;
    let location = match authorization_url(oidc, config, &flow).await {
        Ok(url) => url,
        Err(failed) => return Ok(failed.into_response()),
    };
    let mut response = see_other(location.as_str())?;
    add_cookie(response.headers_mut(), &flow.cookie(is_secure(config)));
    Ok(response)
}

/// `GET /dashboard/oidc/callback`: the browser returns from the provider. Starts a session, or shows why not.
pub(super) async fn callback(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let (oidc, config) = configured(context)?;
    let (state, now) = (context.state, Instant::now());
    let address = state.client_ip(&request);
    state.sign_in_limiter.admit(address, LIMITED_AS, now)?;
    let identity = match returned_identity(context, oidc, config, &request).await {
        Ok(identity) => start_session(context, config, identity).await?,
        Err(failed) => Err(failed),
    };
    let mut response = match identity {
        Ok(response) => response,
        Err(failed) => {
            state.sign_in_limiter.record(address, LIMITED_AS, now);
            failed.into_response()
        }
    };
    add_cookie(response.headers_mut(), &removed_cookie(is_secure(config)));
    Ok(response)
}

/// Returns the provider, and the service as its client.
///
/// # Errors
/// 404 if users cannot sign in by a provider.
fn configured<'a>(context: &RequestContext<'a>) -> Result<(&'a Oidc, &'a SignInConfig), ApiError> {
    let oidc = context.state.oidc.as_ref();
    oidc.and_then(|oidc| Some((oidc, oidc.sign_in()?))).ok_or_else(|| {
        let text = "Not found: sign-in by an identity provider is off (auth.oidc.client_id)";
        ApiError::new(ErrorCode::NotFound, text)
    })
}

fn is_secure(config: &SignInConfig) -> bool {
    config.public_url.scheme() == "https"
}

fn redirect_uri(config: &SignInConfig) -> String {
    format!("{}dashboard/oidc/callback", config.public_url)
}

/// Returns the URL of the provider with the request of a sign-in.
async fn authorization_url(oidc: &Oidc, config: &SignInConfig, flow: &Flow) -> Result<Url, SignInFailure> {
    let documents = oidc.0.provider.documents(|_| true).await?;
    let endpoint = documents.metadata.authorization_endpoint.clone();
    let mut url = endpoint.ok_or_else(|| failure(PROVIDER, "the provider has no authorization endpoint"))?;
    url.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", config.client_id.as_str()),
        ("redirect_uri", &redirect_uri(config)),
        ("scope", &config.scopes.join(" ")),
        ("state", &flow.state()),
        ("nonce", &flow.nonce()),
        ("code_challenge", &flow.challenge()),
        ("code_challenge_method", "S256"),
    ]);
    Ok(url)
}

/// Returns the identity that the provider proves with the code in a request.
async fn returned_identity(
    context: &RequestContext<'_>,
    oidc: &Oidc,
    config: &SignInConfig,
    request: &Request<ServerBody>,
) -> Result<Identity, SignInFailure> {
    let now_ms = context.state.store.now_ms();
    let query = request.uri().query().unwrap_or_default();
    if query.len() > MAX_QUERY_BYTES {
        return Err(failure(PROVIDER, format!("the query is longer than {MAX_QUERY_BYTES} bytes")));
    }
    let parameters =
        Parameters::parse(query.as_bytes()).map_err(|error| failure(PROVIDER, error.description()))?;
    let flow = Flow::of_browser(request.headers(), is_secure(config), now_ms).ok_or_else(|| {
        failure(EXPIRED, "the browser has not started a sign-in, or more than ten minutes ago")
    })?;
    if !parameters.get("state").is_some_and(|state| flow.has_state(state)) {
        return Err(failure(EXPIRED, "the state is not that of the sign-in of this browser"));
    }
    if !oidc.0.used_flows.use_once(&flow, Instant::now()) {
        return Err(failure(EXPIRED, "the sign-in was used before"));
    }
    let documents = oidc.0.provider.documents(|_| true).await?;
    let has_issuer = documents.metadata.authorization_response_iss_parameter_supported;
    check_sender(parameters.get("iss"), &oidc.0.issuer, has_issuer)?;
    if let Some(error) = parameters.get("error") {
        return Err(failure(DENIED, format!("the provider returned {}", shown(error))));
    }
    let code = parameters.get("code").ok_or_else(|| failure(PROVIDER, "the provider returned no code"))?;
    let (redirect_uri, verifier) = (redirect_uri(config), flow.verifier());
    let proof = CodeProof { code, redirect_uri: &redirect_uri, verifier: &verifier };
    let token = exchange(&oidc.0.provider, &documents, config, proof).await;
    let token = token.map_err(|reason| failure(PROVIDER, reason))?;
    let nonce = flow.nonce();
    let purpose = Purpose::SignIn { client_id: &config.client_id, nonce: &nonce };
    Ok(oidc.identify(&token, purpose, now_ms).await?)
}

/// Checks that the configured provider has sent the browser back, and not another one (RFC 9207).
fn check_sender(issuer: Option<&str>, expected: &str, must_be_present: bool) -> Result<(), SignInFailure> {
    match issuer {
        Some(issuer) if issuer == expected => Ok(()),
        Some(other) => Err(failure(PROVIDER, format!("the response is that of the issuer {}", shown(other)))),
        None if must_be_present => {
            Err(failure(PROVIDER, "the response has no issuer, but the provider sends it"))
        }
        None => Ok(()),
    }
}

/// Starts a session of a user, whose key is deleted with it.
async fn start_session(
    context: &RequestContext<'_>,
    config: &SignInConfig,
    identity: Identity,
) -> Result<Result<HttpResponse, SignInFailure>, ApiError> {
    let Identity { subject, name, team, rights } = identity;
    if !rights.admin {
        let reason = format!("no group of the user {} ({}) has admin", shown(&name), shown(&subject));
        return Ok(Err(failure(RIGHTS, reason)));
    }
    let (state, label) = (context.state, format!("{name} (sign-in)"));
    let (store, key_team) = (state.store.clone(), team.clone());
    let valid_ms = u64::try_from(SESSION_TTL.as_millis()).unwrap_or(u64::MAX);
    let created =
        run_blocking(move || store.create_sign_in_key(&key_team, &label, &rights, valid_ms)).await?;
    let key = match created {
        Ok(Some(key)) => key,
        Ok(None) | Err(websvc_store::StoreError::InvalidName { .. }) => {
            return Ok(Err(no_team(&team).into()));
        }
        Err(error) => return Err(ApiError::internal(&error, "the key of the session could not be created")),
    };
    // For the audit event.
    if let Some(caller) = find_caller(&state.store, key.secret.expose()).await? {
        context.trail.set_caller(&caller);
        context.trail.set_target(|| format!("user {name} of the identity provider"));
    }
    let NewSession { cookie, token: _ } = state.sessions.start(key.secret.expose()).await?;
    let mut response = see_other("/")?;
    add_cookie(response.headers_mut(), &session_cookie(&cookie, is_secure(config)));
    Ok(Ok(response))
}

impl SignInFailure {
    /// Logs the reason, and sends the browser to the page, which shows the kind.
    fn into_response(self) -> HttpResponse {
        let Self { code, reason } = self;
        tracing::warn!(code, reason, "a sign-in by the identity provider failed");
        match see_other(&format!("/#/sign-in-error/{code}")) {
            Ok(response) => response,
            Err(error) => error.into_response(),
        }
    }
}

/// Returns a redirect that no cache stores, and whose address is not sent on: it may have a code.
fn see_other(location: &str) -> Result<HttpResponse, ApiError> {
    let location = HeaderValue::from_str(location)
        .map_err(|error| ApiError::internal(&error, "the address of the provider cannot be sent"))?;
    let mut response = HttpResponse::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

fn add_cookie(headers: &mut HeaderMap, cookie: &str) {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        headers.append(SET_COOKIE, cookie);
    }
}
