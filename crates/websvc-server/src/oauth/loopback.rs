//! Addresses of this machine, which need no TLS.

use url::{Host, Url};

/// Returns whether a URL is one of http on this machine.
pub(crate) fn is_loopback_http(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "http" && is_loopback
}
