//! A page as received, from the network or from the cache.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use url::Url;
use websvc_transport::Fetched;

/// Where a page came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheState {
    /// From the cache, fetched at this time.
    Hit(Timestamp),
    /// From the network.
    #[default]
    Miss,
}

/// A page as received: nothing is parsed yet.
#[derive(Debug, Clone)]
pub struct RawPage {
    /// The URL that was asked for.
    pub source_url: Url,
    /// The URL after all redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers that matter for reading the body.
    pub headers: HeaderMap,
    /// The body, content encoding undone.
    pub body: Bytes,
    /// The body stopped before its announced end.
    pub truncated: bool,
    /// What the caller should be told about the fetch.
    pub warnings: Vec<String>,
    /// Where it came from.
    pub cache_state: CacheState,
}

impl RawPage {
    /// Returns the `Content-Type` header, when it is readable.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(http::header::CONTENT_TYPE)?.to_str().ok()
    }

    pub(crate) fn fetched(source_url: &Url, fetched: Fetched) -> Self {
        Self {
            source_url: source_url.clone(),
            url: fetched.url,
            status: fetched.status,
            headers: fetched.headers,
            body: fetched.body,
            truncated: fetched.truncated,
            warnings: fetched.warnings,
            cache_state: CacheState::Miss,
        }
    }
}
