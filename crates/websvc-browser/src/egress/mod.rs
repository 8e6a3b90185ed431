//! The only network access of a browser context: a SOCKS5 proxy in this process, whose connections the guarded client makes.
//!
//! SOCKS, not HTTP: each connection of Chromium becomes one tunnel, whatever its protocol is. Names arrive unresolved, and
//! a refused connection is a network error, which no page can mistake for a response. Chromium supports no password for
//! SOCKS proxies. Instead the proxy checks the owner of the socket where the system reports it, or the address of a remote
//! browser. The port is random, and the listener lives no longer than its page.

mod listener;
mod peer;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use url::{Host, Url};
use websvc_transport::{Client, FetchError, Proxy, TrafficBudget, socks_server as socks};

pub(crate) use listener::{ProxyListener, RemoteAccess};

use crate::error::NavigationErrorKind;
use crate::request::HostRule;

/// The maximum time of a SOCKS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of failed destinations that are recorded. Hostile pages cause more.
const MAX_FAILURES: usize = 100;

/// A connection that the address guard refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The host that the page requested.
    pub host: String,
    /// The port that the page requested.
    pub port: u16,
}

/// The destinations that the connections of a context may have.
#[derive(Clone)]
pub(crate) enum Destinations {
    /// Those that the guard of a client allows, directly or through a proxy.
    Guarded { client: Client, proxy: Option<Proxy> },
    /// None.
    Nothing,
}

/// The limits of one proxy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EgressLimits {
    pub(crate) connect_timeout: Duration,
    /// Concurrent connections.
    pub(crate) connections: usize,
    /// Bytes that all connections together may send and receive.
    pub(crate) traffic_bytes: u64,
}

/// A listening proxy. Dropping it closes the listener and all connections.
pub(crate) struct Egress {
    proxy_url: String,
    destinations: Destinations,
    hosts: Arc<AllowedHosts>,
    failures: Arc<Mutex<EgressFailures>>,
    task: JoinHandle<()>,
}

/// The hosts that a page may reach: none until a request uses the page, then those that the rule of the request allows, or
/// all. Chromium itself connects from a page that has not navigated yet, to the search engine for example.
#[derive(Default)]
struct AllowedHosts(OnceLock<Option<HostRule>>);

/// The failures of one proxy.
#[derive(Default)]
struct EgressFailures {
    by_destination: HashMap<(String, u16), ConnectFailure>,
    is_over_budget: bool,
    last_rejected_peer: Option<IpAddr>,
}

/// The reason why the proxy could not connect to a destination.
#[derive(Clone)]
pub(crate) enum ConnectFailure {
    /// The address guard refused it.
    Forbidden,
    /// The connection failed; the reason is public.
    Failed { kind: NavigationErrorKind, reason: String },
}

/// The state that all connections of a proxy share.
struct ProxyContext {
    destinations: Destinations,
    hosts: Arc<AllowedHosts>,
    limits: EgressLimits,
    budget: TrafficBudget,
    permits: Semaphore,
    proxy_listener: ProxyListener,
    failures: Arc<Mutex<EgressFailures>>,
}

impl Egress {
    /// Starts a proxy on a random port.
    pub(crate) async fn start(
        destinations: Destinations,
        limits: EgressLimits,
        proxy_listener: ProxyListener,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((proxy_listener.listen_address(), 0)).await?;
        let addr = listener.local_addr()?;
        let proxy_url = proxy_listener.proxy_url(addr);
        let failures = Arc::new(Mutex::new(EgressFailures::default()));
        let hosts = Arc::<AllowedHosts>::default();
        let context = ProxyContext {
            destinations: destinations.clone(),
            hosts: Arc::clone(&hosts),
            limits,
            budget: TrafficBudget::new(limits.traffic_bytes),
            permits: Semaphore::new(limits.connections),
            proxy_listener,
            failures: Arc::clone(&failures),
        };
        let task = tokio::spawn(serve(listener, addr, Arc::new(context)));
        Ok(Self { proxy_url, destinations, hosts, failures, task })
    }

    /// Allows connections, to the hosts that a rule allows. The first rule of a proxy applies for good.
    pub(crate) fn allow(&self, rule: Option<HostRule>) {
        // A page that replaces a closed one has the same rule.
        let _ = self.hosts.0.set(rule);
    }

    /// Returns the proxy URL for Chromium.
    pub(crate) fn proxy_url(&self) -> &str {
        &self.proxy_url
    }

    /// Returns the peer whose connection was rejected last.
    pub(crate) fn last_rejected_peer(&self) -> Option<IpAddr> {
        self.failures.lock().last_rejected_peer
    }

