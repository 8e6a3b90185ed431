//! Where callers reach the service: for the links that answers carry.

use std::net::IpAddr;

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Uri};
use url::Url;
use websvc_transport::IpNetwork;

/// What is known of where callers reach the service.
#[derive(Debug, Clone)]
pub struct OriginConfig {
    /// Said by the operator; then nothing else counts.
    pub public_url: Option<Url>,
    /// How the service itself is spoken to: `http` or `https`.
    pub scheme: &'static str,
    /// Whose `X-Forwarded-Proto` and `X-Forwarded-Host` are believed. Anybody else could lead readers elsewhere.
    pub trusted_proxies: Vec<IpNetwork>,
}

impl OriginConfig {
    /// Returns the URL below which this request was sent, without a slash at its end.
    pub(crate) fn of(&self, peer: IpAddr, uri: &Uri, headers: &HeaderMap) -> Option<String> {
        if let Some(url) = &self.public_url {
            return Some(url.as_str().trim_end_matches('/').to_owned());
        }
        let peer = peer.to_canonical();
        let trusted = self.trusted_proxies.iter().any(|network| network.contains(peer));
        let forwarded = |name: &str| if trusted { last(headers, name) } else { None };
        let scheme = forwarded("x-forwarded-proto").filter(|scheme| matches!(*scheme, "http" | "https"));
        let host = forwarded("x-forwarded-host")
            .and_then(authority)
            .or_else(|| uri.authority().and_then(|host| authority(host.as_str())))
            .or_else(|| authority(headers.get(HOST)?.to_str().ok()?))?;
        Some(format!("{}://{host}", scheme.unwrap_or(self.scheme)))
    }
}

/// Returns the last value of a header: that of the proxy next to us; what is before it came from further away.
fn last<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(str::trim)
}

/// Returns a host with or without port; a name and a password have no place in it.
fn authority(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    (!authority.host().is_empty() && !text.contains('@')).then(|| authority.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: &OriginConfig, peer: &str, headers: &[(&'static str, &str)], expected: Option<&str>) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        let origin = config.of(peer.parse().unwrap(), &"/v2/search".parse().unwrap(), &headers);
        assert_eq!(origin.as_deref(), expected, "{peer} {headers:?}");
    }

    fn config() -> OriginConfig {
        OriginConfig {
            public_url: None,
            scheme: "http",
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        }
    }

    #[test]
    fn it_is_the_host_that_was_asked_for() {
        check(&config(), "192.0.2.1", &[("host", "websvc.test:3002")], Some("http://websvc.test:3002"));
        check(&config(), "192.0.2.1", &[("host", "[2001:db8::1]:80")], Some("http://[2001:db8::1]:80"));
        let https = OriginConfig { scheme: "https", ..config() };
        check(&https, "192.0.2.1", &[("host", "websvc.test")], Some("https://websvc.test"));
        check(&config(), "192.0.2.1", &[], None);
        check(&config(), "192.0.2.1", &[("host", "a@websvc.test")], None);
        check(&config(), "192.0.2.1", &[("host", "websvc.test/path")], None);
    }

    #[test]
    fn over_http_2_it_is_in_the_request_line() {
        let uri = "https://websvc.test/v2/search".parse().unwrap();
        let origin = config().of("192.0.2.1".parse().unwrap(), &uri, &HeaderMap::new());
        assert_eq!(origin.as_deref(), Some("http://websvc.test"));
    }

    #[test]
    fn proxies_are_believed_only_where_they_are_trusted() {
        let headers =
            &[("host", "inner:3002"), ("x-forwarded-proto", "https"), ("x-forwarded-host", "websvc.test")];
        check(&config(), "10.1.2.3", headers, Some("https://websvc.test"));
        check(&config(), "::ffff:10.1.2.3", headers, Some("https://websvc.test"));
        check(&config(), "192.0.2.1", headers, Some("http://inner:3002"));
        let chain = &[("host", "inner"), ("x-forwarded-host", "evil.test, websvc.test")];
        check(&config(), "10.1.2.3", chain, Some("http://websvc.test"));
        let odd = &[("host", "inner"), ("x-forwarded-proto", "gopher"), ("x-forwarded-host", "a b")];
        check(&config(), "10.1.2.3", odd, Some("http://inner"));
    }

    #[test]
    fn what_the_operator_says_counts_before_everything() {
        let said = OriginConfig { public_url: "https://websvc.test/api/".parse().ok(), ..config() };
        check(&said, "10.1.2.3", &[("x-forwarded-host", "other.test")], Some("https://websvc.test/api"));
    }
}
