//! The server: listens, accepts within its limits, and drains when told to stop.

mod activity;
mod body;
mod config;
mod connection;
mod dispatch;
mod stream;
mod upgrade;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use crate::BoxFuture;
use crate::body::Body;
use crate::error::ServerError;
use crate::tls::ReloadingAcceptor;
pub use body::{BodyTimeout, ServerBody};
pub use config::{ErrorReply, ServerConfig, TlsFiles};
use connection::AcceptedStream;
pub use upgrade::ShutdownSignal;
pub(crate) use upgrade::UpgradeHandler;

/// How long accepting pauses when the system is out of file descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers a request. Its type is erased, so that connections are compiled once, and in this crate.
type Handler = Arc<dyn Fn(Request<ServerBody>) -> Answer + Send + Sync>;

/// An answer that is being worked on.
type Answer = BoxFuture<'static, Response<Body>>;

/// A bound, not yet running server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    tls: Option<Arc<ReloadingAcceptor>>,
    config: ServerConfig,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Connections that finished by themselves while draining.
    pub finished: usize,
    /// Connections that were cut when the drain time was over.
    pub aborted: usize,
}

impl Server {
    /// Listens on `config.listen` and reads the certificate, if there is one.
    ///
    /// # Errors
    /// [`ServerError`] when the address cannot be bound or the certificate cannot be used.
    pub async fn bind(config: ServerConfig) -> Result<Self, ServerError> {
        let tls = match &config.tls {
            Some(files) => Some(Arc::new(ReloadingAcceptor::load(files.clone())?)),
            None => None,
        };
        let failed = |source| ServerError::Bind { listen: config.listen.clone(), source };
        let listener = TcpListener::bind(&config.listen).await.map_err(failed)?;
        let local_addr = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, local_addr, tls, config })
    }

    /// Returns the address the server listens on, with the port the system chose when 0 was asked for.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Returns `"https"` when a certificate is configured, else `"http"`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Serves until `shutdown` completes, then finishes what is in flight.
    ///
    /// `handler` is called once per request. Its future is dropped when the client goes away, so work that must
    /// survive that belongs in a task of its own. A panic in it is logged and answered by
    /// [`ServerConfig::error_reply`]. When `shutdown` completes, the listener is closed, idle connections end, and
    /// requests in flight have [`ServerConfig::drain_timeout`] to finish. Dropping this future cuts everything.
    ///
    /// # Errors
    /// None today; failures to accept are logged and outlived.
    pub async fn run<H, F, S>(self, handler: H, shutdown: S) -> Result<ShutdownReport, ServerError>
    where
        H: Fn(Request<ServerBody>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
        S: Future<Output = ()> + Send,
    {
        let handler: Handler = Arc::new(move |request| Box::pin(handler(request)));
        Ok(self.accept(handler, Box::pin(shutdown)).await)
    }

    /// Accepts connections until `shutdown` completes, and drains.
    fn accept(self, handler: Handler, mut shutdown: BoxFuture<'_, ()>) -> BoxFuture<'_, ShutdownReport> {
        Box::pin(async move {
            let Self { listener, local_addr: _, tls, config } = self;
            let config = Arc::new(config);
            let (drain, draining) = watch::channel(false);
            let mut connections = JoinSet::new();
            loop {
                // At the limit nothing is accepted: new clients wait in the listener's backlog.
                let has_room = connections.len() < config.max_connections;
                tokio::select! {
                    biased;
                    () = &mut shutdown => break,
                    Some(ended) = connections.join_next(), if !connections.is_empty() => note_end(ended),
                    accepted = listener.accept(), if has_room => match accepted {
                        Ok((stream, peer)) => {
                            let accepted = AcceptedStream { stream, peer, tls: tls.clone(), config: Arc::clone(&config) };
                            connections.spawn(connection::serve(accepted, Arc::clone(&handler), draining.clone()));
                        }
                        Err(error) => outlive(&error).await,
                    },
                }
            }
            drop(listener);
            drain.send_replace(true);
            finish(connections, config.drain_timeout).await
        })
    }
}

async fn finish(mut connections: JoinSet<()>, limit: Duration) -> ShutdownReport {
    let open = connections.len();
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            note_end(ended);
        }
    };
    // A timeout leaves the rest in `connections`, which is what the report counts.
    let _ = tokio::time::timeout(limit, all_ended).await;
    let aborted = connections.len();
    connections.shutdown().await;
    ShutdownReport { finished: open - aborted, aborted }
}

fn note_end(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection task panicked");
    }
}

async fn outlive(error: &io::Error) {
    match error.kind() {
        // The client's doing: it was gone before it was accepted.
        io::ErrorKind::ConnectionAborted
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionRefused => {}
        _ => {
            tracing::warn!(%error, "cannot accept connections, pausing");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

/// Settings of an accepted socket that do not depend on the protocol.
fn prepare(stream: &TcpStream) {
    // An answer is written at once: waiting for more only adds latency. Failing is harmless.
    let _ = stream.set_nodelay(true);
}
