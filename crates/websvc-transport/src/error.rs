//! The errors of this crate: one type per operation of a caller.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, StatusCode};
use thiserror::Error;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Error of a server that could not start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The server cannot listen on the address: it is in use, not local, or not an address.
    #[error("cannot listen on {listen}")]
    Bind {
        /// Configured address.
        listen: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The certificate or the key cannot be read or used.
    #[error("cannot use the certificate {cert} with the key {key}")]
    Tls {
        /// File of the certificate chain.
        cert: PathBuf,
        /// File of the private key.
        key: PathBuf,
        /// Cause of the failure.
        source: Source,
    },
}

/// Error of a request body that could not be read.
#[derive(Debug, Error)]
pub enum BodyError {
    /// The body, or its declared length, is larger than the limit.
    #[error("the request body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The client sent the body too slowly.
    #[error("the request body did not arrive in time")]
    TimedOut,
    /// The connection broke, or the framing is invalid.
    #[error("the request body ended early")]
    Broken(#[source] Source),
}

/// Error of a client that could not be created.
#[derive(Debug, Error)]
pub enum ClientBuildError {
    /// The file of additional trust anchors cannot be read, or contains no certificate.
    #[error("cannot read certificates from {path}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: Source,
    },
    /// The URL is not a valid proxy URL.
    #[error("invalid proxy URL: {reason}")]
    Proxy {
        /// The rule that the URL breaks.
        reason: &'static str,
    },
}

/// Phase of a fetch when its time limit passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchPhase {
    /// Waiting for a permit for the host, or for its addresses.
    Resolve,
    /// Connecting, including the TLS handshake.
    Connect,
    /// Waiting for the head of the response.
    Response,
    /// Reading the body of the response.
    Body,
}

impl std::fmt::Display for FetchPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolving the host",
            Self::Connect => "connecting",
            Self::Response => "waiting for the response",
            Self::Body => "reading the body",
        })
    }
}

/// Error text for every address that the guard refuses. All refusals have the same text, so that callers learn nothing
/// about the network. The log has the address and the rule.
pub const REFUSED_ADDRESS: &str = "this URL may not be fetched: only public addresses are allowed, unless the operator \
    lists their networks in fetch.allow_networks";

/// Error of a URL that could not be fetched.
///
/// The display text may be shown to the caller who gave the URL: it contains no address that is not in the URL itself.
/// The sources are for logs.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The guard refuses the address. The text is always the same, so that callers learn nothing from it.
    #[error("{}", REFUSED_ADDRESS)]
    Forbidden,
    /// The scheme is not `http` or `https`.
    #[error("URLs with the scheme {scheme} may not be fetched")]
    ForbiddenScheme {
        /// The scheme of the URL, or of the redirect's target.
        scheme: String,
    },
    /// The header is reserved for the client, or gives access to cloud metadata services.
    #[error("the header {name} may not be set")]
    ForbiddenHeader {
        /// The header.
        name: HeaderName,
    },
    /// The URL, or a redirect's target, cannot be requested.
    #[error("cannot fetch this URL: {reason}")]
    BadUrl {
        /// Reason of the failure.
        reason: String,
    },
    /// The host has no address, or its name cannot be resolved.
    #[error("the host {host} was not found")]
    Dns {
        /// The host of the URL.
        host: String,
        /// Error of the resolver.
        source: Option<io::Error>,
    },
    /// No address of the host accepted a connection.
    #[error("could not connect to {host}")]
    Connect {
        /// The host of the URL.
        host: String,
        /// Error of the last attempt.
        source: io::Error,
    },
    /// The proxy could not be used. Nothing was sent to the host.
    #[error("could not connect through the proxy: {reason}")]
    Proxy {
        /// Reason of the failure, without the proxy's name.
        reason: String,
        /// Status of the proxy's response, if there was one.
        status: Option<StatusCode>,
        /// The same for the log.
        source: Source,
    },
    /// The TLS handshake failed.
    #[error("no secure connection to {host}: {reason}")]
    Tls {
        /// The host of the URL.
        host: String,
        /// Reason of the failure, safe to show to API callers.
        reason: String,
        /// Error of rustls or the operating system.
        source: io::Error,
    },
    /// The time limit passed.
    #[error("timed out after {} ms while {phase}", after.as_millis())]
    Timeout {
        /// Phase of the fetch when the time limit passed.
        phase: FetchPhase,
        /// The time limit.
        after: Duration,
    },
    /// The body, on the wire or decoded, is larger than its limit.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The content coding is invalid, or its compression ratio is too high.
    #[error("the body cannot be decoded: {reason}")]
    Decode {
        /// Reason of the failure.
        reason: String,
    },
    /// The [`UrlPolicy`](crate::UrlPolicy) of the request refuses the target of a redirect. Nothing was sent there.
    #[error("{reason}")]
    RefusedByRule {
        /// Reason of the policy.
        reason: String,
    },
    /// There were more redirects than the request allows.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// Maximum number of redirects.
        limit: usize,
    },
    /// The server closed the connection or did not speak HTTP.
    #[error("{host} did not send a valid HTTP response")]
    Protocol {
        /// The host of the URL.
        host: String,
        /// Error of hyper.
        source: Source,
    },
}
