//! The address of a remote browser: what an operator writes, and the WebSocket that is behind it.

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

/// What Chromium answers to those who call it by a name.
const NAME_REFUSED: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
/// The largest answer to the question where the WebSocket is.
const MAX_ANSWER: u64 = 64 * 1024;
/// What the key is hashed with (RFC 6455, section 1.3).
const HANDSHAKE_GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The address of a remote Chromium's DevTools: `ws://host:9222/devtools/browser/ID`, `wss://...`, or `http://host:9222`
/// and `https://...`, which are asked where the WebSocket is.
///
/// Its text leaves out user, password and query, which may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteEndpoint(Url);

/// An open WebSocket, and its two ends.
pub(crate) struct OpenSocket {
    pub(crate) tunnel: Tunnel,
    pub(crate) local: IpAddr,
    pub(crate) remote: IpAddr,
}

impl FromStr for RemoteEndpoint {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<Self, RemoteError> {
        let unusable = |reason: &str| RemoteError::Address { reason: reason.to_owned() };
        let url = Url::parse(text).map_err(|error| unusable(&error.to_string()))?;
        if !matches!(url.scheme(), "ws" | "wss" | "http" | "https") {
            return Err(unusable("its scheme must be ws, wss, http or https"));
        }
        if url.port() == Some(0) || url.fragment().is_some() {
            return Err(unusable("it must have a usable port and no fragment"));
        }
        Ok(Self(url))
    }
}

impl fmt::Display for RemoteEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shown(&self.0))
    }
}

impl fmt::Debug for RemoteEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteEndpoint({self})")
    }
}

/// Writes a URL without what may be secret.
fn shown(url: &Url) -> Url {
    let mut shown = url.clone();
    // These URLs have a host, so it cannot be refused.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown
}

impl RemoteEndpoint {
    /// Opens the WebSocket of the browser.
    pub(crate) async fn open(&self, client: &Client, limit: Duration) -> Result<OpenSocket, RemoteError> {
        let found = if matches!(self.0.scheme(), "ws" | "wss") {
            self.0.clone()
        } else {
            discover(&self.0, client, limit).await?
        };
        let asked = with_scheme(&found, if found.scheme() == "wss" { "https" } else { "http" });
        let mut answer = shake_hands(&asked, client, limit).await?;
        if let HandshakeOutcome::Refused { status: NAME_REFUSED, remote } = answer
            && let Some(asked) = by_address(&asked, remote)
        {
            answer = shake_hands(&asked, client, limit).await?;
        }
        match answer {
            HandshakeOutcome::Opened(opened) => Ok(opened),
            HandshakeOutcome::Refused { status, remote: _ } => {
                Err(RemoteError::NoWebSocket { url: shown(&found), status })
            }
        }
    }
}

enum HandshakeOutcome {
    Opened(OpenSocket),
    Refused { status: StatusCode, remote: SocketAddr },
}

/// Asks Chromium where its WebSocket is. It names the host as it was called itself, or as it listens: what counts is
/// the host that was configured.
async fn discover(endpoint: &Url, client: &Client, limit: Duration) -> Result<Url, RemoteError> {
    let mut url = endpoint.clone();
    url.set_path(&format!("{}/json/version", endpoint.path().trim_end_matches('/')));
    let ask = |url: &Url| {
        let request = FetchRequest {
            timeout: limit,
            connect_timeout: limit,
            max_body_bytes: MAX_ANSWER,
            max_decoded_bytes: MAX_ANSWER,
            redirects: RedirectPolicy::None,
            ..FetchRequest::get(url.clone())
        };
        client.fetch(request)
    };
    let failed = |source| RemoteError::Unreachable { url: shown(&url), source };
    let mut answer = ask(&url).await.map_err(failed)?;
    if answer.status == NAME_REFUSED
        && let Some(url) = by_address(&url, answer.remote_addr)
    {
        answer = ask(&url).await.map_err(failed)?;
    }
    let no_browser = |reason: String| RemoteError::NoBrowser { url: shown(&url), reason };
    if !answer.status.is_success() {
        return Err(no_browser(format!("it answers {}", answer.status)));
    }
    let said: Value =
        serde_json::from_slice(&answer.body).map_err(|_| no_browser("its answer is no JSON".to_owned()))?;
    let socket = said["webSocketDebuggerUrl"].as_str().and_then(|text| Url::parse(text).ok());
    let Some(socket) = socket else {
        return Err(no_browser("its answer has no webSocketDebuggerUrl".to_owned()));
    };
    let mut found = with_scheme(endpoint, if endpoint.scheme() == "https" { "wss" } else { "ws" });
    found.set_path(socket.path());
    if socket.query().is_some() {
        found.set_query(socket.query());
    }
    Ok(found)
}

