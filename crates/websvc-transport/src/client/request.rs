//! Requests and responses of fetches.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::cookies::CookieJar;
use super::proxy::Proxy;
use super::url_policy::UrlPolicy;

/// One fetch. The fields are public: start from [`FetchRequest::get`] and change what differs.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// GET unless told otherwise.
    pub method: Method,
    /// `http` or `https`. A user and password in it become an `Authorization` header.
    pub url: Url,
    /// Headers beside those the client sets; see [`is_forbidden_header`](super::is_forbidden_header).
    pub headers: HeaderMap,
    /// Sent as it is.
    pub body: Option<Bytes>,
    /// The time for everything: names, connections, redirects, body.
    pub timeout: Duration,
    /// The time for one connection, TLS handshake included.
    pub connect_timeout: Duration,
    /// The largest body on the wire.
    pub max_body_bytes: u64,
    /// The largest body after decoding.
    pub max_decoded_bytes: u64,
    /// Policy for a body larger than `max_body_bytes`.
    pub excess: OversizePolicy,
    /// Part of the response that the caller reads.
    pub wanted: BodyMode,
    /// Policy for redirects.
    pub redirects: RedirectPolicy,
    /// Asked about the target of each redirect before it is followed.
    pub redirect_rule: Option<UrlPolicy>,
    /// Policy for certificates that cannot be verified.
    pub tls: TlsPolicy,
    /// The way to the host; directly when there is none.
    pub proxy: Option<Proxy>,
    /// Cookies of an earlier fetch that this one goes on with; each is sent only to whom it was set for.
    pub cookies: CookieJar,
}

/// Policy for a body that exceeds the size limit on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OversizePolicy {
    /// Fail.
    Fail,
    /// Bring back its beginning, marked as [`FetchResponse::truncated`], and hang up.
    Cut,
}

/// Part of a response that the caller reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyMode {
    /// The head and the body, which is waited for.
    Body,
    /// The head alone. Nothing about the body can fail the fetch, neither its time, its size nor its coding: a small one
    /// that comes at once is read and thrown away, so that the connection can be kept, and else it is hung up on.
    Head,
}

/// Policy for redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectPolicy {
    /// Follow at most this many.
    Follow(usize),
    /// Bring back the redirect itself.
    None,
}

/// Policy for certificates that cannot be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TlsPolicy {
    /// Fail.
    Verify,
    /// Go on, and report the problem in [`FetchResponse::warnings`].
    SkipVerification,
}

impl FetchRequest {
    /// Returns a GET with 30 seconds in all and 10 for a connection, 50 MiB of body, and 10 redirects.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            max_body_bytes: 50 * 1024 * 1024,
            max_decoded_bytes: 50 * 1024 * 1024,
            excess: OversizePolicy::Fail,
            wanted: BodyMode::Body,
            redirects: RedirectPolicy::Follow(10),
            redirect_rule: None,
            tls: TlsPolicy::Verify,
            proxy: None,
            cookies: CookieJar::default(),
        }
    }

    /// Returns a POST of `body` with the limits of [`get`](Self::get).
    #[must_use]
    pub fn post(url: Url, body: impl Into<Bytes>) -> Self {
        Self { method: Method::POST, body: Some(body.into()), ..Self::get(url) }
    }
}

/// The answer to a fetch.
#[derive(Debug, Clone)]
pub struct FetchResponse {
    /// The status of the last answer.
    pub status: StatusCode,
    /// URL of the final response, after all redirects.
    pub url: Url,
    /// As received, so `Content-Encoding` and `Content-Length` speak of the body on the wire.
    pub headers: HeaderMap,
    /// Decoded; empty when the head alone was wanted.
    pub body: Bytes,
    /// The URLs that redirected, in order; empty when the first one answered.
    pub redirects: Vec<Url>,
    /// The address that was connected to: of the page, of where the guard's rules lead, or of the proxy.
    pub remote_addr: SocketAddr,
    /// The body broke off before its end.
    pub truncated: bool,
    /// Problems that did not fail the fetch, as text for API callers.
    pub warnings: Vec<String>,
    /// The size of the body on the wire.
    pub wire_bytes: u64,
    /// A certificate on the way could not be verified: whoever stands between may have written all of this.
    pub unverified: bool,
    /// Cookies set by the responses, including redirects; without the cookies of the request.
    pub cookies: CookieJar,
    /// A URL of the chain carried a user or a password: the answer may be for that user alone.
    pub sent_credentials: bool,
    /// The last request carried cookies that redirects had set: whoever asks for the last URL directly may be answered
    /// otherwise.
    pub sent_set_cookies: bool,
}
