//! The server: accepts connections within its limits, and shuts down gracefully.

mod activity;
mod body;
mod config;
mod connection;
mod deadline_timer;
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

/// Delay after a failed accept, such as when the system is out of file descriptors or memory.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// The handler of requests. Its type is erased, so that the code of connections is compiled once, in this crate.
type Handler = Arc<dyn Fn(Request<ServerBody>) -> HandlerFuture + Send + Sync>;

/// The future of a handler.
type HandlerFuture = BoxFuture<'static, Response<Body>>;

/// A server that is bound to its address and not yet running.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    local_addr: SocketAddr,
    tls: Option<Arc<ReloadingAcceptor>>,
    config: ServerConfig,
}

/// Outcome of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Connections that finished by themselves during the shutdown.
    pub finished: usize,
    /// Connections that were closed when the drain timeout passed.
    pub aborted: usize,
}

impl Server {
    /// Binds `config.listen` and reads the certificate, if there is one.
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

    /// Returns the address of the listener. It has the port that the system chose, if the configured port is 0.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Returns `"https"` when a certificate is configured, else `"http"`.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Serves until `shutdown` completes, then finishes the requests in flight.
    ///
    /// `handler` is called once per request. Its future is dropped when the client disconnects, so work that must
    /// survive that belongs in a task of its own. A panic in it is logged, and [`ServerConfig::error_reply`] is the
    /// response. When `shutdown` completes, the server closes the listener and idle connections. Requests in flight
    /// have [`ServerConfig::drain_timeout`] to finish. Dropping this future closes all connections.
    ///
    /// # Errors
    /// None today: errors of accept are logged, and the server continues.
    pub async fn run<H, F, S>(self, handler: H, shutdown: S) -> Result<ShutdownReport, ServerError>
    where
        H: Fn(Request<ServerBody>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
        S: Future<Output = ()> + Send,
    {
        let handler: Handler = Arc::new(move |request| Box::pin(handler(request)));
        Ok(self.accept(handler, Box::pin(shutdown)).await)
    }

    /// Accepts connections until `shutdown` completes, then waits for those that are open.
    fn accept(self, handler: Handler, mut shutdown: BoxFuture<'_, ()>) -> BoxFuture<'_, ShutdownReport> {
        Box::pin(async move {
            let Self { listener, local_addr: _, tls, config } = self;
            let config = Arc::new(config);
            let (drain, draining) = watch::channel(false);
            let mut connections = JoinSet::new();
            loop {
                // At the limit the server accepts nothing: new clients wait in the listener's backlog.
                let below_limit = connections.len() < config.max_connections;
                tokio::select! {
                    biased;
                    () = &mut shutdown => break,
                    Some(ended) = connections.join_next(), if !connections.is_empty() => log_panic(ended),
                    accepted = listener.accept(), if below_limit => match accepted {
                        Ok((stream, peer)) => {
                            let accepted = AcceptedStream { stream, peer, tls: tls.clone(), config: Arc::clone(&config) };
                            connections.spawn(connection::serve(accepted, Arc::clone(&handler), draining.clone()));
                        }
                        Err(error) => back_off(&error).await,
                    },
                }
            }
            drop(listener);
            drain.send_replace(true);
            finish_connections(connections, config.drain_timeout).await
        })
    }
}

async fn finish_connections(mut connections: JoinSet<()>, limit: Duration) -> ShutdownReport {
    let open = connections.len();
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            log_panic(ended);
        }
    };
    // After a timeout `connections` has those that did not finish, which the report counts.
    let _ = tokio::time::timeout(limit, all_ended).await;
    let aborted = connections.len();
    connections.shutdown().await;
    ShutdownReport { finished: open - aborted, aborted }
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection task panicked");
    }
}

async fn back_off(error: &io::Error) {
    match error.kind() {
        // Not an error of this server: the client disconnected before it was accepted.
        io::ErrorKind::ConnectionAborted
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionRefused => {}
        _ => {
            tracing::warn!(%error, "cannot accept connections; retrying");
            tokio::time::sleep(ACCEPT_BACKOFF).await;
        }
    }
}

/// Configures an accepted socket for any protocol.
fn prepare(stream: &TcpStream) {
    // Without Nagle's algorithm a response is sent at once. A failure only costs latency.
    let _ = stream.set_nodelay(true);
}
