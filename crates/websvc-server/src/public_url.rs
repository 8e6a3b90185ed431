//! Where callers reach the service, for the links that answers carry, and from where they do.

use std::net::{IpAddr, SocketAddr};

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Uri};
use url::Url;
use websvc_transport::IpNetwork;

/// What is known of where callers reach the service.
#[derive(Debug, Clone)]
pub struct PublicUrlConfig {
    /// Said by the operator; then nothing else counts.
    pub public_url: Option<Url>,
    /// How the service itself is spoken to: `http` or `https`.
    pub scheme: &'static str,
    /// Whose `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-For` are believed. Anybody else could lead readers elsewhere.
    pub trusted_proxies: Vec<IpNetwork>,
}

impl PublicUrlConfig {
    /// Returns the URL below which this request was sent, without a slash at its end.
    pub(crate) fn of(&self, peer: IpAddr, uri: &Uri, headers: &HeaderMap) -> Option<String> {
        if let Some(url) = &self.public_url {
            return Some(url.as_str().trim_end_matches('/').to_owned());
        }
        let trusted = self.is_trusted(peer.to_canonical());
        let forwarded = |name: &str| if trusted { last(headers, name) } else { None };
        let scheme = forwarded("x-forwarded-proto").filter(|scheme| matches!(*scheme, "http" | "https"));
        let host = forwarded("x-forwarded-host")
            .and_then(authority)
            .or_else(|| uri.authority().and_then(|host| authority(host.as_str())))
            .or_else(|| authority(headers.get(HOST)?.to_str().ok()?))?;
        Some(format!("{}://{host}", scheme.unwrap_or(self.scheme)))
    }

    /// Tells whether the operator said where callers reach the service.
    pub(crate) fn is_set(&self) -> bool {
        self.public_url.is_some()
    }

    /// Returns the address of the client: that of the peer or, where the peer is a trusted proxy, the last one of
    /// `X-Forwarded-For` that no trusted proxy has. What stands before it was written by anybody.
    pub(crate) fn client_ip(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        let mut lines = headers.get_all("x-forwarded-for").iter().rev();
        let mut hops = std::iter::from_fn(|| lines.next().map(|line| line.to_str().unwrap_or_default()))
            .flat_map(|line| line.rsplit(','));
        while self.is_trusted(client) {
            match hops.next().map(|hop| hop_address(hop.trim())) {
                Some(Some(address)) => client = address,
                // At the end, or where there is no telling, it is the proxy that speaks for itself.
                Some(None) | None => break,
            }
        }
        client
    }

    fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(address))
    }
}

/// Reads an address of `X-Forwarded-For`; some proxies add the port.
fn hop_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address: IpAddr| address.to_canonical())
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

    fn check(config: &PublicUrlConfig, peer: &str, headers: &[(&'static str, &str)], expected: Option<&str>) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        let origin = config.of(peer.parse().unwrap(), &"/v2/search".parse().unwrap(), &headers);
        assert_eq!(origin.as_deref(), expected, "{peer} {headers:?}");
    }

    fn config() -> PublicUrlConfig {
        PublicUrlConfig {
            public_url: None,
            scheme: "http",
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        }
    }

    #[test]
    fn it_is_the_host_that_was_asked_for() {
        check(&config(), "192.0.2.1", &[("host", "websvc.test:3002")], Some("http://websvc.test:3002"));
        check(&config(), "192.0.2.1", &[("host", "[2001:db8::1]:80")], Some("http://[2001:db8::1]:80"));
        let https = PublicUrlConfig { scheme: "https", ..config() };
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
        let said = PublicUrlConfig { public_url: "https://websvc.test/api/".parse().ok(), ..config() };
        check(&said, "10.1.2.3", &[("x-forwarded-host", "other.test")], Some("https://websvc.test/api"));
    }

    #[track_caller]
    fn check_client(peer: &str, forwarded: &[&str], expected: &str) {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        let client = config().client_ip(peer.parse().unwrap(), &headers);
        assert_eq!(client.to_string(), expected, "{peer} {forwarded:?}");
    }

    #[test]
    fn a_client_is_who_speaks_to_us_whatever_it_says() {
        check_client("192.0.2.1", &[], "192.0.2.1");
        check_client("192.0.2.1", &["203.0.113.9"], "192.0.2.1");
        check_client("::ffff:192.0.2.1", &["203.0.113.9"], "192.0.2.1");
    }

    #[test]
    fn behind_trusted_proxies_it_is_who_spoke_to_the_first_of_them() {
        check_client("10.0.0.1", &["203.0.113.9"], "203.0.113.9");
        check_client("::ffff:10.0.0.1", &["203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["203.0.113.9, 10.0.0.2"], "203.0.113.9");
        check_client("10.0.0.1", &["203.0.113.9", "10.0.0.2"], "203.0.113.9");
        check_client("10.0.0.1", &["203.0.113.9:4711"], "203.0.113.9");
        check_client("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1");
        check_client("10.0.0.1", &["[2001:db8::1]"], "2001:db8::1");
    }

    #[test]
    fn what_a_client_wrote_itself_does_not_count() {
        check_client("10.0.0.1", &["198.51.100.1, 203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["198.51.100.1", "203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["10.9.9.9, 203.0.113.9"], "203.0.113.9");
        check_client("10.0.0.1", &["10.9.9.9, 203.0.113.9, 10.0.0.2"], "203.0.113.9");
    }

    #[test]
    fn where_there_is_no_telling_it_is_the_proxy() {
        check_client("10.0.0.1", &[], "10.0.0.1");
        check_client("10.0.0.1", &["unknown"], "10.0.0.1");
        check_client("10.0.0.1", &["203.0.113.9, "], "10.0.0.1");
        check_client("10.0.0.1", &["203.0.113.9, _hidden, 10.0.0.2"], "10.0.0.2");
        check_client("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
    }
}
