//! A page as received, from the network or from the cache.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use url::Url;
use websvc_transport::FetchResponse;
use websvc_types::ProxyUsed;

use crate::browse::RenderArtifacts;
use crate::challenge;
use crate::personal::{SET_COOKIES, depends_on_cookies};

/// Marks a page that a browser drew, also in the cache.
pub(crate) const DRAWN: HeaderName = HeaderName::from_static("x-websvc-drawn");

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
    /// Which proxies it was fetched through; of a cached page nobody needs to know.
    pub proxy_used: ProxyUsed,
    /// Whoever stands between may have written it, see [`Fetched::unverified`]. Only for those who said that they do
    /// not mind: it is not stored.
    pub unverified: bool,
    /// A user or a password of a URL took part in getting it: it is its caller's alone and not stored.
    pub sent_credentials: bool,
    /// Where it came from.
    pub cache_state: CacheState,
    /// How long its host took; zero when it was not asked.
    pub took: Duration,
    /// What the browser that drew it gave beside it; not stored.
    pub takings: Option<Box<RenderArtifacts>>,
}

/// A file that is no page, such as a robots.txt.
#[derive(Debug)]
pub struct FileResponse {
    /// The URL after all redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// The body, content encoding undone.
    pub body: Bytes,
}

impl RawPage {
    /// Returns the `Content-Type` header, when it is readable.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(http::header::CONTENT_TYPE)?.to_str().ok()
    }

    /// Returns how long its host asks to be left alone.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// Returns whether the body is HTML, by its type or, without one, by its first byte.
    pub(crate) fn is_html(&self) -> bool {
        match self.content_type() {
            Some(kind) => {
                let kind = kind.to_ascii_lowercase();
                kind.starts_with("text/html") || kind.starts_with("application/xhtml")
            }
            None => self.body.trim_ascii_start().starts_with(b"<"),
        }
    }

    /// Returns whether a browser drew it, scripts and all.
    pub(crate) fn is_rendered(&self) -> bool {
        self.headers.contains_key(DRAWN)
    }

    /// Returns whose wall stands in place of the page, if one does.
    pub(crate) fn challenge_vendor(&self) -> Option<&'static str> {
        challenge::detect_challenge(self.status, &self.headers, self.is_html(), &self.body)
    }

    #[cfg(test)]
    pub(crate) fn empty(url: &str, status: StatusCode) -> Self {
        let url: Url = url.parse().expect("a test gives URLs");
        Self {
            source_url: url.clone(),
            url,
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            truncated: false,
            warnings: Vec::new(),
            proxy_used: ProxyUsed::Basic,
            unverified: false,
            sent_credentials: false,
            cache_state: CacheState::Miss,
            took: Duration::ZERO,
            takings: None,
        }
    }

    pub(crate) fn fetched(source_url: Url, fetched: FetchResponse) -> Self {
        // Only we may say that a page is drawn, or was answered to cookies.
        let mut fetched = fetched;
        fetched.headers.remove(DRAWN);
        fetched.headers.remove(SET_COOKIES);
        if depends_on_cookies(&source_url, &fetched) {
            fetched.headers.insert(SET_COOKIES, HeaderValue::from_static("1"));
        }
        Self {
            source_url,
            url: fetched.url,
            status: fetched.status,
            headers: fetched.headers,
            body: fetched.body,
            truncated: fetched.truncated,
            warnings: fetched.warnings,
            proxy_used: ProxyUsed::Basic,
            unverified: fetched.unverified,
            sent_credentials: fetched.sent_credentials,
            cache_state: CacheState::Miss,
            took: Duration::ZERO,
            takings: None,
        }
    }
}

/// Returns the page as it is now, and whether that is as it was: `known` is what the request asked to compare with.
pub(crate) fn merge_not_modified(url: &Url, known: Option<RawPage>, fetched: RawPage) -> (RawPage, bool) {
    let unchanged = fetched.status == StatusCode::NOT_MODIFIED && fetched.url == *url;
    match known {
        Some(known) if unchanged => {
            let (cache_state, proxy_used) = (CacheState::Miss, fetched.proxy_used);
            let privacy = fetched.privacy();
            (RawPage { cache_state, proxy_used, ..known }.standing_in_for(privacy), true)
        }
        Some(_) | None => (fetched, unchanged),
    }
}
