//! The cookies of one redirect chain: sites set a cookie and redirect to check that it comes back.
//!
//! A jar lives as long as a fetch, or as the few fetches of one page. So this module implements only those parts of
//! RFC 6265 that decide which hosts receive a cookie. Expiry is implemented only as deletion.

use std::fmt;

use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};
use url::{Host, Url};
#[cfg(feature = "cookies")]
use websvc_site::is_public_suffix;

/// Maximum number of cookies in a jar: more than any honest chain sets.
const MAX_COOKIES: usize = 50;
/// Maximum size of a `Set-Cookie` value (RFC 6265, section 6.1).
const MAX_COOKIE_BYTES: usize = 4096;

/// The cookies that a chain of redirects has set, for a fetch that continues it. At most 50; empty by default.
#[derive(Clone, Default)]
pub struct CookieJar(Vec<Cookie>);

impl fmt::Debug for CookieJar {
    /// Shows only the number of cookies: their values are secrets of a session.
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
    scope: HostScope,
    is_secure: bool,
}

/// Hosts that receive a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostScope {
    /// Only the host that set it ("host-only-flag" of RFC 6265).
    HostOnly,
    /// The domain of the cookie and its subdomains.
    Subdomains,
}

/// A parsed `Set-Cookie` value.
struct SetCookie {
    cookie: Cookie,
    /// True if `Max-Age` deletes a stored cookie instead of setting one.
    is_deletion: bool,
}

impl CookieJar {
    /// Stores and deletes cookies as the headers of a response from `url` demand.
    pub(super) fn store(&mut self, url: &Url, headers: &HeaderMap) {
        for header in headers.get_all(SET_COOKIE) {
            let Ok(text) = std::str::from_utf8(header.as_bytes()) else { continue };
            let Some(SetCookie { cookie, is_deletion }) = parse(url, text) else { continue };
            self.0.retain(|old| {
                (&old.name, &old.domain, &old.path) != (&cookie.name, &cookie.domain, &cookie.path)
            });
            if !is_deletion && self.0.len() < MAX_COOKIES {
                self.0.push(cookie);
            }
        }
    }

    /// Adds the cookies for `url` to the headers of a request, after the cookies that it already has.
    pub(super) fn apply(&self, url: &Url, headers: &mut HeaderMap) {
        let mut text = headers.get(COOKIE).map(|value| value.as_bytes().to_vec()).unwrap_or_default();
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
    /// Returns whether a request for `url` carries the cookie (RFC 6265, section 5.4).
    fn is_for(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let host_matches =
            host == self.domain || self.scope == HostScope::Subdomains && is_subdomain(host, &self.domain);
        let path_matches = url.path() == self.path
            || url
                .path()
                .strip_prefix(self.path.as_str())
                .is_some_and(|rest| self.path.ends_with('/') || rest.starts_with('/'));
        host_matches && path_matches && (!self.is_secure || url.scheme() == "https")
    }

    /// Applies a `Domain` attribute (RFC 6265, section 5.3, steps 5 and 6); `None` if the cookie must be ignored.
    ///
    /// A host may set cookies for itself and for a domain above it, but not for a public suffix, such as `com`, `co.uk`
    /// or `github.io`: cookies of these would be sent to the sites of other owners. A host that is itself a public
    /// suffix may set cookies for itself alone.
    fn set_domain(&mut self, url: &Url, attribute: &str) -> Option<()> {
        let host = url.host_str()?;
        let domain = attribute.trim_start_matches('.').to_ascii_lowercase();
        let is_name = matches!(url.host(), Some(Host::Domain(_)));
        if !is_name || is_public_suffix(&domain) {
            return (domain == host).then_some(());
        }
        if domain != host && !is_subdomain(host, &domain) {
            return None;
        }
        self.domain = domain;
        self.scope = HostScope::Subdomains;
        Some(())
    }
}

/// Parses a `Set-Cookie` value of a response from `url`; `None` if it is invalid or must be ignored.
fn parse(url: &Url, text: &str) -> Option<SetCookie> {
    if text.len() > MAX_COOKIE_BYTES {
        return None;
    }
    let mut parts = text.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let mut cookie = Cookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        domain: url.host_str()?.to_owned(),
        path: default_path(url),
        scope: HostScope::HostOnly,
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
            "domain" if !value.is_empty() => cookie.set_domain(url, value)?,
            _ => {}
        }
    }
    Some(SetCookie { cookie, is_deletion })
}

