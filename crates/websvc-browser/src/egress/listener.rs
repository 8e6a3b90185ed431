//! Where a proxy listens, what the browser calls it, and who may come in.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use url::Host;
use websvc_transport::IpNetwork;

use super::peer;
use crate::config::Remote;

/// The side of a proxy that is turned to the browser.
#[derive(Debug, Clone)]
pub(crate) enum ProxyListener {
    /// On the loopback address, for processes of this user.
    Own,
    /// For a browser that somebody else runs.
    Remote(Arc<RemoteAccess>),
}

/// What a remote browser comes in by.
#[derive(Debug)]
pub(crate) struct RemoteAccess {
    listen: IpAddr,
    /// As it stands in a URL.
    host: String,
    from: AllowedPeers,
}

#[derive(Debug)]
enum AllowedPeers {
    Peer(IpAddr),
    Networks(Vec<IpNetwork>),
}

impl RemoteAccess {
    /// Makes the gate of a browser that was found at `peer`, on a connection from `own`.
    pub(crate) fn new(remote: &Remote, own: IpAddr, peer: IpAddr) -> Self {
        let listen = remote.egress_listen;
        let host = match &remote.egress_host {
            Some(host) => host.to_string(),
            None if listen.is_unspecified() => written(own),
            None => written(listen),
        };
        let from = if remote.egress_from.is_empty() {
            AllowedPeers::Peer(peer)
        } else {
            AllowedPeers::Networks(remote.egress_from.clone())
        };
        Self { listen, host, from }
    }

    fn admits(&self, peer: IpAddr) -> bool {
        match &self.from {
            AllowedPeers::Peer(browser) => *browser == peer,
            AllowedPeers::Networks(networks) => networks.iter().any(|network| network.contains(peer)),
        }
    }
}

/// Writes an address as it stands in a URL.
fn written(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => Host::<String>::Ipv4(address).to_string(),
        IpAddr::V6(address) => Host::<String>::Ipv6(address).to_string(),
    }
}

impl ProxyListener {
    pub(super) fn listen(&self) -> IpAddr {
        match self {
            Self::Own => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Self::Remote(gate) => gate.listen,
        }
    }

    pub(super) fn server(&self, addr: SocketAddr) -> String {
        match self {
            Self::Own => format!("socks5://{addr}"),
            Self::Remote(gate) => format!("socks5://{}:{}", gate.host, addr.port()),
        }
    }

    /// Tells whether the connection from `peer` to `own` may use the proxy.
    pub(super) async fn admits(&self, peer: SocketAddr, own: SocketAddr) -> bool {
        match self {
            Self::Own => peer::is_ours(peer, own).await,
            Self::Remote(gate) => gate.admits(peer.ip().to_canonical()),
        }
    }
}

#[cfg(test)]
mod tests {
    use websvc_transport::{AddressGuard, Client, ClientConfig};

    use super::*;

    fn gate(listen: &str, host: Option<&str>, from: &[&str]) -> RemoteAccess {
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
    fn a_proxy_is_called_as_configured_or_as_it_listens() {
        let port = SocketAddr::from(([0, 0, 0, 0], 7));
        for (listen, host, expected) in [
            ("127.0.0.1", None, "socks5://127.0.0.1:7"),
            ("0.0.0.0", None, "socks5://10.0.0.1:7"),
            ("0.0.0.0", Some("websvc.internal"), "socks5://websvc.internal:7"),
            ("fd00::1", None, "socks5://[fd00::1]:7"),
        ] {
            let entrance = ProxyListener::Remote(Arc::new(gate(listen, host, &[])));
            assert_eq!(entrance.server(port), expected);
        }
    }

    #[test]
    fn only_the_browser_or_the_named_networks_come_in() {
        let admitted = |gate: &RemoteAccess, peer: &str| gate.admits(peer.parse().unwrap());
        let peer_only = gate("0.0.0.0", None, &[]);
        assert!(admitted(&peer_only, "10.0.0.2") && !admitted(&peer_only, "10.0.0.3"));
        let named = gate("0.0.0.0", None, &["172.17.0.0/16"]);
        assert!(admitted(&named, "172.17.0.9") && !admitted(&named, "10.0.0.2"));
    }
}
