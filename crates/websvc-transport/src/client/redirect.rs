//! Builds the next request of a redirect chain.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use http::{Method, StatusCode};
use url::Url;

use super::headers::drop_credentials;
use crate::error::FetchError;

/// One request of a redirect chain.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

/// Returns the target of a redirect, `None` for other responses.
pub(super) fn redirect_target(
    url: &Url,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Url>, FetchError> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else { return Ok(None) };
    let invalid = |error: url::ParseError| FetchError::BadUrl {
        reason: format!("redirect to an invalid URL: {error}"),
    };
    let mut next = url.join(&location_text(location)).map_err(invalid)?;
    if next.fragment().is_none() {
        next.set_fragment(url.fragment());
    }
    Ok(Some(next))
}

/// Decodes a `Location` header: servers send UTF-8 where only ASCII is allowed, older ones Latin-1.
fn location_text(location: &HeaderValue) -> String {
    match std::str::from_utf8(location.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => location.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
    }
}

impl Hop {
    /// Changes this request into the request for the target of a redirect (fetch standard, section "HTTP-redirect
    /// fetch").
    pub(super) fn follow(&mut self, status: StatusCode, next: Url) {
        let becomes_get = match status.as_u16() {
            301 | 302 => self.method == Method::POST,
            303 => self.method != Method::GET && self.method != Method::HEAD,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = None;
            for name in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE] {
                self.headers.remove(name);
            }
        }
        if next.origin() != self.url.origin() {
            drop_credentials(&mut self.headers);
        }
        self.url = next;
    }
}
