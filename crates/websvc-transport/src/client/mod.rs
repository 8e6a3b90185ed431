//! The client: fetches one URL within the limits of its request.

mod config;
mod connect;
mod connection;
mod cookies;
mod decode;
mod exchange;
mod fetch;
mod headers;
mod limits;
mod pool;
mod proxy;
mod proxy_connect;
mod proxy_probe;
mod receive;
mod redirect;
mod relay;
mod request;
mod resolve;
mod tunnel;
mod upgrade;
mod url_policy;

use crate::BoxFuture;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use url::{Host, Url};

pub use config::ClientConfig;
pub use cookies::CookieJar;
pub use headers::{has_credentials, is_forbidden_header, text_without_credentials, without_credentials};
pub use proxy::Proxy;
pub use relay::RelayRequest;
pub use request::{BodyMode, FetchRequest, FetchResponse, OversizePolicy, RedirectPolicy, TlsPolicy};
pub use resolve::{Resolve, ResolveFuture, SystemResolver};
pub use upgrade::{Upgrade, UpgradeRequest};
pub use url_policy::UrlPolicy;

use crate::error::{ClientBuildError, FetchError};
use crate::tls::TrustStore;
use connect::Connector;
use pool::Pool;

/// An HTTP client that connects only to addresses that its guard allows. Clones share the connection pool.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

/// State shared by the clones of a client.
struct Shared {
    connector: Connector,
    pool: Arc<Pool>,
    user_agent: Option<http::HeaderValue>,
}

impl Client {
    /// Creates a client. It reads the system's trust anchors at the first `https` URL.
    ///
    /// # Errors
    /// [`ClientBuildError`] when the file of additional trust anchors cannot be used.
    pub fn new(config: ClientConfig) -> Result<Self, ClientBuildError> {
        let trust = TrustStore::load(config.ca_file.as_deref())?;
        let pool = Pool::new(config.connections_per_host, config.idle_per_host, config.idle_timeout);
        let connector = Connector { guard: config.guard, resolver: config.resolver, trust };
        Ok(Self(Arc::new(Shared { connector, pool: Arc::new(pool), user_agent: config.user_agent })))
    }

    /// Fetches a URL. Follows redirects and decodes the body, as the request demands.
    ///
    /// A status of 400 and above is a response, not an error. A body that breaks off is returned and marked as
    /// truncated.
    ///
    /// # Errors
    /// [`FetchError`]. Its text may be shown to the caller who gave the URL.
    pub fn fetch<'a>(&'a self, request: FetchRequest) -> BoxFuture<'a, Result<FetchResponse, FetchError>> {
        Box::pin(async move { fetch::fetch(&self.0, request).await })
    }

    /// Returns the maximum number of concurrent requests to one host.
    #[must_use]
    pub fn connections_per_host(&self) -> usize {
        self.0.pool.connections_per_host()
    }

    /// Returns whether a URL names an address that the guard refuses, as `http://127.0.0.1/` and `http://localhost/`
    /// do. The addresses of other names are known only after resolution. The guard checks them when the client
    /// connects.
    #[must_use]
    pub fn refuses(&self, url: &Url) -> bool {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(name)) if is_localhost(name) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Some(Host::Domain(_)) | None => return false,
        };
        let (host, port) =
            (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        let guard = &self.0.connector.guard;
        guard.target(host, port).is_none() && !guard.allows(address)
    }
}

impl Client {
    /// Returns whether the guard refuses a URL, by the current addresses of its host, and logs why. Connections of a browser
    /// are refused outside the request's span, so the log line is written here. A name that cannot be resolved is not
    /// refused.
    pub async fn refuses_resolved(&self, url: &Url) -> bool {
        let connector = &self.0.connector;
        let Some(host) = url.host().map(|host| host.to_owned()) else { return false };
        let port = url.port_or_known_default().unwrap_or_default();
        if connector.guard.target(&host.to_string(), port).is_some() {
            return false;
        }
        let Ok(found) = connector.lookup(&host).await else { return false };
        let is_refused = !found.iter().any(|ip| connector.guard.allows(*ip));
        if is_refused {
            connector.log_refusal(&host, &found);
        }
        is_refused
    }
}

/// Returns whether a name always means this machine (RFC 6761, section 6.3).
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("guard", &self.0.connector.guard).finish_non_exhaustive()
    }
}
