//! The cookies of a state: for another browser context, and for fetches without the browser.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use url::Url;

use super::State;
use crate::request::Cookie;

/// The fields that are copied when a cookie is set again. The others follow from these.
const COPIED_FIELDS: [&str; 7] = ["name", "value", "path", "secure", "httpOnly", "sameSite", "partitionKey"];

/// The priority that marks the cookies of the caller, which are not part of the captured state. Cookies of pages have the
/// priority `Medium`, also when they replace a cookie of the caller.
pub(crate) const CALLER_PRIORITY: &str = "Low";

/// Returns the cookies of the caller as `Network.CookieParam` values.
pub(crate) fn caller_cookies(cookies: &[Cookie], url: &Url) -> Value {
    let cookies = cookies.iter().map(|Cookie { name, value }| {
        json!({"name": name, "value": value, "url": url.as_str(), "priority": CALLER_PRIORITY})
    });
    cookies.collect()
}

impl State {
    /// Returns the cookies that a browser would send with a top-level request to a URL (RFC 6265, section 5.4).
    #[must_use]
    pub fn cookies_for(&self, url: &Url, now: SystemTime) -> Vec<Cookie> {
        let matching =
            self.cookies.iter().filter(|cookie| is_unexpired(cookie, now) && matches_url(cookie, url));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        matching.map(|cookie| Cookie { name: text(&cookie["name"]), value: text(&cookie["value"]) }).collect()
    }
}

/// Returns a cookie as a `Network.CookieParam`. A host-only cookie has a URL in place of a domain, because a domain would
/// include all subdomains.
pub(crate) fn settable_cookie(cookie: &Value) -> Value {
    let mut param = json!({});
    for name in COPIED_FIELDS {
        if !cookie[name].is_null() {
            param[name] = cookie[name].clone();
        }
    }
    if let Some(expires) = expires(cookie) {
        param["expires"] = expires.into();
    }
    let domain = cookie["domain"].as_str().unwrap_or_default();
    if domain.starts_with('.') {
        param["domain"] = domain.into();
    } else {
        let is_secure = cookie["secure"] == true || cookie["sourceScheme"] == "Secure";
        let scheme = if is_secure { "https" } else { "http" };
        param["url"] = format!("{scheme}://{domain}/").into();
    }
    param
}

/// Returns the expiry time of a cookie in seconds since the Unix epoch; `None` for a session cookie.
fn expires(cookie: &Value) -> Option<f64> {
    cookie["expires"].as_f64().filter(|seconds| *seconds >= 0.0 && cookie["session"] != true)
}

pub(crate) fn is_unexpired(cookie: &Value, now: SystemTime) -> bool {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    expires(cookie).is_none_or(|seconds| seconds > now.as_secs_f64())
}

pub(crate) fn is_same_cookie(cookie: &Value, other: &Value) -> bool {
    ["name", "domain", "path", "partitionKey"].iter().all(|field| cookie[field] == other[field])
}

fn matches_url(cookie: &Value, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let domain = cookie["domain"].as_str().unwrap_or_default();
    let matches_host = match domain.strip_prefix('.') {
        Some(parent) => host == parent || host.ends_with(domain),
        None => host == domain,
    };
    let path = cookie["path"].as_str().unwrap_or("/");
    let rest = url.path().strip_prefix(path);
    let matches_path =
        rest.is_some_and(|rest| rest.is_empty() || path.ends_with('/') || rest.starts_with('/'));
    let matches_scheme = cookie["secure"] != true || url.scheme() == "https";
    matches_host && matches_path && matches_scheme && cookie["partitionKey"].is_null()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_for_matches_host_path_scheme_and_expiry() {
        let cookie = |name: &str, domain: &str, path: &str, expires: f64, secure: bool| {
            json!({"name": name, "value": "v", "domain": domain, "path": path, "expires": expires,
                   "session": expires < 0.0, "secure": secure})
        };
        let cookies = vec![
            cookie("host", "a.test", "/", -1.0, false),
            cookie("below", ".a.test", "/", -1.0, false),
            cookie("path", "a.test", "/x", -1.0, false),
            cookie("safe", "a.test", "/", -1.0, true),
            cookie("old", "a.test", "/", 1000.0, false),
            cookie("new", "a.test", "/", 3000.0, false),
        ];
        let state = State { cookies, ..State::default() };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2000);
        for (url, expected) in [
            ("http://a.test/", "host below new"),
            ("https://a.test/", "host below safe new"),
            ("http://a.test/x", "host below path new"),
            ("http://a.test/x/y", "host below path new"),
            ("http://a.test/xy", "host below new"),
            ("http://b.a.test/", "below"),
            ("http://ba.test/", ""),
        ] {
            let sent = state.cookies_for(&url.parse().unwrap(), now);
            let names: Vec<_> = sent.iter().map(|cookie| cookie.name.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{url}");
        }
    }

    #[test]
    fn host_only_cookie_is_set_without_domain() {
        let host_only = settable_cookie(
            &json!({"name": "n", "domain": "a.test", "secure": true, "expires": -1, "session": true}),
        );
        assert_eq!(host_only, json!({"name": "n", "url": "https://a.test/", "secure": true}));
        let with_domain =
            settable_cookie(&json!({"name": "n", "domain": ".a.test", "expires": 7.5, "session": false}));
        assert_eq!(with_domain, json!({"name": "n", "domain": ".a.test", "expires": 7.5}));
    }
}
