//! Stage 3, authenticate: finds the caller of a bearer key, or of a token of an identity provider.

use std::borrow::Cow;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio::sync::Semaphore;
use websvc_store::{Caller, KEY_PREFIX, KeyLookup, Store, StoreError};
use websvc_transport::IpNetwork;
use websvc_types::ErrorCode;

use crate::audit_trail::AuditTrail;
use crate::blocking::run_blocking;
use crate::oidc::{Oidc, find_token_caller, has_form_of_token};
use crate::response::ApiError;

/// The lookups of keys on a database server that run at the same time.
static LOOKUPS: Semaphore = Semaphore::const_new(4);

/// The rule for requests without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// Every operation needs a key.
    Required,
    /// No operation needs a key. Keys are not checked: some clients send an empty one or `undefined`.
    Open,
}

/// The means by which callers prove who they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Authenticator<'a> {
    pub(crate) mode: Authentication,
    /// The keys.
    pub(crate) store: &'a Store,
    /// The provider of tokens, if there is one.
    pub(crate) oidc: Option<&'a Oidc>,
}

impl Authenticator<'_> {
    /// Returns the caller with this key or token; `None` if it is a key that is not valid.
    ///
    /// # Errors
    /// As for [`find_caller`], and for tokens those of [`find_token_caller`].
    pub(crate) async fn find_caller(self, bearer: &str) -> Result<Option<Caller>, ApiError> {
        match self.oidc.filter(|_| has_form_of_token(bearer)) {
            Some(oidc) => find_token_caller(oidc, self.store, bearer).await.map(Some),
            None => find_caller(self.store, bearer).await,
        }
    }
}

/// Returns the caller of a request from `address`; `None` without authentication.
///
/// # Errors
/// 401 if the key is missing, malformed, unknown or no longer valid, with the same text except if it is missing; 403 if
/// the key may not be used from this address. For tokens also those of [`find_token_caller`].
pub(crate) async fn authenticate(
    authenticator: Authenticator<'_>,
    headers: &HeaderMap,
    address: IpAddr,
    trail: &AuditTrail,
) -> Result<Option<Caller>, ApiError> {
    match authenticator.mode {
        Authentication::Open => return Ok(None),
        Authentication::Required => {}
    }
    let Some(key) = key(headers) else {
        return Err(ApiError::new(ErrorCode::Unauthorized, "Unauthorized: Token missing"));
    };
    identify(authenticator, &key, address, trail).await.map(Some)
}

/// Returns the caller with this key. Records the caller in the audit trail, even if the key may not be used from this
/// address.
///
/// # Errors
/// As for [`authenticate`].
pub(crate) async fn identify(
    authenticator: Authenticator<'_>,
    key: &str,
    address: IpAddr,
    trail: &AuditTrail,
) -> Result<Caller, ApiError> {
    let caller = authenticator.find_caller(key).await?;
    let Some(caller) = caller else {
        return Err(ApiError::new(ErrorCode::Unauthorized, "Unauthorized: Invalid token"));
    };
    trail.set_caller(&caller);
    if !is_allowed(&caller.rights.networks, address) {
        let text = format!("Forbidden: the key may not be used from {address}");
        return Err(ApiError::new(ErrorCode::Forbidden, text));
    }
    Ok(caller)
}

/// Returns the caller of a public operation; `None` without authentication or without a key.
///
/// # Errors
/// As for [`authenticate`], if the request has a key.
pub(crate) async fn authenticate_optional(
    authenticator: Authenticator<'_>,
    headers: &HeaderMap,
    address: IpAddr,
    trail: &AuditTrail,
) -> Result<Option<Caller>, ApiError> {
    if key(headers).is_none() {
        return Ok(None);
    }
    authenticate(authenticator, headers, address, trail).await
}

