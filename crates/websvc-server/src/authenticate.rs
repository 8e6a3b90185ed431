//! Stage 3, authenticate: the bearer key to the caller.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use websvc_store::{Caller, Store};
use websvc_transport::IpNetwork;
use websvc_types::ErrorCode;

use crate::audit_trail::AuditTrail;
use crate::response::ApiError;

/// Whether callers have to show a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// Every operation needs a key.
    Required,
    /// Nobody is asked: clients send no key, an empty one or `undefined`, and all of that is fine.
    Open,
}

/// Returns who calls from `address`; `None` when nobody is asked.
///
/// # Errors
/// 401 when the key is missing, malformed, unknown or no longer valid, all but the first in the same words; 403 when it
/// may not be used from there.
pub(crate) fn authenticate(
    mode: Authentication,
    store: &Store,
    headers: &HeaderMap,
    address: IpAddr,
    trail: &AuditTrail,
) -> Result<Option<Caller>, ApiError> {
    match mode {
        Authentication::Open => return Ok(None),
        Authentication::Required => {}
    }
    let Some(key) = key(headers) else {
        return Err(ApiError::new(ErrorCode::Unauthorized, "Unauthorized: Token missing"));
    };
    identify(store, key, address, trail).map(Some)
}

/// Returns whose key this is, and notes it whether it may be used or not.
///
/// # Errors
/// As for [`authenticate`].
pub(crate) fn identify(
    store: &Store,
    key: &str,
    address: IpAddr,
    trail: &AuditTrail,
) -> Result<Caller, ApiError> {
    let found = store.authenticate(key);
    if let Ok(Some(caller)) = &found {
        trail.set_caller(caller);
    }
    match found {
        Ok(Some(caller)) if is_from(&caller.rights.networks, address) => Ok(caller),
        Ok(Some(_)) => {
            let text = format!("Forbidden: the key may not be used from {address}");
            Err(ApiError::new(ErrorCode::Forbidden, text))
        }
        Ok(None) => Err(ApiError::new(ErrorCode::Unauthorized, "Unauthorized: Invalid token")),
        Err(error) => Err(ApiError::internal(&error, "the keys could not be read")),
    }
}

/// Returns who calls where no key is needed: `None` when nobody is asked or no key is shown.
///
/// # Errors
/// As for [`authenticate`], when a key is shown.
pub(crate) fn authenticate_optional(
    mode: Authentication,
    store: &Store,
    headers: &HeaderMap,
    address: IpAddr,
    trail: &AuditTrail,
) -> Result<Option<Caller>, ApiError> {
    if key(headers).is_none() { Ok(None) } else { authenticate(mode, store, headers, address, trail) }
}

/// Tells whether an address is in one of the networks of a key; no networks are all. What cannot be read is none.
fn is_from(networks: &[String], address: IpAddr) -> bool {
    let contains = |text: &String| text.parse().is_ok_and(|network: IpNetwork| network.contains(address));
    networks.is_empty() || networks.iter().any(contains)
}

/// Returns the key of the `Authorization: Bearer` header, else of `x-api-key`.
pub(crate) fn key(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| bearer(value.to_str().ok()?));
    let key = bearer.or_else(|| headers.get("x-api-key")?.to_str().ok().map(str::trim));
    key.filter(|key| !key.is_empty())
}

/// Returns the token of a bearer header; the scheme's case does not count (RFC 9110, section 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &'static str, value: &str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        assert_eq!(key(&headers), expected, "{name}: {value}");
    }

    #[test]
    fn a_key_is_taken_from_either_header() {
        check("authorization", "Bearer fc-1", Some("fc-1"));
        check("authorization", "bearer  fc-1 ", Some("fc-1"));
        check("x-api-key", "fc-1", Some("fc-1"));
    }

    #[test]
    fn what_is_no_bearer_key_is_missing() {
        check("authorization", "Bearer", None);
        check("authorization", "Bearer ", None);
        check("authorization", "Basic fc-1", None);
        check("x-api-key", " ", None);
    }

    #[track_caller]
    fn check_network(networks: &[&str], address: &str, expected: bool) {
        let networks: Vec<String> = networks.iter().map(|network| (*network).to_owned()).collect();
        assert_eq!(is_from(&networks, address.parse().unwrap()), expected, "{networks:?} {address}");
    }

    #[test]
    fn a_key_is_used_from_its_networks_alone() {
        check_network(&[], "192.0.2.1", true);
        check_network(&["192.0.2.0/24"], "192.0.2.1", true);
        check_network(&["192.0.2.0/24"], "198.51.100.1", false);
        check_network(&["198.51.100.1", "2001:db8::/32"], "2001:db8::1", true);
        check_network(&["0.0.0.0/0"], "2001:db8::1", false);
    }

    #[test]
    fn what_cannot_be_read_lets_nobody_in() {
        check_network(&["everywhere"], "192.0.2.1", false);
        check_network(&["192.0.2.1/24"], "192.0.2.1", false);
    }
}
