//! Stage 3, authenticate: the bearer key to the caller.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use websvc_store::{Caller, Store};
use websvc_types::ErrorCode;

use crate::reply::Failure;

/// Whether callers have to show a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// Every operation needs a key.
    Required,
    /// Nobody is asked: clients send no key, an empty one or `undefined`, and all of that is fine.
    Open,
}

/// Returns who calls; `None` when nobody is asked.
///
/// # Errors
/// 401 when the key is missing, malformed or unknown.
pub(crate) fn authenticate(
    mode: Authentication,
    store: &Store,
    headers: &HeaderMap,
) -> Result<Option<Caller>, Failure> {
    match mode {
        Authentication::Open => return Ok(None),
        Authentication::Required => {}
    }
    let Some(key) = key(headers) else {
        return Err(Failure::new(ErrorCode::Unauthorized, "Unauthorized: Token missing"));
    };
    match store.authenticate(key) {
        Ok(Some(caller)) => Ok(Some(caller)),
        Ok(None) => Err(Failure::new(ErrorCode::Unauthorized, "Unauthorized: Invalid token")),
        Err(error) => Err(Failure::internal(&error, "the keys could not be read")),
    }
}

/// Returns who calls where no key is needed: `None` when nobody is asked or no key is shown.
///
/// # Errors
/// 401 when a key is shown and unknown.
pub(crate) fn recognise(
    mode: Authentication,
    store: &Store,
    headers: &HeaderMap,
) -> Result<Option<Caller>, Failure> {
    if key(headers).is_none() { Ok(None) } else { authenticate(mode, store, headers) }
}

/// Returns the key of the `Authorization: Bearer` header, else of `x-api-key`.
fn key(headers: &HeaderMap) -> Option<&str> {
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
}