/// Asks for a WebSocket (RFC 6455, section 4.1).
async fn shake_hands(url: &Url, client: &Client, limit: Duration) -> Result<HandshakeOutcome, RemoteError> {
    let mut random = [0; 16];
    let key = match ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut random) {
        Ok(()) => BASE64.encode(random),
        Err(_) => {
            return Err(RemoteError::NoBrowser {
                url: shown(url),
                reason: "there is no randomness".to_owned(),
            });
        }
    };
    let mut headers = HeaderMap::new();
    headers.insert(SEC_WEBSOCKET_KEY, HeaderValue::from_str(&key).expect("base64 is ASCII"));
    headers.insert(HeaderName::from_static("sec-websocket-version"), HeaderValue::from_static("13"));
    let request = UpgradeRequest { url: url.clone(), protocol: "websocket", headers, timeout: limit };
    let failed = |source: FetchError| RemoteError::Unreachable { url: shown(url), source };
    match client.upgrade(request).await.map_err(failed)? {
        Upgrade::Refused { status, remote_addr } => {
            Ok(HandshakeOutcome::Refused { status, remote: remote_addr })
        }
        Upgrade::Switched { headers, tunnel, local_addr, remote_addr } => {
            if headers
                .get(SEC_WEBSOCKET_ACCEPT)
                .is_none_or(|accept| accept.as_bytes() != accepted(&key).as_bytes())
            {
                let reason = "it does not speak as WebSockets do".to_owned();
                return Err(RemoteError::NoBrowser { url: shown(url), reason });
            }
            let (local, remote) = (local_addr.ip().to_canonical(), remote_addr.ip().to_canonical());
            Ok(HandshakeOutcome::Opened(OpenSocket { tunnel, local, remote }))
        }
    }
}

/// Returns what a server answers to a key.
fn accepted(key: &str) -> String {
    let algorithm = &ring::digest::SHA1_FOR_LEGACY_USE_ONLY;
    BASE64.encode(ring::digest::digest(algorithm, format!("{key}{HANDSHAKE_GUID}").as_bytes()))
}

/// Calls the host by its address, as Chromium wants it: it takes names for an attack by DNS. A certificate is for the
/// name, so this is no way with TLS; whoever stands there can name the host as Chromium likes it.
fn by_address(url: &Url, address: SocketAddr) -> Option<Url> {
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    if !is_name || url.scheme() != "http" {
        return None;
    }
    let mut named = url.clone();
    named.set_ip_host(address.ip()).ok()?;
    Some(named)
}

fn with_scheme(url: &Url, scheme: &str) -> Url {
    let mut changed = url.clone();
    changed.set_scheme(scheme).expect("both are schemes of the web");
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_or_refused_with_the_reason() {
        for (text, reason) in [
            ("9222", "relative URL"),
            ("ftp://a.test/x", "its scheme must be ws"),
            ("ws://a.test:0/x", "usable port"),
            ("ws://a.test/x#y", "no fragment"),
        ] {
            let refused = text.parse::<RemoteEndpoint>().unwrap_err().to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
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
    fn secrets_are_not_shown() {
        let endpoint: RemoteEndpoint = "wss://me:secret@a.test/x?token=secret".parse().unwrap();
        assert_eq!(format!("{endpoint} {endpoint:?}"), "wss://a.test/x RemoteEndpoint(wss://a.test/x)");
    }

    #[test]
    fn the_answer_to_a_key_is_that_of_the_standard() {
        assert_eq!(accepted("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn only_names_without_tls_are_called_by_their_address() {
        let address = "10.0.0.1:9222".parse().unwrap();
        let called = |text: &str| by_address(&Url::parse(text).unwrap(), address).map(String::from);
        assert_eq!(
            called("http://chromium:9222/json/version").as_deref(),
            Some("http://10.0.0.1:9222/json/version")
        );
        assert_eq!(called("http://10.0.0.2:9222/"), None);
        assert_eq!(called("https://chromium:9222/"), None);
    }
}