fn is_subdomain(host: &str, domain: &str) -> bool {
    !domain.is_empty() && host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Returns true: without the list of public suffixes, which the feature `cookies` adds, every domain may be one, and a cookie is for
/// the host alone that set it.
#[cfg(not(feature = "cookies"))]
fn is_public_suffix(_domain: &str) -> bool {
    true
}

/// Returns the path of a URL up to its last slash (RFC 6265, section 5.1.4).
fn default_path(url: &Url) -> String {
    match url.path().rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => url.path()[..end].to_owned(),
    }
}

#[cfg(test)]
#[cfg(feature = "cookies")]
mod tests {
    use super::*;

    /// Checks the URLs to which a cookie goes that `host` has set with the attribute `Domain=domain`.
    #[track_caller]
    fn check(host: &str, domain: &str, receivers: &[&str]) {
        let hosts = [
            "example.com",
            "www.example.com",
            "example.co.uk",
            "me.github.io",
            "github.io",
            "a.test",
            "127.0.0.1",
        ];
        let url = |host: &str| Url::parse(&format!("http://{host}/")).unwrap();
        let mut jar = CookieJar::default();
        let value = HeaderValue::from_str(&format!("a=1; Domain={domain}")).unwrap();
        jar.store(&url(host), &HeaderMap::from_iter([(SET_COOKIE, value)]));
        let receives = |host: &&str| {
            let mut headers = HeaderMap::new();
            jar.apply(&url(host), &mut headers);
            headers.contains_key(COOKIE)
        };
        let actual: Vec<_> = hosts.into_iter().filter(receives).collect();
        assert_eq!(actual, receivers, "Domain={domain} of {host}");
    }

    #[test]
    fn cookie_domain_covers_the_host_and_its_subdomains() {
        check("example.com", "example.com", &["example.com", "www.example.com"]);
        check("www.example.com", "EXAMPLE.com", &["example.com", "www.example.com"]);
        check("www.example.com", ".example.com", &["example.com", "www.example.com"]);
        check("www.example.com", "www.example.com", &["www.example.com"]);
        check("example.com", "www.example.com", &[]);
        check("example.com", "other.com", &[]);
        check("127.0.0.1", "127.0.0.1", &["127.0.0.1"]);
        check("127.0.0.1", "0.0.1", &[]);
    }

    #[test]
    fn cookie_for_public_suffix_is_ignored() {
        check("example.com", "com", &[]);
        check("example.com", ".com", &[]);
        check("example.co.uk", "co.uk", &[]);
        check("example.co.uk", "CO.UK", &[]);
        check("me.github.io", "github.io", &[]);
        check("me.github.io", "me.github.io", &["me.github.io"]);
        // A top-level domain that is not in the list.
        check("a.test", "test", &[]);
        // A host name with a trailing dot is another host, and does not avoid the check.
        check("example.com.", "com.", &[]);
        check("example.com.", ".", &[]);
        check("example.co.uk.", "co.uk.", &[]);
    }

    #[test]
    fn cookie_of_public_suffix_for_itself_is_host_only() {
        check("github.io", "github.io", &["github.io"]);
    }

    #[test]
    fn public_suffix_is_recognized_in_punycode() {
        let url = Url::parse("http://сайт.рф/").unwrap();
        assert!(parse(&url, "a=1; Domain=xn--p1ai").is_none());
        assert!(parse(&url, "a=1; Domain=xn--80aswg.xn--p1ai").is_some());
    }
}
