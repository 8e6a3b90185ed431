//! Configuration of a server.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{Response, StatusCode};

use crate::body::Body;

/// The files of a certificate chain and its private key, both PEM.
///
/// When a client connects, the server checks the files for changes, at most once a second. It reloads a changed pair if
/// that is valid. Otherwise it logs the error and keeps the old pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the host, followed by the intermediate certificates.
    pub cert: PathBuf,
    /// The private key: PKCS #8, PKCS #1 or SEC1.
    pub key: PathBuf,
}

/// Creates the body and headers of a response that does not come from the handler.
pub type ErrorReply = Arc<dyn Fn(StatusCode) -> Response<Body> + Send + Sync>;

/// Address and limits of a server. The defaults suit the public internet.
#[derive(Clone)]
pub struct ServerConfig {
    /// The address as `host:port`. Port 0 lets the system choose.
    pub listen: String,
    /// Certificate files; the server speaks TLS if they are set.
    pub tls: Option<TlsFiles>,
    /// Maximum number of concurrent connections, including idle ones. More wait unaccepted in the listener's backlog.
    pub max_connections: usize,
    /// Maximum size in bytes of the head of a request, and of the header list in HTTP/2. A larger one gets a 431. At
    /// least 8192.
    pub max_header_bytes: usize,
    /// Maximum number of header fields of a request over HTTP/1.1. More get a 431.
    pub max_headers: usize,
    /// Maximum time from the start of a connection, or from the first byte of a request, to the end of its head. After
    /// that the server sends a 408 and closes the connection.
    pub header_timeout: Duration,
    /// Maximum time for which a connection waits for its next request.
    pub idle_timeout: Duration,
    /// Maximum time from the start of a connection to the end of the TLS handshake.
    pub tls_handshake_timeout: Duration,
    /// Maximum time for which a client reads no byte of a response.
    pub write_stall_timeout: Duration,
    /// Maximum time for requests in flight after the shutdown signal.
    pub drain_timeout: Duration,
    /// Maximum number of concurrent HTTP/2 streams of one connection.
    pub max_concurrent_streams: u32,
    /// Interval of pings to a silent HTTP/2 client. One that does not answer within 20 s is disconnected.
    pub h2_ping_interval: Duration,
    /// Creates the response when a handler panics (500), when the head of a request is too slow (408), or when a
    /// request does not name exactly one host (400). The server sets the status.
    pub error_reply: ErrorReply,
    /// The clock of the header `Date`; for tests, another one than that of the system.
    pub clock: fn() -> SystemTime,
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
            clock: SystemTime::now,
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
