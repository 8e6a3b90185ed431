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

/// Why a page could not be rendered.
///
/// The display text may be shown to whoever gave the URL; the sources are for logs.
#[derive(Debug, Error)]
pub enum BrowserError {
    /// There is no Chromium where it is looked for.
    #[error("there is no Chromium: install chromium-headless-shell or chromium, or name one")]
    Missing {
        /// The configured path, if there is one.
        path: Option<PathBuf>,
    },
    /// Chromium does not start.
    #[error("Chromium does not start")]
    Start {
        /// What the system said.
        source: io::Error,
        /// The end of what Chromium said, for the log.
        log: String,
    },
    /// The remote browser cannot be used. Its address is for the operator: it is in the source.
    #[error("the remote browser cannot be used")]
    Remote {
        /// Why; the same for all who ask before it is tried again.
        source: Arc<RemoteError>,
    },
    /// All pages were taken until the deadline.
    #[error("no browser page became free within {} ms", waited.as_millis())]
    Busy {
        /// How long this request waited.
        waited: Duration,
    },
    /// The deadline passed while the page was open.
    #[error("the page was not ready in time")]
    Deadline,
    /// The page or the whole of Chromium ended unexpectedly.
    #[error("the browser page crashed")]
    Crashed,
    /// The page was ended because of its memory.
    #[error("the page was stopped: {}", excess(*limit_bytes, *is_shared))]
    MemoryExceeded {
        /// The bound, in bytes.
        limit_bytes: u64,
        /// The bound is that of the whole browser, of which this page had the largest part.
        is_shared: bool,
    },
    /// Only `http` and `https` are opened.
    #[error("URLs with the scheme {scheme} may not be opened")]
    ForbiddenScheme {
        /// The scheme.
        scheme: String,
    },
    /// The guard refuses the address of the page itself.
    #[error("{}", websvc_transport::REFUSED_ADDRESS)]
    Forbidden,
    /// The rule of the request refuses where the page went; nothing was sent there.
    #[error("{reason}")]
    RefusedByRule {
        /// What the rule says.
        reason: String,
    },
    /// The page itself did not arrive.
    #[error("the page cannot be opened: {reason}")]
    Navigation {
        /// Which part of the way to the page failed.
        kind: NavigationErrorKind,
        /// What is wrong, in public words.
        reason: String,
    },
    /// The URL answers with a file that a browser would save instead of showing.
    #[error("the URL is a download, not a page")]
    Download,
    /// An action could not be done.
    #[error("action {index} ({action}) failed: {reason}")]
    Step {
        /// Its place in the list, from 0.
        index: usize,
        /// Its name, as the interface spells it.
        action: &'static str,
        /// What is wrong with it, in public words.
        reason: String,
    },
    /// Chromium answered otherwise than the protocol says.
    #[error("the browser gave an unexpected answer")]
    Protocol {
        /// The method and what is wrong with its answer.
        detail: String,
    },
}

/// Which part of the way to a page failed, as the fetch of it without a browser would tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationErrorKind {
    /// The host has no address.
    Dns,
    /// No address of the host accepted a connection.
    Connect,
    /// There is no secure connection to the host.
    Tls,
    /// The host took too long.
    Timeout,
    /// Anything else, such as an answer that is not HTTP.
    Other,
}

impl NavigationErrorKind {
    pub(crate) fn of_fetch(error: &FetchError) -> Self {
        match error {
            FetchError::Dns { .. } => Self::Dns,
            FetchError::Connect { .. } => Self::Connect,
            FetchError::Tls { .. } => Self::Tls,
            FetchError::Timeout { .. } => Self::Timeout,
            _ => Self::Other,
        }
    }

    /// Reads the name of an error of Chromium (`net_error_list.h`).
    pub(crate) fn of_chromium(name: &str) -> Self {
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

/// Why a remote browser cannot be used, for the operator. Addresses are shown without what may be secret.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// What was given is no address of a remote browser.
    #[error("not the address of a remote browser: {reason}")]
    Address {
        /// The rule it breaks.
        reason: String,
    },
    /// No connection, or no answer.
    #[error("{url} cannot be reached")]
    Unreachable {
        /// What was asked.
        url: Url,
        /// What went wrong.
        source: FetchError,
    },
    /// Something else answers there.
    #[error("{url} is no Chromium: {reason}")]
    NoBrowser {
        /// What was asked.
        url: Url,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The server has no WebSocket there: each start of Chromium has another one.
    #[error(
        "{url} is no WebSocket of a browser: it answers {status} (the address of a Chromium changes with every start; \
         http in place of ws lets it be asked for)"
    )]
    NoWebSocket {
        /// What was asked.
        url: Url,
        /// The status of the answer.
        status: StatusCode,
    },
    /// The connection ended, or a command was refused, before the first page.
    #[error("{endpoint} does not do what a browser has to: {reason}")]
    Unfit {
        /// The configured address.
        endpoint: String,
        /// What is wrong.
        reason: String,
    },
    /// Pages would have no way out: the browser does not reach the proxy of its pages.
    #[error(
        "{endpoint} does not reach the proxy of its pages at {proxy}{stranger}: set browser.egress_listen, \
         browser.egress_host and browser.egress_allowed_networks"
    )]
    NoWayBack {
        /// The configured address.
        endpoint: String,
        /// The proxy as the browser was told.
        proxy: String,
        /// Who was turned away meanwhile, in words; else empty.
        stranger: String,
    },
    /// Pages would have another way out than the guard.
    #[error(
        "{endpoint} lets pages past the guard by WebRTC: start it with \
         --force-webrtc-ip-handling-policy=disable_non_proxied_udp and \
         --webrtc-ip-handling-policy=disable_non_proxied_udp"
    )]
    Leaks {
        /// The configured address.
        endpoint: String,
    },
}

fn excess(limit_bytes: u64, is_shared: bool) -> String {
    let limit = limit_bytes / (1024 * 1024);
    if is_shared {
        format!(
            "all pages of the browser together used more than {limit} MiB of memory, and this one the most"
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
    /// Says that an answer lacks what the protocol promises.
    pub(crate) fn lacking(method: &str, what: &str) -> Self {
        Self::Protocol { detail: format!("{method} gave no {what}") }
    }
}

#[cfg(test)]
mod tests {
    use super::NavigationErrorKind as Kind;

    #[test]
    fn errors_of_chromium_have_the_kind_that_a_fetch_would_have() {
        for (name, expected) in [
            ("net::ERR_NAME_NOT_RESOLVED", Kind::Dns),
            ("net::ERR_CONNECTION_REFUSED", Kind::Connect),
            ("net::ERR_TIMED_OUT", Kind::Timeout),
            ("net::ERR_CERT_AUTHORITY_INVALID", Kind::Tls),
            ("net::ERR_SSL_PROTOCOL_ERROR", Kind::Tls),
            ("net::ERR_EMPTY_RESPONSE", Kind::Other),
            ("net::ERR_ABORTED", Kind::Other),
        ] {
            assert_eq!(Kind::of_chromium(name), expected, "{name}");
        }
    }
}
