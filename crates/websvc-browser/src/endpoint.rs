//! The endpoint of a remote browser: the configured URL, and the WebSocket that it leads to.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY};
use serde_json::Value;
use url::{Host, Url};
use websvc_transport::{Client, FetchError, FetchRequest, RedirectPolicy, Tunnel, Upgrade, UpgradeRequest};

use crate::error::RemoteError;

/// The status with which Chromium refuses requests that address it by a host name.
const NAME_REFUSED: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
/// The maximum size of the response of `/json/version`, in bytes.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;
/// The GUID that is hashed with the key (RFC 6455, section 1.3).
const HANDSHAKE_GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The DevTools URL of a remote Chromium: `ws://host:9222/devtools/browser/ID` or `wss://...`, or `http://host:9222` or
/// `https://...`, which return the URL of the WebSocket.
///
/// Its `Display` and `Debug` forms omit user, password and query, which may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteEndpoint(Url);

/// An open WebSocket and the addresses of its two ends.
pub(crate) struct OpenSocket {
    pub(crate) tunnel: Tunnel,
    pub(crate) local: IpAddr,
    pub(crate) remote: IpAddr,
}

impl FromStr for RemoteEndpoint {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<Self, RemoteError> {
        let invalid = |reason: &str| RemoteError::Address { reason: reason.to_owned() };
        let url = Url::parse(text).map_err(|error| invalid(&error.to_string()))?;
        if !matches!(url.scheme(), "ws" | "wss" | "http" | "https") {
            return Err(invalid("its scheme must be ws, wss, http or https"));
        }
        if url.port() == Some(0) || url.fragment().is_some() {
            return Err(invalid("it must have a usable port and no fragment"));
        }
        Ok(Self(url))
    }
}

impl fmt::Display for RemoteEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", redacted(&self.0))
    }
}

impl fmt::Debug for RemoteEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteEndpoint({self})")
    }
}

/// Returns a URL without user, password and query.
fn redacted(url: &Url) -> Url {
    let mut redacted = url.clone();
    // Cannot fail: these URLs have a host.
    let _ = redacted.set_username("");
    let _ = redacted.set_password(None);
    redacted.set_query(None);
    redacted
}

impl RemoteEndpoint {
    /// Opens the WebSocket of the browser.
    pub(crate) async fn open(&self, client: &Client, limit: Duration) -> Result<OpenSocket, RemoteError> {
        let socket_url = if matches!(self.0.scheme(), "ws" | "wss") {
            self.0.clone()
        } else {
            discover(&self.0, client, limit).await?
        };
        let scheme = if socket_url.scheme() == "wss" { "https" } else { "http" };
        let http_url = with_scheme(&socket_url, scheme);
        let mut outcome = handshake(&http_url, client, limit).await?;
        if let HandshakeOutcome::Refused { status: NAME_REFUSED, remote } = outcome
            && let Some(http_url) = with_address(&http_url, remote)
        {
            outcome = handshake(&http_url, client, limit).await?;
        }
        match outcome {
            HandshakeOutcome::Opened(socket) => Ok(socket),
            HandshakeOutcome::Refused { status, remote: _ } => {
                Err(RemoteError::NoWebSocket { url: redacted(&socket_url), status })
            }
        }
    }
}

/// The outcome of a WebSocket handshake.
enum HandshakeOutcome {
    Opened(OpenSocket),
    Refused { status: StatusCode, remote: SocketAddr },
}

/// Requests the path of the WebSocket from Chromium. The host in the response is ignored, because Chromium may not know by
/// which address it is reachable.
async fn discover(endpoint: &Url, client: &Client, limit: Duration) -> Result<Url, RemoteError> {
    let mut url = endpoint.clone();
    url.set_path(&format!("{}/json/version", endpoint.path().trim_end_matches('/')));
    let fetch = |url: &Url| {
        let request = FetchRequest {
            timeout: limit,
            connect_timeout: limit,
            max_body_bytes: MAX_RESPONSE_BYTES,
            max_decoded_bytes: MAX_RESPONSE_BYTES,
            redirects: RedirectPolicy::None,
            ..FetchRequest::get(url.clone())
        };
        client.fetch(request)
    };
    let failed = |source| RemoteError::Unreachable { url: redacted(&url), source };
    let mut response = fetch(&url).await.map_err(failed)?;
    if response.status == NAME_REFUSED
        && let Some(url) = with_address(&url, response.remote_addr)
    {
        response = fetch(&url).await.map_err(failed)?;
    }
    let not_chromium = |reason: String| RemoteError::NotChromium { url: redacted(&url), reason };
    if !response.status.is_success() {
        return Err(not_chromium(format!("it responded with {}", response.status)));
    }
    let version: Value = serde_json::from_slice(&response.body)
        .map_err(|_| not_chromium("its response is not JSON".to_owned()))?;
    let socket = version["webSocketDebuggerUrl"].as_str().and_then(|text| Url::parse(text).ok());
    let Some(socket) = socket else {
        return Err(not_chromium("its response has no webSocketDebuggerUrl".to_owned()));
    };
    let mut socket_url = with_scheme(endpoint, if endpoint.scheme() == "https" { "wss" } else { "ws" });
    socket_url.set_path(socket.path());
    if socket.query().is_some() {
        socket_url.set_query(socket.query());
    }
    Ok(socket_url)
}

