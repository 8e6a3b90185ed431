//! Headers that a caller must not set, and headers that must not follow a redirect to another origin.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::error::FetchError;

/// Headers that a caller must not set. The client itself sets those of framing and routing; the others give access to
/// cloud metadata services.
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

/// Returns whether a fetch refuses this header from its caller.
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

/// Removes the headers that are only for the origin that redirected.
pub(super) fn drop_credentials(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    headers.remove(COOKIE);
}

/// Moves the user and password of a URL into an `Authorization` header, unless there is one. They are not part of the
/// requested URL, and must not appear in URLs that are reported.
///
/// Returns whether the URL had any.
pub(super) fn take_credentials(url: &mut Url, headers: &mut HeaderMap) -> bool {
    let Some(value) = basic_credentials(url) else { return false };
    headers.entry(AUTHORIZATION).or_insert(value);
    remove_credentials(url);
    true
}

/// Returns whether a URL has a user or a password (RFC 3986, section 3.2.1), which are as private as an `Authorization`
/// header.
#[must_use]
pub fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Returns a URL without its user and password, which may be stored, logged and shown.
#[must_use]
pub fn without_credentials(url: &Url) -> Url {
    let mut url = url.clone();
    remove_credentials(&mut url);
    url
}

/// Returns a text without the users and passwords of the URLs in it. Only URLs with a scheme and `//` are recognized.
#[must_use]
pub fn text_without_credentials(text: &str) -> Cow<'_, str> {
    let ends_authority = |c: char| c.is_whitespace() || matches!(c, '/' | '\\' | '?' | '#' | '"' | '<' | '>');
    let (mut cleaned, mut rest) = (String::new(), text);
    while let Some((_, after)) = rest.split_once("://") {
        // URL parsers skip further slashes.
        let after = after.trim_start_matches(['/', '\\']);
        let authority = after.find(ends_authority).map_or(after, |end| &after[..end]);
        let host = authority.rfind('@').map_or(0, |at| at + 1);
        cleaned.push_str(&rest[..rest.len() - after.len()]);
        rest = &after[host..];
    }
    if cleaned.len() + rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    cleaned.push_str(rest);
    Cow::Owned(cleaned)
}

fn remove_credentials(url: &mut Url) {
    // This fails only for URLs without a host, which have no user either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

/// Returns the user and password of a URL, if it has any, as the value of an `Authorization` header (RFC 7617).
pub(super) fn basic_credentials(url: &Url) -> Option<HeaderValue> {
    if !has_credentials(url) {
        return None;
    }
    let user = percent_decoded(url.username());
    let password = percent_decoded(url.password().unwrap_or_default());
    let value = format!("Basic {}", BASE64_STANDARD.encode([user, password].join(&b':')));
    let mut value = HeaderValue::from_str(&value).expect("base64 is ASCII");
    value.set_sensitive(true);
    Some(value)
}

/// Returns the user and password of a URL, if it has any. Bytes that are not valid UTF-8 are replaced.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, expected: &str) {
        assert_eq!(text_without_credentials(text), expected);
    }

    #[test]
    fn urls_in_a_text_lose_their_users_and_passwords_and_the_rest_stays() {
        check_text(
            "read https://ann:pw@a.test/x and HTTP://tok@b.test",
            "read https://a.test/x and HTTP://b.test",
        );
        check_text("(https://ann:p@w:é@a.test) https://:pw@b.test", "(https://a.test) https://b.test");
        check_text("ftp://u:p@f.test?q=x@y https://a.test/u@v", "ftp://f.test?q=x@y https://a.test/u@v");
        check_text(
            r#"{"url":"https://u:p@a.test","mail":"me@b.test"}"#,
            r#"{"url":"https://a.test","mail":"me@b.test"}"#,
        );
        check_text("https://a.test, mail me@b.test", "https://a.test, mail me@b.test");
        check_text(r"https:///u:p@a.test http://\u@b.test", r"https:///a.test http://\b.test");
        check_text("no URL: 1://, ://@, file:///etc/x@y", "no URL: 1://, ://, file:///etc/x@y");
    }

    #[test]
    fn text_without_passwords_is_not_copied() {
        let text = "https://a.test/ and me@b.test";
        assert!(matches!(text_without_credentials(text), Cow::Borrowed(same) if same == text));
    }
}
