//! Requests and responses of fetches.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::cookies::CookieJar;
use super::proxy::Proxy;
use super::url_policy::UrlPolicy;

/// One fetch. Start with [`FetchRequest::get`] and change the fields that differ.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// The method; GET by default.
    pub method: Method,
    /// An `http` or `https` URL. A user and password in it are sent as an `Authorization` header.
    pub url: Url,
    /// Headers in addition to those of the client; see [`is_forbidden_header`](super::is_forbidden_header).
    pub headers: HeaderMap,
    /// The body, sent unchanged.
    pub body: Option<Bytes>,
    /// Time limit for the whole fetch: name resolution, connections, redirects and body.
    pub timeout: Duration,
    /// Time limit for opening one connection, including the TLS handshake.
    pub connect_timeout: Duration,
    /// Maximum size of the body on the wire.
    pub max_body_bytes: u64,
    /// Maximum size of the body after decoding.
    pub max_decoded_bytes: u64,
    /// Policy for a body larger than `max_body_bytes`.
    pub oversize: OversizePolicy,
    /// Part of the response that the caller reads.
    pub body_mode: BodyMode,
    /// Policy for redirects.
    pub redirects: RedirectPolicy,
    /// Check of each redirect target, before the redirect is followed.
    pub url_policy: Option<UrlPolicy>,
    /// Policy for certificates that cannot be verified.
    pub tls: TlsPolicy,
    /// The proxy to use. `None` connects directly.
    pub proxy: Option<Proxy>,
    /// Cookies of an earlier fetch that this fetch continues. Each is sent only to the hosts that it was set for.
    pub cookies: CookieJar,
}

/// Policy for a body that exceeds the size limit on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OversizePolicy {
    /// Fail the fetch.
    Fail,
    /// Return the beginning of the body, marked as [`FetchResponse::truncated`], and close the connection.
    Truncate,
}

/// The part of a response that the caller reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyMode {
    /// The head and the complete body.
    Body,
    /// The head alone. The body cannot fail the fetch by its time, size or content coding. A small body that arrives at
    /// once is read and discarded, so that the connection can be reused. Otherwise the connection is closed.
    Head,
}

/// Policy for redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectPolicy {
    /// Follow at most this number of redirects.
    Follow(usize),
    /// Return the redirect response itself.
    None,
}

/// Policy for certificates that cannot be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TlsPolicy {
    /// Fail.
    Verify,
    /// Continue, and report the problem in [`FetchResponse::warnings`].
    SkipVerification,
}

impl FetchRequest {
    /// Returns a GET request with a limit of 30 seconds in all and 10 for one connection, 50 MiB of body, and 10
    /// redirects.
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
            oversize: OversizePolicy::Fail,
            body_mode: BodyMode::Body,
            redirects: RedirectPolicy::Follow(10),
            url_policy: None,
            tls: TlsPolicy::Verify,
            proxy: None,
            cookies: CookieJar::default(),
        }
    }

    /// Returns a POST request of `body` with the limits of [`get`](Self::get).
    #[must_use]
    pub fn post(url: Url, body: impl Into<Bytes>) -> Self {
        Self { method: Method::POST, body: Some(body.into()), ..Self::get(url) }
    }
}

/// The response to a fetch.
#[derive(Debug, Clone)]
pub struct FetchResponse {
    /// Status of the final response.
    pub status: StatusCode,
    /// URL of the final response, after all redirects.
    pub url: Url,
    /// Headers as received: `Content-Encoding` and `Content-Length` describe the body on the wire.
    pub headers: HeaderMap,
    /// The decoded body. Empty for [`BodyMode::Head`].
    pub body: Bytes,
    /// The URLs that redirected, in order. Empty when the first URL was not redirected.
    pub redirects: Vec<Url>,
    /// Address of the connection: of the host, of the target of a [`connect_to`](crate::AddressGuard::connect_to) rule,
    /// or of the proxy.
    pub remote_addr: SocketAddr,
    /// True if the body broke off or was truncated.
    pub truncated: bool,
    /// Problems that did not fail the fetch, as text for API callers.
    pub warnings: Vec<String>,
    /// Size of the body on the wire.
    pub wire_bytes: u64,
    /// True if a certificate could not be verified: an attacker on the network may have sent all of this.
    pub unverified: bool,
    /// Cookies set by the responses, including redirects, without the cookies of the request.
    pub cookies: CookieJar,
    /// True if a URL of the chain had a user or a password: the response may be for that user alone.
    pub sent_credentials: bool,
    /// True if the last request carried cookies that redirects had set: a direct request for the last URL may get
    /// another response.
    pub sent_redirect_cookies: bool,
}
