//! Configuration of a server.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};

use crate::body::Body;

/// The files of a certificate chain and its private key, both PEM.
///
/// They are looked at again, at most once a second, when a client connects; a changed pair is taken over if it is
/// valid, else it is logged and the old one stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the host first, then the intermediate ones.
    pub cert: PathBuf,
    /// PKCS #8, PKCS #1 or SEC1.
    pub key: PathBuf,
}

/// Makes the body and headers of an answer that the server gives by itself.
pub type ErrorReply = Arc<dyn Fn(StatusCode) -> Response<Body> + Send + Sync>;

/// Addresses and limits of a server. The defaults suit the public internet.
#[derive(Clone)]
pub struct ServerConfig {
    /// `host:port`; port 0 lets the system choose.
    pub listen: String,
    /// Speaks TLS when given.
    pub tls: Option<TlsFiles>,
    /// Connections served at a time, idle ones included. More wait unaccepted in the listener's backlog.
    pub max_connections: usize,
    /// The largest head of a request in bytes, and HTTP/2's header list; more is answered 431. At least 8192.
    pub max_header_bytes: usize,
    /// The most header fields of a request over HTTP/1.1; more is answered 431.
    pub max_headers: usize,
    /// From a connection's start, or a request's first byte, to the end of its head; then 408 and close.
    pub header_timeout: Duration,
    /// How long a connection may wait for its next request.
    pub idle_timeout: Duration,
    /// From the connection's start to the end of the TLS handshake.
    pub tls_handshake_timeout: Duration,
    /// How long a client may take no byte of an answer.
    pub write_stall_timeout: Duration,
    /// How long requests in flight may take after the shutdown signal.
    pub drain_timeout: Duration,
    /// HTTP/2 streams open at a time on one connection.
    pub max_concurrent_streams: u32,
    /// How often a silent HTTP/2 client is pinged; one that does not answer within 20 s is dropped.
    pub h2_ping_interval: Duration,
    /// Response when a handler panics (500), when the head of a request is too slow (408), or when a request does
    /// not name exactly one host (400). The server sets the status.
    pub error_reply: ErrorReply,
}

impl ServerConfig {
    /// Returns the default limits for a server on `listen`.
    #[must_use]
    pub fn new(listen: impl Into<String>) -> Self {
        Self {
            listen: listen.into(),
            tls: None,
            max_connections: 8192,
            max_header_bytes: 32 * 1024,
            max_headers: 100,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            tls_handshake_timeout: Duration::from_secs(10),
            write_stall_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(30),
            max_concurrent_streams: 128,
            h2_ping_interval: Duration::from_secs(20),
            error_reply: Arc::new(bare_reply),
        }
    }

    /// Sets [`error_reply`](Self::error_reply).
    #[must_use]
    pub fn with_error_reply(
        mut self,
        reply: impl Fn(StatusCode) -> Response<Body> + Send + Sync + 'static,
    ) -> Self {
        self.error_reply = Arc::new(reply);
        self
    }

    pub(super) fn reply(&self, status: StatusCode) -> Response<Body> {
        let mut response = (self.error_reply)(status);
        *response.status_mut() = status;
        response
    }
}

fn bare_reply(_status: StatusCode) -> Response<Body> {
    Response::new(Body::empty())
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("listen", &self.listen)
            .field("tls", &self.tls)
            .field("max_connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}
