//! Bytes to and from a host that the guard has let through, for protocols that somebody else speaks.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::Host;

use super::Client;
use super::connect::{ConnectRoute, Connector, Endpoint, Security, dial, failed_to_connect, server_name};
use super::proxy::Proxy;
use crate::error::{FetchError, FetchPhase};
use crate::tls::public_reason;
use crate::tunnel::Tunnel;

impl Client {
    /// Connects a host and port, within `limit`, for somebody else who speaks to it: a browser behind this client.
    ///
    /// The addresses of the host are checked after name resolution, as for a fetch; a proxy is asked for a tunnel.
    /// The connection is new, is not kept for later fetches, and does not count for the bound per host.
    ///
    /// # Errors
    /// [`FetchError`] as of a fetch, whose text may be shown to whoever gave the host.
    pub async fn tunnel(
        &self,
        host: &Host,
        port: u16,
        proxy: Option<&Proxy>,
        limit: Duration,
    ) -> Result<Tunnel, FetchError> {
        let route = proxy.map_or(ConnectRoute::Direct, |proxy| ConnectRoute::Through(proxy.clone()));
        self.0.connector.tunnel(&endpoint(host, port, route)?, limit).await
    }

    /// Connects a host and port and begins TLS, within `limit`, for a protocol that is not HTTP. As for
    /// [`tunnel`](Self::tunnel); the certificate is verified.
    ///
    /// # Errors
    /// [`FetchError`] as of a fetch.
    pub async fn secure_tunnel(&self, host: &Host, port: u16, limit: Duration) -> Result<Tunnel, FetchError> {
        let deadline = Instant::now() + limit;
        let connector = &self.0.connector;
        let stream = connector.tunnel(&endpoint(host, port, ConnectRoute::Direct)?, limit).await?;
        let late = |_| FetchError::Timeout { stage: FetchPhase::Connect, after: limit };
        let insecure = |source: io::Error| FetchError::Tls {
            host: host.to_string(),
            reason: public_reason(&source),
            source,
        };
        let securing = async {
            let config = connector.trust.config_without_alpn().await?;
            TlsConnector::from(config).connect(server_name(host)?, stream).await
        };
        let stream = timeout_at(deadline, securing).await.map_err(late)?.map_err(insecure)?;
        Ok(Tunnel::through(Box::new(stream)))
    }

    /// Returns a socket whose datagrams go to a host and port; whether somebody is there to take them is not known. The
    /// addresses of the host are checked after name resolution, which may take as long as `limit`.
    ///
    /// # Errors
    /// [`FetchError`] as of a fetch.
    pub async fn datagrams(&self, host: &Host, port: u16, limit: Duration) -> Result<UdpSocket, FetchError> {
        let endpoint = endpoint(host, port, ConnectRoute::Direct)?;
        let deadline = Instant::now() + limit;
        let late = |_| FetchError::Timeout { stage: FetchPhase::Resolve, after: limit };
        let found = timeout_at(deadline, self.0.connector.addresses(&endpoint)).await;
        let addresses = found.map_err(late)??;
        let failed = |source| failed_to_connect(host.to_string(), source, limit);
        let is_v4 = addresses.first().is_none_or(SocketAddr::is_ipv4);
        let own = SocketAddr::new(
            if is_v4 { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() },
            0,
        );
        let socket = UdpSocket::bind(own).await.map_err(failed)?;
        let address = addresses.first().ok_or(FetchError::Forbidden)?;
        socket.connect(address).await.map_err(failed)?;
        Ok(socket)
    }
}

fn endpoint(host: &Host, port: u16, route: ConnectRoute) -> Result<Endpoint, FetchError> {
    if port == 0 {
        return Err(FetchError::BadUrl { reason: "it has no usable port".to_owned() });
    }
    Ok(Endpoint { security: Security::Plain, host: host.clone(), port, route })
}

impl Connector {
    async fn tunnel(&self, endpoint: &Endpoint, limit: Duration) -> Result<Tunnel, FetchError> {
        let deadline = Instant::now() + limit;
        let late = |stage| move |_| FetchError::Timeout { stage, after: limit };
        match &endpoint.route {
            ConnectRoute::Direct => {
                let found = timeout_at(deadline, self.addresses(endpoint)).await;
                let addresses = found.map_err(late(FetchPhase::Resolve))??;
                let failed = |source| failed_to_connect(endpoint.host.to_string(), source, limit);
                Ok(Tunnel::direct(dial(&addresses, deadline).await.map_err(failed)?))
            }
            ConnectRoute::Through(proxy) => {
                let opening = self.tunnel_through(endpoint, proxy, deadline);
                timeout_at(deadline, opening).await.map_err(late(FetchPhase::Connect))?
            }
        }
    }
}
