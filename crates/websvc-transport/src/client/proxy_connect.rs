//! Connections through a proxy.

use std::io;
use std::net::{IpAddr, SocketAddr};

use http::uri::Authority;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use url::Host;

use super::connect::{Connector, Endpoint, Security, dial, server_name, start_http1};
use super::connection::{Connection, ConnectionInfo};
use super::proxy::{Proxy, ProxyScheme, authority};
use crate::error::FetchError;
use crate::tls::public_reason;
use crate::tunnel::{AnyStream, Tunnel};

/// A proxy, its addresses and the action that it is to perform.
pub(super) struct ProxyPlan<'a> {
    proxy: &'a Proxy,
    addresses: Vec<SocketAddr>,
    action: ProxyAction,
}

/// Action of a proxy.
enum ProxyAction {
    /// Fetch URLs itself.
    Forward,
    /// Connect to this target and relay bytes.
    Tunnel(Authority),
}

impl Connector {
    pub(super) async fn plan_proxy<'a>(
        &self,
        endpoint: &Endpoint,
        proxy: &'a Proxy,
    ) -> Result<ProxyPlan<'a>, FetchError> {
        let action = self.proxy_action(endpoint, proxy.scheme()).await?;
        Ok(ProxyPlan { proxy, addresses: self.proxy_addresses(proxy).await?, action })
    }

    async fn proxy_action(
        &self,
        endpoint: &Endpoint,
        scheme: ProxyScheme,
    ) -> Result<ProxyAction, FetchError> {
        let is_forwarded = matches!(endpoint.security, Security::Plain)
            && matches!(scheme, ProxyScheme::Http | ProxyScheme::Https)
            && self.guard.skips_address_check(&endpoint.host.to_string(), endpoint.port);
        if is_forwarded {
            Ok(ProxyAction::Forward)
        } else {
            Ok(ProxyAction::Tunnel(self.tunnel_target(endpoint).await?))
        }
    }

    /// Returns the target that a proxy is to connect to. The proxy resolves the name only if the guard does not check
    /// the addresses of the host.
    async fn tunnel_target(&self, endpoint: &Endpoint) -> Result<Authority, FetchError> {
        let name = endpoint.host.to_string();
        if self.guard.skips_address_check(&name, endpoint.port) {
            return authority(name, endpoint.port);
        }
        let addresses = self.addresses(endpoint).await?;
        let address = addresses.first().ok_or(FetchError::Forbidden)?;
        let host = match address.ip() {
            IpAddr::V4(ip) => Host::<String>::Ipv4(ip),
            IpAddr::V6(ip) => Host::Ipv6(ip),
        };
        authority(host, address.port())
    }

    /// Opens a tunnel to the endpoint, through which nothing has been sent yet.
    pub(super) async fn tunnel_through(
        &self,
        endpoint: &Endpoint,
        proxy: &Proxy,
        deadline: Instant,
    ) -> Result<Tunnel, FetchError> {
        let target = self.tunnel_target(endpoint).await?;
        let unreachable = |source| proxy.error("it cannot be reached", source);
        let stream = dial(&self.proxy_addresses(proxy).await?, deadline).await.map_err(unreachable)?;
        Ok(match proxy.scheme() {
            ProxyScheme::Http => Tunnel::through(proxy.tunnel(Box::new(stream), target).await?),
            ProxyScheme::Socks5 => Tunnel::through(proxy.socks_tunnel(Box::new(stream), &target).await?),
            ProxyScheme::Https => {
                let stream = self.tls_to_proxy(proxy, stream).await?;
                Tunnel::through(proxy.tunnel(stream, target).await?)
            }
        })
    }

    async fn tls_to_proxy(&self, proxy: &Proxy, stream: TcpStream) -> Result<AnyStream, FetchError> {
        let tls_error = |source: io::Error| proxy.error(&public_reason(&source), source);
        let name = server_name(proxy.host()).map_err(tls_error)?;
        let config = self.trust.for_http1().await.map_err(tls_error)?;
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(tls_error)?;
        Ok(Box::new(stream))
    }

    pub(super) async fn open_through(
        &self,
        endpoint: &Endpoint,
        plan: ProxyPlan<'_>,
        deadline: Instant,
    ) -> Result<Connection, FetchError> {
        let ProxyPlan { proxy, addresses, action } = plan;
        let unreachable = |source| proxy.error("it cannot be reached", source);
        let stream = dial(&addresses, deadline).await.map_err(unreachable)?;
        let remote_addr = stream.peer_addr().map_err(unreachable)?;
        let stream: AnyStream = match proxy.scheme() {
            ProxyScheme::Http | ProxyScheme::Socks5 => Box::new(stream),
            ProxyScheme::Https => self.tls_to_proxy(proxy, stream).await?,
        };
        self.connect_via_proxy(endpoint, proxy, action, stream, remote_addr).await
    }

    async fn connect_via_proxy(
        &self,
        endpoint: &Endpoint,
        proxy: &Proxy,
        action: ProxyAction,
        stream: AnyStream,
        remote_addr: SocketAddr,
    ) -> Result<Connection, FetchError> {
        match action {
            ProxyAction::Forward => {
                let sender = start_http1(stream).await;
                let sender = sender.map_err(|error| proxy.error("it sent an invalid response", error))?;
                let forwarder = Some(proxy.clone());
                Ok(Connection {
                    sender,
                    info: ConnectionInfo { remote_addr, certificate_problem: None, forwarder },
                })
            }
            ProxyAction::Tunnel(target) if matches!(proxy.scheme(), ProxyScheme::Socks5) => {
                let tunnel = proxy.socks_tunnel(stream, &target).await?;
                self.open(endpoint, tunnel, remote_addr).await
            }
            ProxyAction::Tunnel(target) => {
                let tunnel = proxy.tunnel(stream, target).await?;
                self.open(endpoint, tunnel, remote_addr).await
            }
        }
    }
}
