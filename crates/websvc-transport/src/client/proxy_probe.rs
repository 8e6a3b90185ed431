//! A check that a proxy is reachable, without sending it a request.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::Client;
use super::connect::{Connector, dial, server_name};
use super::proxy::{Proxy, ProxyScheme};
use crate::error::{FetchError, FetchPhase};
use crate::tls::public_reason;

impl Client {
    /// Connects to a proxy, with TLS if its URL demands that, and closes the connection without sending a request. As
    /// for fetches, the guard does not check the address of a proxy.
    ///
    /// # Errors
    /// [`FetchError::Proxy`], whose sources name the proxy, and [`FetchError::Timeout`] after `limit`.
    pub async fn probe_proxy(&self, proxy: &Proxy, limit: Duration) -> Result<(), FetchError> {
        let deadline = Instant::now() + limit;
        let probe = self.0.connector.probe_proxy(proxy, deadline);
        let timed_out = |_| FetchError::Timeout { phase: FetchPhase::Connect, after: limit };
        timeout_at(deadline, probe).await.map_err(timed_out)?
    }
}

impl Connector {
    async fn probe_proxy(&self, proxy: &Proxy, deadline: Instant) -> Result<(), FetchError> {
        let addresses = self.proxy_addresses(proxy).await?;
        let unreachable = |source| proxy.error("it cannot be reached", source);
        let stream = dial(&addresses, deadline).await.map_err(unreachable)?;
        match proxy.scheme() {
            ProxyScheme::Http | ProxyScheme::Socks5 => Ok(()),
            ProxyScheme::Https => {
                let tls_error = |source: io::Error| proxy.error(&public_reason(&source), source);
                let name = server_name(proxy.host()).map_err(tls_error)?;
                let config = self.trust.for_http1().await.map_err(tls_error)?;
                TlsConnector::from(config).connect(name, stream).await.map(drop).map_err(tls_error)
            }
        }
    }

    /// Returns the addresses of a proxy. The operator of this process chose the proxy, so the guard does not check
    /// them.
    pub(super) async fn proxy_addresses(&self, proxy: &Proxy) -> Result<Vec<SocketAddr>, FetchError> {
        let addresses = self.lookup(proxy.host()).await.map_err(|source| {
            let source = source.unwrap_or_else(|| io::Error::other("it has no address"));
            proxy.error("it was not found", source)
        })?;
        Ok(addresses.into_iter().map(|ip| SocketAddr::new(ip, proxy.port())).collect())
    }
}
