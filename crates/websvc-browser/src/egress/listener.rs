//! The listening address of a proxy, its URL for the browser, and the peers that may connect.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use url::Host;
use websvc_transport::IpNetwork;

use super::peer;
use crate::config::Remote;

/// The listening side of a proxy.
#[derive(Debug, Clone)]
pub(crate) enum ProxyListener {
    /// On the loopback address, for processes of this user.
    Local,
    /// For a remote browser.
    Remote(Arc<RemoteAccess>),
}

/// The access of a remote browser to its proxies.
#[derive(Debug)]
pub(crate) struct RemoteAccess {
    listen: IpAddr,
    /// The host in the proxy URL.
    host: String,
    allowed_peers: AllowedPeers,
}

#[derive(Debug)]
enum AllowedPeers {
    /// The address at which the browser was reached.
    Browser(IpAddr),
    Networks(Vec<IpNetwork>),
}

impl RemoteAccess {
    /// Creates the access for a browser that was reached at the address `browser`, on a connection from `local`.
    pub(crate) fn new(remote: &Remote, local: IpAddr, browser: IpAddr) -> Self {
        let listen = remote.egress_listen;
        let host = match &remote.egress_host {
            Some(host) => host.to_string(),
            None if listen.is_unspecified() => url_host(local),
            None => url_host(listen),
        };
        let allowed_peers = if remote.egress_from.is_empty() {
            AllowedPeers::Browser(browser)
        } else {
            AllowedPeers::Networks(remote.egress_from.clone())
        };
        Self { listen, host, allowed_peers }
    }

    fn admits(&self, peer: IpAddr) -> bool {
        match &self.allowed_peers {
            AllowedPeers::Browser(browser) => *browser == peer,
            AllowedPeers::Networks(networks) => networks.iter().any(|network| network.contains(peer)),
        }
    }
}

/// Formats an address as the host of a URL.
fn url_host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => Host::<String>::Ipv4(address).to_string(),
        IpAddr::V6(address) => Host::<String>::Ipv6(address).to_string(),
    }
}

impl ProxyListener {
    /// Returns the address to listen on.
    pub(super) fn listen_address(&self) -> IpAddr {
        match self {
            Self::Local => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Self::Remote(access) => access.listen,
        }
    }

    /// Returns the proxy URL for the browser.
    pub(super) fn proxy_url(&self, addr: SocketAddr) -> String {
        match self {
            Self::Local => format!("socks5://{addr}"),
            Self::Remote(access) => format!("socks5://{}:{}", access.host, addr.port()),
        }
    }

    /// Returns whether the connection from `peer` to `local` may use the proxy.
    pub(super) async fn admits(&self, peer: SocketAddr, local: SocketAddr) -> bool {
        match self {
            Self::Local => peer::is_same_user(peer, local).await,
            Self::Remote(access) => access.admits(peer.ip().to_canonical()),
        }
    }
}

#[cfg(test)]
mod tests {
    use websvc_transport::{AddressGuard, Client, ClientConfig};

    use super::*;

    fn access(listen: &str, host: Option<&str>, from: &[&str]) -> RemoteAccess {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let remote = Remote {
            egress_listen: listen.parse().unwrap(),
            egress_host: host.map(|host| Host::parse(host).unwrap()),
            egress_from: from.iter().map(|network| network.parse().unwrap()).collect(),
            ..Remote::new("http://chromium:9222".parse().unwrap(), client)
        };
        RemoteAccess::new(&remote, "10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap())
    }

    #[test]
    fn proxy_url_has_configured_host_or_listening_address() {
        let port = SocketAddr::from(([0, 0, 0, 0], 7));
        for (listen, host, expected) in [
            ("127.0.0.1", None, "socks5://127.0.0.1:7"),
            ("0.0.0.0", None, "socks5://10.0.0.1:7"),
            ("0.0.0.0", Some("websvc.internal"), "socks5://websvc.internal:7"),
            ("fd00::1", None, "socks5://[fd00::1]:7"),
        ] {
            let listener = ProxyListener::Remote(Arc::new(access(listen, host, &[])));
            assert_eq!(listener.proxy_url(port), expected);
        }
    }

    #[test]
    fn admits_only_the_browser_or_the_configured_networks() {
        let admitted = |access: &RemoteAccess, peer: &str| access.admits(peer.parse().unwrap());
        let browser_only = access("0.0.0.0", None, &[]);
        assert!(admitted(&browser_only, "10.0.0.2") && !admitted(&browser_only, "10.0.0.3"));
        let networks = access("0.0.0.0", None, &["172.17.0.0/16"]);
        assert!(admitted(&networks, "172.17.0.9") && !admitted(&networks, "10.0.0.2"));
    }
}
