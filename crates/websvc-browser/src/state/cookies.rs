//! The cookies of a state: out of a context, into another, and for a fetch beside the browser.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use url::Url;

use super::State;
use crate::request::Cookie;

/// What a cookie is given of itself again; the rest follows from it.
const COPIED: [&str; 7] = ["name", "value", "path", "secure", "httpOnly", "sameSite", "partitionKey"];

/// Marks the cookies of the caller, which are not the page's to keep: pages leave it at `Medium`, and a cookie that a
/// page sets anew has its own.
pub(crate) const CALLERS: &str = "Low";

/// Returns the caller's cookies as the protocol has them.
pub(crate) fn of_caller(cookies: &[Cookie], url: &Url) -> Value {
    let cookies = cookies.iter().map(|Cookie { name, value }| {
        json!({"name": name, "value": value, "url": url.as_str(), "priority": CALLERS})
    });
    cookies.collect()
}

impl State {
    /// Returns the cookies that a browser would send to a URL when it is asked for by itself (RFC 6265, section 5.4).
    #[must_use]
    pub fn cookies_for(&self, url: &Url, now: SystemTime) -> Vec<Cookie> {
        let sent = self.cookies.iter().filter(|cookie| is_alive(cookie, now) && is_for(cookie, url));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        sent.map(|cookie| Cookie { name: text(&cookie["name"]), value: text(&cookie["value"]) }).collect()
    }
}

/// Returns a cookie as it is to be set. One for a single host has no domain, else it would be for all below.
pub(crate) fn as_given(cookie: &Value) -> Value {
    let mut given = json!({});
    for name in COPIED {
        if !cookie[name].is_null() {
            given[name] = cookie[name].clone();
        }
    }
    if let Some(expires) = expires(cookie) {
        given["expires"] = expires.into();
    }
    let domain = cookie["domain"].as_str().unwrap_or_default();
    if domain.starts_with('.') {
        given["domain"] = domain.into();
    } else {
        let is_secure = cookie["secure"] == true || cookie["sourceScheme"] == "Secure";
        let scheme = if is_secure { "https" } else { "http" };
        given["url"] = format!("{scheme}://{domain}/").into();
    }
    given
}

/// Returns the end of a cookie in seconds since the Unix epoch; `None` for one of the session.
fn expires(cookie: &Value) -> Option<f64> {
    cookie["expires"].as_f64().filter(|seconds| *seconds >= 0.0 && cookie["session"] != true)
}

pub(crate) fn is_alive(cookie: &Value, now: SystemTime) -> bool {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    expires(cookie).is_none_or(|seconds| seconds > now.as_secs_f64())
}

pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    ["name", "domain", "path", "partitionKey"].iter().all(|part| one[part] == other[part])
}

fn is_for(cookie: &Value, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let domain = cookie["domain"].as_str().unwrap_or_default();
    let is_host = match domain.strip_prefix('.') {
        Some(parent) => host == parent || host.ends_with(domain),
        None => host == domain,
    };
    let path = cookie["path"].as_str().unwrap_or("/");
    let rest = url.path().strip_prefix(path);
    let is_below = rest.is_some_and(|rest| rest.is_empty() || path.ends_with('/') || rest.starts_with('/'));
    let is_safe = cookie["secure"] != true || url.scheme() == "https";
    is_host && is_below && is_safe && cookie["partitionKey"].is_null()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_for_their_hosts_paths_and_times() {
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
    fn a_cookie_of_one_host_is_not_given_to_those_below() {
        let host = as_given(
            &json!({"name": "n", "domain": "a.test", "secure": true, "expires": -1, "session": true}),
        );
        assert_eq!(host, json!({"name": "n", "url": "https://a.test/", "secure": true}));
        let wide = as_given(&json!({"name": "n", "domain": ".a.test", "expires": 7.5, "session": false}));
        assert_eq!(wide, json!({"name": "n", "domain": ".a.test", "expires": 7.5}));
    }
}