/// Performs the opening handshake of a WebSocket (RFC 6455, section 4.1).
async fn handshake(url: &Url, client: &Client, limit: Duration) -> Result<HandshakeOutcome, RemoteError> {
    let mut random = [0; 16];
    let key = match ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut random) {
        Ok(()) => BASE64.encode(random),
        Err(_) => {
            return Err(RemoteError::NotChromium {
                url: redacted(url),
                reason: "the system returned no random bytes".to_owned(),
            });
        }
    };
    let mut headers = HeaderMap::new();
    headers.insert(SEC_WEBSOCKET_KEY, HeaderValue::from_str(&key).expect("base64 is ASCII"));
    headers.insert(HeaderName::from_static("sec-websocket-version"), HeaderValue::from_static("13"));
    let request = UpgradeRequest { url: url.clone(), protocol: "websocket", headers, timeout: limit };
    let failed = |source: FetchError| RemoteError::Unreachable { url: redacted(url), source };
    match client.upgrade(request).await.map_err(failed)? {
        Upgrade::Refused { status, remote_addr } => {
            Ok(HandshakeOutcome::Refused { status, remote: remote_addr })
        }
        Upgrade::Switched { headers, tunnel, local_addr, remote_addr } => {
            if headers
                .get(SEC_WEBSOCKET_ACCEPT)
                .is_none_or(|accept| accept.as_bytes() != expected_accept(&key).as_bytes())
            {
                let reason = "its WebSocket handshake is invalid".to_owned();
                return Err(RemoteError::NotChromium { url: redacted(url), reason });
            }
            let (local, remote) = (local_addr.ip().to_canonical(), remote_addr.ip().to_canonical());
            Ok(HandshakeOutcome::Opened(OpenSocket { tunnel, local, remote }))
        }
    }
}

/// Returns the `Sec-WebSocket-Accept` for a key.
fn expected_accept(key: &str) -> String {
    let algorithm = &ring::digest::SHA1_FOR_LEGACY_USE_ONLY;
    BASE64.encode(ring::digest::digest(algorithm, format!("{key}{HANDSHAKE_GUID}").as_bytes()))
}

/// Replaces the host name of a URL by its address. Chromium refuses host names, as protection against DNS rebinding.
/// Returns `None` with TLS, because the certificate is for the name; a proxy that terminates TLS can rewrite the host.
fn with_address(url: &Url, address: SocketAddr) -> Option<Url> {
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    if !is_name || url.scheme() != "http" {
        return None;
    }
    let mut url = url.clone();
    url.set_ip_host(address.ip()).ok()?;
    Some(url)
}

fn with_scheme(url: &Url, scheme: &str) -> Url {
    let mut changed = url.clone();
    changed.set_scheme(scheme).expect("both schemes are special");
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_accepts_urls_and_rejects_others_with_a_reason() {
        for (text, reason) in [
            ("9222", "relative URL"),
            ("ftp://a.test/x", "its scheme must be ws"),
            ("ws://a.test:0/x", "usable port"),
            ("ws://a.test/x#y", "no fragment"),
        ] {
            let error = text.parse::<RemoteEndpoint>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        for text in [
            "http://a.test:9222",
            "https://a.test/",
            "ws://a.test:3000",
            "ws://a.test/devtools/browser/1",
            "wss://a.test/?token=1",
        ] {
            assert!(text.parse::<RemoteEndpoint>().is_ok(), "{text}");
        }
    }

    #[test]
    fn display_and_debug_omit_secrets() {
        let endpoint: RemoteEndpoint = "wss://me:secret@a.test/x?token=secret".parse().unwrap();
        assert_eq!(format!("{endpoint} {endpoint:?}"), "wss://a.test/x RemoteEndpoint(wss://a.test/x)");
    }

    #[test]
    fn expected_accept_matches_the_example_of_the_rfc() {
        assert_eq!(expected_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn with_address_replaces_host_names_without_tls_only() {
        let address = "10.0.0.1:9222".parse().unwrap();
        let replaced = |text: &str| with_address(&Url::parse(text).unwrap(), address).map(String::from);
        assert_eq!(
            replaced("http://chromium:9222/json/version").as_deref(),
            Some("http://10.0.0.1:9222/json/version")
        );
        assert_eq!(replaced("http://10.0.0.2:9222/"), None);
        assert_eq!(replaced("https://chromium:9222/"), None);
    }
}
