//! Check that a proxy is reachable, without sending it a request.

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
    /// Connects to a proxy, with TLS when it wants that, and closes the connection: nothing is asked of it. As for
    /// fetches, the guard has no say in where a proxy is.
    ///
    /// # Errors
    /// [`FetchError::Proxy`], whose sources name the proxy, and [`FetchError::Timeout`] after `limit`.
    pub async fn probe_proxy(&self, proxy: &Proxy, limit: Duration) -> Result<(), FetchError> {
        let deadline = Instant::now() + limit;
        let reaching = self.0.connector.probe_proxy(proxy, deadline);
        let late = |_| FetchError::Timeout { stage: FetchPhase::Connect, after: limit };
        timeout_at(deadline, reaching).await.map_err(late)?
    }
}

impl Connector {
    async fn probe_proxy(&self, proxy: &Proxy, deadline: Instant) -> Result<(), FetchError> {
        let addresses = self.proxy_addresses(proxy).await?;
        let unreachable = |source| proxy.failed("it cannot be reached", source);
        let stream = dial(&addresses, deadline).await.map_err(unreachable)?;
        match proxy.scheme() {
            ProxyScheme::Http | ProxyScheme::Socks5 => Ok(()),
            ProxyScheme::Https => {
                let insecure = |source: io::Error| proxy.failed(&public_reason(&source), source);
                let name = server_name(proxy.host()).map_err(insecure)?;
                let config = self.trust.for_http1().await.map_err(insecure)?;
                TlsConnector::from(config).connect(name, stream).await.map(drop).map_err(insecure)
            }
        }
    }

    /// Returns where a proxy is. It is named by whoever runs this process, so the guard is not asked.
    pub(super) async fn proxy_addresses(&self, proxy: &Proxy) -> Result<Vec<SocketAddr>, FetchError> {
        let found = self.lookup(proxy.host()).await.map_err(|source| {
            let source = source.unwrap_or_else(|| io::Error::other("it has no address"));
            proxy.failed("it was not found", source)
        })?;
        Ok(found.into_iter().map(|ip| SocketAddr::new(ip, proxy.port())).collect())
    }
}