    /// Returns the connections that the guard refused, sorted by host and port.
    pub(crate) fn refused(&self) -> Vec<Refusal> {
        let failures = self.failures.lock();
        let forbidden = failures
            .by_destination
            .iter()
            .filter(|(_, failure)| matches!(failure, ConnectFailure::Forbidden));
        let mut refused: Vec<Refusal> =
            forbidden.map(|((host, port), _)| Refusal { host: host.clone(), port: *port }).collect();
        refused.sort_by(|a, b| (&a.host, a.port).cmp(&(&b.host, b.port)));
        refused
    }

    /// Returns the reason why a host could not be reached, if a connection to it failed.
    pub(crate) fn failure(&self, host: &str, port: u16) -> Option<ConnectFailure> {
        self.failures.lock().by_destination.get(&(host.to_owned(), port)).cloned()
    }

    /// Returns whether connections to the host of a URL are refused, and records the refusal.
    pub(crate) async fn refuses(&self, url: &Url) -> bool {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
        let is_refused = match &self.destinations {
            Destinations::Guarded { .. } if !self.hosts.contains(host) => true,
            Destinations::Guarded { client, proxy: _ } => client.refuses_resolved(url).await,
            Destinations::Nothing => true,
        };
        if is_refused {
            self.failures.lock().record(host, port, ConnectFailure::Forbidden);
        }
        is_refused
    }

    /// Returns whether connections were cut because the traffic budget of the page was used up.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.failures.lock().is_over_budget
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, addr: SocketAddr, context: Arc<ProxyContext>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let context = Arc::clone(&context);
                    connections.spawn(async move { context.serve_connection(stream, peer, addr).await });
                }
                // Most likely the limit on open files; wait until some are closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

impl ProxyContext {
    async fn serve_connection(&self, mut stream: TcpStream, peer: SocketAddr, local: SocketAddr) {
        let Ok(_permit) = self.permits.try_acquire() else { return };
        if !self.proxy_listener.admits(peer, local).await {
            tracing::warn!(%peer, "rejected connection to the browser proxy from a foreign process");
            self.failures.lock().last_rejected_peer = Some(peer.ip().to_canonical());
            return;
        }
        let _ = stream.set_nodelay(true);
        let handshake = timeout(HANDSHAKE_TIMEOUT, socks::accept(&mut stream)).await;
        let Ok(Ok((host, port))) = handshake else { return };
        if self.is_unused() {
            let _ = socks::reply_failure(&mut stream, &FetchError::Forbidden).await;
            return;
        }
        let tunnel = match &self.destinations {
            Destinations::Guarded { .. } if !self.hosts.contains(&host.to_string()) => {
                Err(FetchError::Forbidden)
            }
            Destinations::Guarded { client, proxy } => {
                client.tunnel(&host, port, proxy.as_ref(), self.limits.connect_timeout).await
            }
            Destinations::Nothing => Err(FetchError::Forbidden),
        };
        match tunnel {
            Ok(tunnel) => {
                if socks::reply_success(&mut stream).await.is_ok() && !self.budget.copy(stream, tunnel).await
                {
                    self.failures.lock().is_over_budget = true;
                }
            }
            Err(error) => {
                self.record_failure(&host, port, &error);
                // The client may have closed the connection already.
                let _ = socks::reply_failure(&mut stream, &error).await;
            }
        }
    }

    fn record_failure(&self, host: &Host, port: u16, error: &FetchError) {
        let failure = match error {
            FetchError::Forbidden => ConnectFailure::Forbidden,
            other => ConnectFailure::Failed {
                kind: NavigationErrorKind::from_fetch_error(other),
                reason: other.to_string(),
            },
        };
        self.failures.lock().record(&host.to_string(), port, failure);
    }

    /// Returns whether no request uses the page yet. What Chromium requests meanwhile is not a failure of the page.
    fn is_unused(&self) -> bool {
        matches!(self.destinations, Destinations::Guarded { .. }) && self.hosts.0.get().is_none()
    }
}

impl EgressFailures {
    fn record(&mut self, host: &str, port: u16, failure: ConnectFailure) {
        if self.by_destination.len() < MAX_FAILURES {
            self.by_destination.insert((host.to_owned(), port), failure);
        }
    }
}

impl AllowedHosts {
    fn contains(&self, host: &str) -> bool {
        let rule = self.0.get();
        rule.is_some_and(|rule| rule.as_ref().is_none_or(|HostRule(allows)| allows(host)))
    }
}