/// Returns the caller with this key; `None` if the key is not valid. Waits for a server only on another thread.
///
/// # Errors
/// 500 or 503 if the keys cannot be read.
pub(crate) async fn find_caller(store: &Store, key: &str) -> Result<Option<Caller>, ApiError> {
    let unreadable = |error: StoreError| ApiError::internal(&error, "the keys could not be read");
    if let KeyLookup::Known(caller) = store.try_authenticate(key).map_err(unreadable)? {
        return Ok(caller.map(|caller| *caller));
    }
    let (store, key) = (store.clone(), key.to_owned());
    // Requests with wrong keys must not occupy all threads. A closed semaphore would not limit them, but it never closes.
    let _permit = LOOKUPS.acquire().await.ok();
    run_blocking(move || store.authenticate(&key)).await?.map_err(unreadable)
}

/// Returns whether an address is in one of the networks of a key. A key without networks may be used from everywhere. A
/// network that cannot be parsed contains no address.
fn is_allowed(networks: &[String], address: IpAddr) -> bool {
    let contains = |text: &String| text.parse().is_ok_and(|network: IpNetwork| network.contains(address));
    networks.is_empty() || networks.iter().any(contains)
}

/// Returns the key in the `Authorization: Bearer` header, or else in `x-api-key`, or else the password of
/// `Authorization: Basic`, which clients send for an address such as `https://user:KEY@search.example/`.
///
/// A password without the prefix of generated keys is one for a proxy in front of the service.
pub(crate) fn key(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let authorization = || headers.get(AUTHORIZATION)?.to_str().ok();
    let bearer = authorization().and_then(|value| token_of("bearer", value));
    let key = bearer.or_else(|| headers.get("x-api-key")?.to_str().ok().map(str::trim));
    match key.filter(|key| !key.is_empty()) {
        Some(key) => Some(Cow::Borrowed(key)),
        None => password(token_of("basic", authorization()?)?).map(Cow::Owned),
    }
}

/// Returns the token of a header with this scheme. Schemes are not case-sensitive (RFC 9110, section 11.1).
fn token_of<'a>(expected: &str, value: &'a str) -> Option<&'a str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case(expected).then_some(token.trim())
}

/// Returns the password of basic credentials, if it looks like a key.
fn password(credentials: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(credentials).ok()?).ok()?;
    let (_user, password) = text.split_once(':')?;
    password.starts_with(KEY_PREFIX).then(|| password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &'static str, value: &str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        assert_eq!(key(&headers).as_deref(), expected, "{name}: {value}");
    }

    #[test]
    fn key_is_read_from_either_header() {
        check("authorization", "Bearer fc-1", Some("fc-1"));
        check("authorization", "bearer  fc-1 ", Some("fc-1"));
        check("x-api-key", "fc-1", Some("fc-1"));
        // me:fc-1, and fc-1 without a user.
        check("authorization", "Basic bWU6ZmMtMQ==", Some("fc-1"));
        check("authorization", "basic OmZjLTE=", Some("fc-1"));
    }

    #[test]
    fn header_without_a_bearer_key_counts_as_missing() {
        check("authorization", "Bearer", None);
        check("authorization", "Bearer ", None);
        check("authorization", "Basic fc-1", None);
        // me:secret, for a proxy.
        check("authorization", "Basic bWU6c2VjcmV0", None);
        check("x-api-key", " ", None);
    }

    #[track_caller]
    fn check_network(networks: &[&str], address: &str, expected: bool) {
        let networks: Vec<String> = networks.iter().map(|network| (*network).to_owned()).collect();
        assert_eq!(is_allowed(&networks, address.parse().unwrap()), expected, "{networks:?} {address}");
    }

    #[test]
    fn key_with_networks_is_allowed_only_from_them() {
        check_network(&[], "192.0.2.1", true);
        check_network(&["192.0.2.0/24"], "192.0.2.1", true);
        check_network(&["192.0.2.0/24"], "198.51.100.1", false);
        check_network(&["198.51.100.1", "2001:db8::/32"], "2001:db8::1", true);
        check_network(&["0.0.0.0/0"], "2001:db8::1", false);
    }

    #[test]
    fn invalid_network_allows_no_address() {
        check_network(&["everywhere"], "192.0.2.1", false);
        check_network(&["192.0.2.1/24"], "192.0.2.1", false);
    }
}
