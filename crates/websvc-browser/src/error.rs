//! The errors of this crate.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use thiserror::Error;
use url::Url;
use websvc_transport::FetchError;

use crate::connection::CdpError;

/// The error of a page that could not be rendered.
///
/// The display text is public; the sources are for logs.
#[derive(Debug, Error)]
pub enum BrowserError {
    /// Chromium was not found.
    #[error("Chromium not found: install chromium-headless-shell or chromium, or set its path")]
    Missing {
        /// The configured path.
        path: Option<PathBuf>,
    },
    /// Chromium did not start.
    #[error("Chromium did not start")]
    Start {
        /// The error of the system.
        source: io::Error,
        /// The end of the output of Chromium, for the log.
        log: String,
    },
    /// The remote browser cannot be used. Only the source names its address, which is not public.
    #[error("the remote browser cannot be used")]
    Remote {
        /// The reason, which is the same for all requests until the next attempt.
        source: Arc<RemoteError>,
    },
    /// All pages were in use until the deadline.
    #[error("no browser page became free within {} ms", waited.as_millis())]
    Busy {
        /// The time that this request waited.
        waited: Duration,
    },
    /// The deadline passed while the page was open.
    #[error("the page was not ready in time")]
    Deadline,
    /// The page or Chromium ended unexpectedly.
    #[error("the browser page crashed")]
    Crashed,
    /// The page was stopped because of its memory.
    #[error("the page was stopped: {}", excess_reason(*limit_bytes, *is_shared))]
    MemoryExceeded {
        /// The limit, in bytes.
        limit_bytes: u64,
        /// True if the limit is that of the whole browser, of which this page used the largest part.
        is_shared: bool,
    },
    /// The scheme of the URL is neither `http` nor `https`.
    #[error("URLs with the scheme {scheme} cannot be opened")]
    ForbiddenScheme {
        /// The scheme.
        scheme: String,
    },
    /// The address guard refused the address of the page.
    #[error("{}", websvc_transport::REFUSED_ADDRESS)]
    Forbidden,
    /// The navigation rule of the request refused a navigation. Nothing was sent to that URL.
    #[error("{reason}")]
    RefusedByRule {
        /// The reason that the rule returned.
        reason: String,
    },
    /// The page could not be loaded.
    #[error("the page cannot be opened: {reason}")]
    Navigation {
        /// The kind of the failure.
        kind: NavigationErrorKind,
        /// The reason; public.
        reason: String,
    },
    /// The response is a file that a browser would save instead of showing.
    #[error("the URL is a download, not a page")]
    Download,
    /// An action failed.
    #[error("action {index} ({action}) failed: {reason}")]
    Step {
        /// Its index in the list.
        index: usize,
        /// Its name in the API.
        action: &'static str,
        /// The reason; public.
        reason: String,
    },
    /// Chromium violated the DevTools protocol.
    #[error("the browser returned an unexpected response")]
    Protocol {
        /// The method, and what is wrong with its response.
        detail: String,
    },
}

/// The kind of a failed navigation. The kinds are those of a fetch without the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationErrorKind {
    /// The host name could not be resolved.
    Dns,
    /// No connection to the host could be established.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The host took too long.
    Timeout,
    /// Any other failure, such as a response that is not HTTP.
    Other,
}

impl NavigationErrorKind {
    pub(crate) fn from_fetch_error(error: &FetchError) -> Self {
        match error {
            FetchError::Dns { .. } => Self::Dns,
            FetchError::Connect { .. } => Self::Connect,
            FetchError::Tls { .. } => Self::Tls,
            FetchError::Timeout { .. } => Self::Timeout,
            _ => Self::Other,
        }
    }

    /// Returns the kind of an error name of Chromium (`net_error_list.h`).
    pub(crate) fn from_chromium(name: &str) -> Self {
        match name.strip_prefix("net::ERR_").unwrap_or(name) {
            "NAME_NOT_RESOLVED" | "NAME_RESOLUTION_FAILED" => Self::Dns,
            "CONNECTION_REFUSED" | "CONNECTION_FAILED" | "ADDRESS_UNREACHABLE" => Self::Connect,
            "TIMED_OUT" | "CONNECTION_TIMED_OUT" => Self::Timeout,
            name if name.starts_with("CERT_") || name.starts_with("SSL_") || name.starts_with("BAD_SSL_") => {
                Self::Tls
            }
            _ => Self::Other,
        }
    }
}

