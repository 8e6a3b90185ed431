//! Byte streams and sockets to a host that the guard allows, for protocols other than HTTP.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use url::Host;

use super::Client;
use super::connect::{ConnectRoute, Connector, Endpoint, Security, dial, failed_to_connect, server_name};
use super::proxy::Proxy;
use crate::error::{FetchError, FetchPhase};
use crate::tls::public_reason;
use crate::tunnel::Tunnel;

impl Client {
    /// Connects to a host and port within `limit`, for another party to use, such as a browser that runs behind this
    /// client.
    ///
    /// The guard checks the addresses of the host after name resolution, as for a fetch. A proxy makes a tunnel. The
    /// connection is new, is not added to the pool, and does not count for the limit per host.
    ///
    /// # Errors
    /// [`FetchError`], as for a fetch. Its text may be shown to the caller who gave the host.
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

    /// Connects to a host and port and starts TLS within `limit`, for a protocol other than HTTP. As for
    /// [`tunnel`](Self::tunnel), but the certificate is verified and no proxy is used.
    ///
    /// # Errors
    /// [`FetchError`], as for a fetch.
    pub async fn secure_tunnel(&self, host: &Host, port: u16, limit: Duration) -> Result<Tunnel, FetchError> {
        let deadline = Instant::now() + limit;
        let stream = self.tunnel(host, port, None, limit).await?;
        self.start_tls(stream, host, deadline.saturating_duration_since(Instant::now())).await
    }

    /// Starts TLS with a host on an open connection within `limit`, for protocols that begin without it. The
    /// certificate is verified.
    ///
    /// # Errors
    /// [`FetchError::Tls`], [`FetchError::Timeout`].
    pub async fn start_tls(
        &self,
        stream: Tunnel,
        host: &Host,
        limit: Duration,
    ) -> Result<Tunnel, FetchError> {
        let timed_out = |_| FetchError::Timeout { phase: FetchPhase::Connect, after: limit };
        let tls_error = |source: io::Error| FetchError::Tls {
            host: host.to_string(),
            reason: public_reason(&source),
            source,
        };
        let handshake = async {
            let config = self.0.connector.trust.config_without_alpn().await?;
            TlsConnector::from(config).connect(server_name(host)?, stream).await
        };
        let stream = timeout(limit, handshake).await.map_err(timed_out)?.map_err(tls_error)?;
        Ok(Tunnel::through(Box::new(stream)))
    }

    /// Returns a UDP socket that sends to a host and port. It is not known whether the host receives anything. The
    /// guard checks the addresses of the host after name resolution, which may take as long as `limit`.
    ///
    /// # Errors
    /// [`FetchError`], as for a fetch.
    pub async fn connect_udp(
        &self,
        host: &Host,
        port: u16,
        limit: Duration,
    ) -> Result<UdpSocket, FetchError> {
        let endpoint = endpoint(host, port, ConnectRoute::Direct)?;
        let deadline = Instant::now() + limit;
        let timed_out = |_| FetchError::Timeout { phase: FetchPhase::Resolve, after: limit };
        let resolved = timeout_at(deadline, self.0.connector.addresses(&endpoint)).await;
        let addresses = resolved.map_err(timed_out)??;
        let connect_error = |source| failed_to_connect(host.to_string(), source, limit);
        let is_v4 = addresses.first().is_none_or(SocketAddr::is_ipv4);
        let local_addr = SocketAddr::new(
            if is_v4 { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() },
            0,
        );
        let socket = UdpSocket::bind(local_addr).await.map_err(connect_error)?;
        let address = addresses.first().ok_or(FetchError::Forbidden)?;
        socket.connect(address).await.map_err(connect_error)?;
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
        let timed_out = |phase| move |_| FetchError::Timeout { phase, after: limit };
        match &endpoint.route {
            ConnectRoute::Direct => {
                let resolved = timeout_at(deadline, self.addresses(endpoint)).await;
                let addresses = resolved.map_err(timed_out(FetchPhase::Resolve))??;
                let connect_error = |source| failed_to_connect(endpoint.host.to_string(), source, limit);
                Ok(Tunnel::direct(dial(&addresses, deadline).await.map_err(connect_error)?))
            }
            ConnectRoute::Through(proxy) => {
                let opening = self.tunnel_through(endpoint, proxy, deadline);
                timeout_at(deadline, opening).await.map_err(timed_out(FetchPhase::Connect))?
            }
        }
    }
}
