//! Comparison of the hosts and paths of URLs.

use url::Url;

/// Returns whether a URL is one of the web: http or https.
#[must_use]
pub fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Returns the key of a host. Different ports are different sites, different schemes are not.
#[must_use]
pub fn host_key(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

/// Returns the [`host_key`] without `www.`. URLs of a host often redirect to the same host with `www.`, or back.
#[must_use]
pub fn bare_host_key(url: &Url) -> String {
    let host = host_key(url);
    host.strip_prefix("www.").map_or_else(|| host.clone(), str::to_owned)
}

/// Returns whether a host is a subdomain of another.
#[must_use]
pub fn is_subdomain(host: &str, other: &str) -> bool {
    host.strip_suffix(other).is_some_and(|rest| rest.ends_with('.'))
}

/// Returns whether a path is `parent`, which has no trailing slash, or below it.
#[must_use]
pub fn is_below_path(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
