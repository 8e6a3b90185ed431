//! The URL under which clients reach the service, for links in responses, and the address of a client.

use std::net::{IpAddr, SocketAddr};

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Uri};
use url::Url;
use websvc_transport::IpNetwork;

/// The settings for the URL under which clients reach the service.
#[derive(Debug, Clone)]
pub struct PublicUrlConfig {
    /// The configured URL. If it is set, requests are not considered.
    pub public_url: Option<Url>,
    /// The scheme of the service's own listener: `http` or `https`.
    pub scheme: &'static str,
    /// The proxies whose `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-For` are trusted. Any other client
    /// could use these headers to put foreign links into responses.
    pub trusted_proxies: Vec<IpNetwork>,
}

impl PublicUrlConfig {
    /// Returns the base URL of a request, without a trailing slash.
    pub(crate) fn base_url(&self, peer: IpAddr, uri: &Uri, headers: &HeaderMap) -> Option<String> {
        if let Some(url) = &self.public_url {
            return Some(url.as_str().trim_end_matches('/').to_owned());
        }
        let is_trusted = self.is_trusted(peer.to_canonical());
        let forwarded = |name: &str| if is_trusted { last_value(headers, name) } else { None };
        let scheme = forwarded("x-forwarded-proto").filter(|scheme| matches!(*scheme, "http" | "https"));
        let host = forwarded("x-forwarded-host")
            .and_then(authority)
            .or_else(|| uri.authority().and_then(|host| authority(host.as_str())))
            .or_else(|| authority(headers.get(HOST)?.to_str().ok()?))?;
        Some(format!("{}://{host}", scheme.unwrap_or(self.scheme)))
    }

    /// Returns whether the URL is configured.
    pub(crate) fn is_configured(&self) -> bool {
        self.public_url.is_some()
    }

    /// Returns the address of the client: the peer, or behind trusted proxies the last address in `X-Forwarded-For` that
    /// is not a trusted proxy. The addresses before it are not trustworthy: the client may have sent them.
    pub(crate) fn client_ip(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        let mut values = headers.get_all("x-forwarded-for").iter().rev();
        let mut hops = std::iter::from_fn(|| values.next().map(|value| value.to_str().unwrap_or_default()))
            .flat_map(|value| value.rsplit(','));
        while self.is_trusted(client) {
            match hops.next().map(|hop| hop_address(hop.trim())) {
                Some(Some(address)) => client = address,
                // If there is no further address, or an invalid one, the proxy counts as the client.
                Some(None) | None => break,
            }
        }
        client
    }

    fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(address))
    }
}

/// Parses an address of `X-Forwarded-For`; some proxies add the port.
fn hop_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// Returns the last value of a header, which the nearest proxy wrote.
fn last_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(str::trim)
}

/// Returns a host with an optional port; `None` if the text contains anything else, such as a user name.
fn authority(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    (!authority.host().is_empty() && !text.contains('@')).then(|| authority.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: &PublicUrlConfig, peer: &str, headers: &[(&'static str, &str)], expected: Option<&str>) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        let base_url = config.base_url(peer.parse().unwrap(), &"/v2/search".parse().unwrap(), &headers);
        assert_eq!(base_url.as_deref(), expected, "{peer} {headers:?}");
    }

    fn config() -> PublicUrlConfig {
        PublicUrlConfig {
            public_url: None,
            scheme: "http",
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        }
    }

    #[test]
    fn base_url_is_the_host_of_the_request() {
        check(&config(), "192.0.2.1", &[("host", "websvc.test:3002")], Some("http://websvc.test:3002"));
        check(&config(), "192.0.2.1", &[("host", "[2001:db8::1]:80")], Some("http://[2001:db8::1]:80"));
        let https = PublicUrlConfig { scheme: "https", ..config() };
        check(&https, "192.0.2.1", &[("host", "websvc.test")], Some("https://websvc.test"));
        check(&config(), "192.0.2.1", &[], None);
        check(&config(), "192.0.2.1", &[("host", "a@websvc.test")], None);
        check(&config(), "192.0.2.1", &[("host", "websvc.test/path")], None);
    }

    #[test]
    fn base_url_over_http_2_is_the_authority_of_the_uri() {
        let uri = "https://websvc.test/v2/search".parse().unwrap();
        let base_url = config().base_url("192.0.2.1".parse().unwrap(), &uri, &HeaderMap::new());
        assert_eq!(base_url.as_deref(), Some("http://websvc.test"));
    }

    #[test]
    fn forwarded_headers_count_only_from_trusted_proxies() {
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
    fn configured_public_url_overrides_the_request() {
        let config = PublicUrlConfig { public_url: "https://websvc.test/api/".parse().ok(), ..config() };
        check(&config, "10.1.2.3", &[("x-forwarded-host", "other.test")], Some("https://websvc.test/api"));
    }

    #[track_caller]
    fn check_client(peer: &str, forwarded: &[&str], expected: &str) {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let client = config().client_ip(peer.parse().unwrap(), &headers);
        assert_eq!(client.to_string(), expected, "{peer} {forwarded:?}");
    }

    #[test]
    fn client_ip_without_a_trusted_proxy_is_the_peer() {
        check_client("192.0.2.1", &[], "192.0.2.1");
        check_client("192.0.2.1", &["203.0.113.9"], "192.0.2.1");
        check_client("::ffff:192.0.2.1", &["203.0.113.9"], "192.0.2.1");
    }

    #[test]
    fn client_ip_behind_trusted_proxies_is_the_peer_of_the_first_proxy() {
        check_client("10.0.0.1", &["203.0.113.9"], "203.0.113.9");
        check_client("::ffff:10.0.0.1", &["203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["203.0.113.9, 10.0.0.2"], "203.0.113.9");
        check_client("10.0.0.1", &["203.0.113.9", "10.0.0.2"], "203.0.113.9");
        check_client("10.0.0.1", &["203.0.113.9:4711"], "203.0.113.9");
        check_client("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1");
        check_client("10.0.0.1", &["[2001:db8::1]"], "2001:db8::1");
    }

    #[test]
    fn addresses_that_a_client_sends_itself_do_not_count() {
        check_client("10.0.0.1", &["198.51.100.1, 203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["198.51.100.1", "203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["10.9.9.9, 203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["10.9.9.9, 203.0.113.9, 10.0.0.2"], "203.0.113.9");
    }

    #[test]
    fn client_ip_without_a_valid_forwarded_address_is_the_proxy() {
        check_client("10.0.0.1", &[], "10.0.0.1");
        check_client("10.0.0.1", &["unknown"], "10.0.0.1");
        check_client("10.0.0.1", &["203.0.113.9, "], "10.0.0.1");
        check_client("10.0.0.1", &["203.0.113.9, _hidden, 10.0.0.2"], "10.0.0.2");
        check_client("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
    }
}
