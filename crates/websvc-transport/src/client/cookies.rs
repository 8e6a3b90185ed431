//! The cookies of one redirect chain: sites set one and redirect to see it come back.
//!
//! They live as long as the fetch, or the few fetches of one page, so of RFC 6265 only what decides whom they are
//! sent to matters; expiry only as deletion.

use std::fmt;

use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};
use url::{Host, Url};

/// More cookies than any honest chain sets.
const MAX_COOKIES: usize = 50;
/// RFC 6265, section 6.1.
const MAX_COOKIE_BYTES: usize = 4096;

/// The cookies that a chain of redirects has set, for a fetch that goes on with it: at most 50. Empty by default.
#[derive(Clone, Default)]
pub struct CookieJar(Vec<Cookie>);

impl fmt::Debug for CookieJar {
    /// Their values are secrets of a session.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CookieJar").field("cookies", &self.0.len()).finish()
    }
}

#[derive(Clone)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    reach: Reach,
    is_secure: bool,
}

/// Hosts that receive a cookie in addition to the host that set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Host,
    Subdomains,
}

impl CookieJar {
    /// Takes over what an answer from `url` sets.
    pub(super) fn store(&mut self, url: &Url, headers: &HeaderMap) {
        for header in headers.get_all(SET_COOKIE) {
            let Ok(text) = std::str::from_utf8(header.as_bytes()) else { continue };
            let Some((cookie, is_deletion)) = parse(url, text) else { continue };
            self.0.retain(|old| {
                (&old.name, &old.domain, &old.path) != (&cookie.name, &cookie.domain, &cookie.path)
            });
            if !is_deletion && self.0.len() < MAX_COOKIES {
                self.0.push(cookie);
            }
        }
    }

    /// Adds the cookies for `url` to the headers of a request, behind those it has.
    pub(super) fn apply(&self, url: &Url, headers: &mut HeaderMap) {
        let mut text = headers.get(COOKIE).map(|own| own.as_bytes().to_vec()).unwrap_or_default();
        for cookie in self.0.iter().filter(|cookie| cookie.is_for(url)) {
            if !text.is_empty() {
                text.extend_from_slice(b"; ");
            }
            text.extend_from_slice(format!("{}={}", cookie.name, cookie.value).as_bytes());
        }
        if let (false, Ok(value)) = (text.is_empty(), HeaderValue::from_bytes(&text)) {
            headers.insert(COOKIE, value);
        }
    }
}

impl Cookie {
    fn is_for(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let host_fits =
            host == self.domain || self.reach == Reach::Subdomains && is_below(host, &self.domain);
        let path_fits = url.path() == self.path
            || url
                .path()
                .strip_prefix(self.path.as_str())
                .is_some_and(|rest| self.path.ends_with('/') || rest.starts_with('/'));
        host_fits && path_fits && (!self.is_secure || url.scheme() == "https")
    }
}

/// Reads a `Set-Cookie` value; the flag tells whether it deletes.
fn parse(url: &Url, text: &str) -> Option<(Cookie, bool)> {
    if text.len() > MAX_COOKIE_BYTES {
        return None;
    }
    let mut parts = text.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let host = url.host_str()?;
    let mut cookie = Cookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        domain: host.to_owned(),
        path: default_path(url),
        reach: Reach::Host,
        is_secure: false,
    };
    if cookie.name.is_empty() {
        return None;
    }
    let mut is_deletion = false;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        match key.as_str() {
            "secure" => cookie.is_secure = true,
            "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
            "max-age" => is_deletion = value.parse::<i64>().is_ok_and(|seconds| seconds <= 0),
            "domain" if !value.is_empty() => {
                let domain = value.trim_start_matches('.').to_ascii_lowercase();
                let is_name = matches!(url.host(), Some(Host::Domain(_)));
                // A single label is a top level, whose cookies would be for everyone.
                if domain != host && !(is_name && domain.contains('.') && is_below(host, &domain)) {
                    return None;
                }
                if is_name {
                    cookie.reach = Reach::Subdomains;
                }
                cookie.domain = domain;
            }
            _ => {}
        }
    }
    Some((cookie, is_deletion))
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// RFC 6265, section 5.1.4: the path up to its last slash.
fn default_path(url: &Url) -> String {
    match url.path().rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => url.path()[..end].to_owned(),
    }
}
