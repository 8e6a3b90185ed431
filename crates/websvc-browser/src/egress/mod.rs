//! The only way out of a browser context: a SOCKS5 proxy in this process whose connections the guarded client makes.
//!
//! SOCKS, not HTTP: each connection of Chromium becomes one tunnel, whatever is spoken in it, names arrive as names,
//! and a refusal is an error of the network that no page can take for an answer. Chromium has no password for SOCKS
//! proxies, so the socket's owner is checked instead where the system tells it, or the address of a remote browser; the
//! port is random, and the listener lives no longer than its page.

mod budget;
mod listener;
mod peer;
mod socks;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use url::Host;
use websvc_transport::{Client, FetchError, Proxy};

pub(crate) use listener::{ProxyListener, RemoteAccess};

use crate::error::NavigationErrorKind;
use budget::Budget;

/// How long a client may take to say where it wants to go.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Refusals and failures that are remembered; a hostile page makes more.
const MAX_NOTES: usize = 100;

/// A connection that the guard did not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The host that the page named.
    pub host: String,
    /// The port that the page named.
    pub port: u16,
}

/// Where a context's connections may lead.
#[derive(Clone)]
pub(crate) enum Destinations {
    /// Where the guard of a client allows, directly or through a proxy.
    Guarded { client: Client, proxy: Option<Proxy> },
    /// Nowhere.
    Nothing,
}

/// The bounds of one proxy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) connect_timeout: Duration,
    pub(crate) connections: usize,
    pub(crate) traffic_bytes: u64,
}

/// A listening proxy; it and all its connections end when it is dropped.
pub(crate) struct Egress {
    server: String,
    notes: Arc<Mutex<EgressFailures>>,
    task: JoinHandle<()>,
}

/// What went wrong, by destination.
#[derive(Default)]
struct EgressFailures {
    failures: HashMap<(String, u16), Failure>,
    is_over_budget: bool,
    /// Who was turned away last.
    stranger: Option<IpAddr>,
}

#[derive(Clone)]
enum Failure {
    Refused,
    Failed(NavigationErrorKind, String),
}

/// What every connection of a proxy needs.
struct Rules {
    destinations: Destinations,
    bounds: Bounds,
    budget: Budget,
    places: Semaphore,
    entrance: ProxyListener,
    notes: Arc<Mutex<EgressFailures>>,
}

impl Egress {
    /// Listens on a random port.
    pub(crate) async fn start(
        destinations: Destinations,
        bounds: Bounds,
        entrance: ProxyListener,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((entrance.listen(), 0)).await?;
        let addr = listener.local_addr()?;
        let server = entrance.server(addr);
        let notes = Arc::new(Mutex::new(EgressFailures::default()));
        let rules = Rules {
            destinations,
            bounds,
            budget: Budget::new(bounds.traffic_bytes),
            places: Semaphore::new(bounds.connections),
            entrance,
            notes: Arc::clone(&notes),
        };
        let task = tokio::spawn(serve(listener, addr, Arc::new(rules)));
        Ok(Self { server, notes, task })
    }

    /// Returns the proxy as Chromium writes it.
    pub(crate) fn proxy_url(&self) -> &str {
        &self.server
    }

    /// Returns who was turned away last, if anybody was.
    pub(crate) fn last_rejected_peer(&self) -> Option<IpAddr> {
        lock(&self.notes).stranger
    }

    /// Returns what the guard refused, in the order of names.
    pub(crate) fn refused(&self) -> Vec<Refusal> {
        let notes = lock(&self.notes);
        let refused = notes.failures.iter().filter(|(_, failure)| matches!(failure, Failure::Refused));
        let mut refused: Vec<Refusal> =
            refused.map(|((host, port), _)| Refusal { host: host.clone(), port: *port }).collect();
        refused.sort_by(|a, b| (&a.host, a.port).cmp(&(&b.host, b.port)));
        refused
    }

    /// Returns why a host could not be reached, or `None` when it could: refused, or in public words.
    pub(crate) fn failure(
        &self,
        host: &str,
        port: u16,
    ) -> Option<Result<(NavigationErrorKind, String), Forbidden>> {
        match lock(&self.notes).failures.get(&(host.to_owned(), port))? {
            Failure::Refused => Some(Err(Forbidden)),
            Failure::Failed(kind, reason) => Some(Ok((*kind, reason.clone()))),
        }
    }

    /// Tells whether connections were cut because the page had sent and received enough.
    pub(crate) fn is_over_budget(&self) -> bool {
        lock(&self.notes).is_over_budget
    }
}

/// The guard said no.
pub(crate) struct Forbidden;

impl Drop for Egress {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, addr: SocketAddr, rules: Arc<Rules>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let rules = Arc::clone(&rules);
                    connections.spawn(async move { rules.connection(stream, peer, addr).await });
                }
                // Out of files, most likely: others may close some.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

impl Rules {
    async fn connection(&self, mut stream: TcpStream, peer: SocketAddr, own: SocketAddr) {
        let Ok(_place) = self.places.try_acquire() else { return };
        if !self.entrance.admits(peer, own).await {
            tracing::warn!(%peer, "somebody else tried to use the browser's proxy");
            lock(&self.notes).stranger = Some(peer.ip().to_canonical());
            return;
        }
        let _ = stream.set_nodelay(true);
        let Ok(Ok((host, port))) = timeout(HANDSHAKE, socks::accept(&mut stream)).await else { return };
        let tunnel = match &self.destinations {
            Destinations::Guarded { client, proxy } => {
                client.tunnel(&host, port, proxy.as_ref(), self.bounds.connect_timeout).await
            }
            Destinations::Nothing => Err(FetchError::Forbidden),
        };
        match tunnel {
            Ok(tunnel) => {
                if socks::succeed(&mut stream).await.is_ok() && !self.budget.copy(stream, tunnel).await {
                    lock(&self.notes).is_over_budget = true;
                }
            }
            Err(error) => {
                self.note(&host, port, &error);
                // The client may be gone already.
                let _ = socks::refuse(&mut stream, &error).await;
            }
        }
    }

    fn note(&self, host: &Host, port: u16, error: &FetchError) {
        let failure = match error {
            FetchError::Forbidden => Failure::Refused,
            other => Failure::Failed(NavigationErrorKind::of_fetch(other), other.to_string()),
        };
        let mut notes = lock(&self.notes);
        if notes.failures.len() < MAX_NOTES {
            notes.failures.insert((host.to_string(), port), failure);
        }
    }
}

fn lock(notes: &Mutex<EgressFailures>) -> MutexGuard<'_, EgressFailures> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}