/// The reason why a remote browser cannot be used, for the operator. URLs are shown without user, password and query.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The configured value is not an endpoint of a remote browser.
    #[error("not the address of a remote browser: {reason}")]
    Address {
        /// The rule that it violates.
        reason: String,
    },
    /// The connection or the request failed.
    #[error("{url} cannot be reached")]
    Unreachable {
        /// The requested URL.
        url: Url,
        /// The error.
        source: FetchError,
    },
    /// The server is not a Chromium.
    #[error("{url} is not a Chromium: {reason}")]
    NotChromium {
        /// The requested URL.
        url: Url,
        /// The reason why its response cannot be used.
        reason: String,
    },
    /// The URL is not a WebSocket. Its path changes with every start of Chromium.
    #[error(
        "{url} is not a WebSocket of a browser: it responded with {status} (its path changes with every start of \
         Chromium; with http in place of ws, it is looked up)"
    )]
    NoWebSocket {
        /// The requested URL.
        url: Url,
        /// The status of the response.
        status: StatusCode,
    },
    /// The connection ended or a command was refused during the checks.
    #[error("{endpoint} is not usable as a browser: {reason}")]
    Incompatible {
        /// The configured address.
        endpoint: String,
        /// The reason.
        reason: String,
    },
    /// The browser cannot connect to the proxy of its pages, so pages would have no network access.
    #[error(
        "{endpoint} cannot reach the proxy of its pages at {proxy}{rejected}: set browser.egress_listen, \
         browser.egress_host and browser.egress_allowed_networks"
    )]
    ProxyUnreachable {
        /// The configured address.
        endpoint: String,
        /// The proxy URL that the browser was given.
        proxy: String,
        /// A description of the connection that was rejected meanwhile, or empty.
        rejected: String,
    },
    /// Pages could bypass the address guard by WebRTC.
    #[error(
        "{endpoint} lets pages bypass the address guard by WebRTC: start it with \
         --force-webrtc-ip-handling-policy=disable_non_proxied_udp and \
         --webrtc-ip-handling-policy=disable_non_proxied_udp"
    )]
    WebRtcBypass {
        /// The configured address.
        endpoint: String,
    },
}

fn excess_reason(limit_bytes: u64, is_shared: bool) -> String {
    let limit = limit_bytes / (1024 * 1024);
    if is_shared {
        format!(
            "all pages of the browser together used more than {limit} MiB of memory, and this page used the most"
        )
    } else {
        format!("it used more than {limit} MiB of memory")
    }
}

impl From<RemoteError> for BrowserError {
    fn from(source: RemoteError) -> Self {
        Self::Remote { source: Arc::new(source) }
    }
}

impl From<CdpError> for BrowserError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Lost => Self::Crashed,
            refused @ (CdpError::Refused { .. } | CdpError::TooLarge { .. }) => {
                Self::Protocol { detail: refused.to_string() }
            }
        }
    }
}

impl BrowserError {
    /// Returns the error for a response that lacks a required field.
    pub(crate) fn missing_field(method: &str, field: &str) -> Self {
        Self::Protocol { detail: format!("{method} returned no {field}") }
    }
}

#[cfg(test)]
mod tests {
    use super::NavigationErrorKind as Kind;

    #[test]
    fn from_chromium_returns_the_kind_of_a_fetch_error() {
        for (name, expected) in [
            ("net::ERR_NAME_NOT_RESOLVED", Kind::Dns),
            ("net::ERR_CONNECTION_REFUSED", Kind::Connect),
            ("net::ERR_TIMED_OUT", Kind::Timeout),
            ("net::ERR_CERT_AUTHORITY_INVALID", Kind::Tls),
            ("net::ERR_SSL_PROTOCOL_ERROR", Kind::Tls),
            ("net::ERR_EMPTY_RESPONSE", Kind::Other),
            ("net::ERR_ABORTED", Kind::Other),
        ] {
            assert_eq!(Kind::from_chromium(name), expected, "{name}");
        }
    }
}
