//! The errors of this crate: one type per thing a caller does.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, StatusCode};
use thiserror::Error;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a server could not start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The address is not usable: taken, not ours, or not an address.
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
        /// The certificate chain's file.
        cert: PathBuf,
        /// The private key's file.
        key: PathBuf,
        /// Cause of the failure.
        source: Source,
    },
}

/// Why the body of a request could not be read.
#[derive(Debug, Error)]
pub enum BodyError {
    /// The body is, or says it is, larger than the limit.
    #[error("the request body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The client was too slow.
    #[error("the request body did not arrive in time")]
    TimedOut,
    /// The connection or the framing broke.
    #[error("the request body ended early")]
    Broken(#[source] Source),
}

/// Why a client could not be made.
#[derive(Debug, Error)]
pub enum ClientBuildError {
    /// The file of additional trust anchors cannot be read, or holds no certificate.
    #[error("cannot read certificates from {path}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: Source,
    },
    /// The URL is no proxy's address.
    #[error("the proxy's address is not usable: {reason}")]
    Proxy {
        /// The rule it breaks.
        reason: &'static str,
    },
}

/// Phase of a fetch at its timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchPhase {
    /// Waiting for a free connection to the host, or for its name.
    Resolve,
    /// Connecting, including the TLS handshake.
    Connect,
    /// Waiting for the head of the answer.
    Response,
    /// Reading the body of the answer.
    Body,
}

impl std::fmt::Display for FetchPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolving the host",
            Self::Connect => "connecting",
            Self::Response => "waiting for the answer",
            Self::Body => "reading the body",
        })
    }
}

/// Error text for every address that the guard refuses. One text for all, so that callers learn nothing about the
/// network; the log names the address and the rule.
pub const REFUSED_ADDRESS: &str = "this URL may not be fetched: only public addresses are allowed, unless the operator \
    lists their networks in fetch.allow_networks";

/// Why a URL could not be fetched.
///
/// The display text may be shown to whoever gave the URL: it never names an address that the URL itself did not
/// name. The sources are for logs.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The guard refuses the address, whatever the reason: one text, so that nothing can be learnt from it.
    #[error("{}", REFUSED_ADDRESS)]
    Forbidden,
    /// Only `http` and `https` are fetched.
    #[error("URLs with the scheme {scheme} may not be fetched")]
    ForbiddenScheme {
        /// The scheme of the URL, or of the redirect's target.
        scheme: String,
    },
    /// A header that only the client itself may set, or that unlocks metadata services.
    #[error("the header {name} may not be set")]
    ForbiddenHeader {
        /// The header.
        name: HeaderName,
    },
    /// The URL, or a redirect's target, cannot be requested.
    #[error("not a URL that can be fetched: {reason}")]
    BadUrl {
        /// Reason of the failure.
        reason: String,
    },
    /// The host has no address.
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
    #[error("no connection through the proxy: {reason}")]
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
    /// The time given was used up.
    #[error("timed out after {} ms while {stage}", after.as_millis())]
    Timeout {
        /// Phase of the fetch.
        stage: FetchPhase,
        /// The time that was given to it.
        after: Duration,
    },
    /// The body, on the wire or decoded, exceeds its limit.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The content coding is damaged, or expands like a bomb.
    #[error("the body cannot be decoded: {reason}")]
    Decode {
        /// Reason of the failure.
        reason: String,
    },
    /// The rule of the request refuses the target of a redirect; nothing was sent there.
    #[error("{reason}")]
    RefusedByRule {
        /// Reason of the policy.
        reason: String,
    },
    /// More redirects than the policy follows.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// How many are followed.
        limit: usize,
    },
    /// The server closed the connection or did not speak HTTP.
    #[error("{host} did not give a valid HTTP answer")]
    Protocol {
        /// The host of the URL.
        host: String,
        /// Error of hyper.
        source: Source,
    },
}
