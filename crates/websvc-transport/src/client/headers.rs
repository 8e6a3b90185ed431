//! Which headers a caller may not set, and which must not follow a redirect to another origin.

use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::error::FetchError;

/// Framing and routing belong to the client; the others unlock cloud metadata services.
const FORBIDDEN: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "metadata",
    "metadata-flavor",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-google-metadata-request",
];

const FORBIDDEN_PREFIXES: &[&str] = &["proxy-", "x-aws-ec2-metadata-"];

/// Tells whether a fetch refuses a header given by its caller.
#[must_use]
pub fn is_forbidden_header(name: &HeaderName) -> bool {
    let name = name.as_str();
    FORBIDDEN.contains(&name) || FORBIDDEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

pub(super) fn check(headers: &HeaderMap) -> Result<(), FetchError> {
    match headers.keys().find(|name| is_forbidden_header(name)) {
        Some(name) => Err(FetchError::ForbiddenHeader { name: name.clone() }),
        None => Ok(()),
    }
}

/// Removes what was meant for the origin that redirected.
pub(super) fn drop_credentials(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    headers.remove(COOKIE);
}

/// Moves the user and password of a URL into an `Authorization` header, unless there is one: they are not part of
/// what is requested, and must not show up in what is reported.
///
/// Returns whether the URL had any.
pub(super) fn take_credentials(url: &mut Url, headers: &mut HeaderMap) -> bool {
    let Some(value) = basic_credentials(url) else { return false };
    headers.entry(AUTHORIZATION).or_insert(value);
    remove_credentials(url);
    true
}

/// Returns whether a URL carries a user or a password (RFC 3986, section 3.2.1), which are as private as an
/// `Authorization` header.
#[must_use]
pub fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Returns a URL without its user and password, as it may be stored, logged and shown.
#[must_use]
pub fn without_credentials(url: &Url) -> Url {
    let mut url = url.clone();
    remove_credentials(&mut url);
    url
}

fn remove_credentials(url: &mut Url) {
    // Only URLs without a host refuse this, and they have no user either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

/// Returns the user and password of a URL, if it has any, as a header has them (RFC 7617).
pub(super) fn basic_credentials(url: &Url) -> Option<HeaderValue> {
    if !has_credentials(url) {
        return None;
    }
    let user = percent_decoded(url.username());
    let password = percent_decoded(url.password().unwrap_or_default());
    let value = format!("Basic {}", base64(&[user, password].join(&b':')));
    let mut value = HeaderValue::from_str(&value).expect("base64 is ASCII");
    value.set_sensitive(true);
    Some(value)
}

/// Returns the user and password of a URL, if it has any; what is not UTF-8 is replaced.
pub(super) fn credentials(url: &Url) -> Option<(String, String)> {
    if !has_credentials(url) {
        return None;
    }
    let text = |part: &str| String::from_utf8_lossy(&percent_decoded(part)).into_owned();
    Some((text(url.username()), text(url.password().unwrap_or_default())))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

/// RFC 4648, section 4: too little to bring in a crate.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_usize, |group, &byte| group << 8 | usize::from(byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[group >> (18 - 6 * place) & 63];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}
