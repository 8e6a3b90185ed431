//! A page as received, from the network or from the cache.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use url::{Position, Url};
use websvc_transport::FetchResponse;
use websvc_types::ProxyUsed;

use crate::browse::RenderArtifacts;
use crate::challenge;

/// The source of a page: cache or network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheState {
    /// The page came from the cache and was fetched at this time.
    Hit(Timestamp),
    /// The page came from the network.
    #[default]
    Miss,
}

/// A page as received, not parsed yet.
#[derive(Debug, Clone)]
pub struct RawPage {
    /// The requested URL.
    pub source_url: Url,
    /// The URL after all redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// The response headers.
    pub headers: HeaderMap,
    /// The body, with content encoding decoded.
    pub body: Bytes,
    /// True if the body ended before its announced length.
    pub truncated: bool,
    /// True if the browser rendered the page.
    pub is_rendered: bool,
    /// Warnings about the fetch for the caller.
    pub warnings: Vec<String>,
    /// The proxy tier that the page was fetched through; always basic for a cached page.
    pub proxy_used: ProxyUsed,
    /// True if a machine in the middle may have written the page, see
    /// [`FetchResponse::unverified`](websvc_transport::FetchResponse::unverified). Such a page is only for callers that
    /// skip TLS verification, and is not stored.
    pub unverified: bool,
    /// True if credentials of a URL were sent to fetch it: the page is personal and not stored.
    pub sent_credentials: bool,
    /// True if the page may depend on cookies that redirects had set, so that other users get another page at its final
    /// URL. It is stored under its source URL only, and not in the index.
    pub depends_on_cookies: bool,
    /// The source of the page.
    pub cache_state: CacheState,
    /// Time that the fetch or rendering took; zero if the page came from the cache.
    pub elapsed: Duration,
    /// Files and other results of the browser that rendered it; not stored.
    pub artifacts: Option<Box<RenderArtifacts>>,
    /// The result of scanning the body for signs of a shell page, once it was scanned.
    pub(crate) is_shell: OnceLock<bool>,
}

/// A file that is not a page, such as a robots.txt.
#[derive(Debug)]
pub struct FileResponse {
    /// The URL after all redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// The body, with content encoding decoded.
    pub body: Bytes,
}

impl RawPage {
    /// Returns the `Content-Type` header, if it is readable.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(http::header::CONTENT_TYPE)?.to_str().ok()
    }

    /// Returns the delay that the host requests by `Retry-After` in seconds.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// Returns whether the body is HTML, by its content type or, without one, by its first byte.
    pub(crate) fn is_html(&self) -> bool {
        match self.content_type() {
            Some(kind) => {
                let kind = kind.to_ascii_lowercase();
                kind.starts_with("text/html") || kind.starts_with("application/xhtml")
            }
            None => self.body.trim_ascii_start().starts_with(b"<"),
        }
    }

    /// Returns the vendor of the challenge that was served instead of the page, if it is one.
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
            is_rendered: false,
            warnings: Vec::new(),
            proxy_used: ProxyUsed::Basic,
            unverified: false,
            sent_credentials: false,
            depends_on_cookies: false,
            cache_state: CacheState::Miss,
            elapsed: Duration::ZERO,
            artifacts: None,
            is_shell: OnceLock::new(),
        }
    }

    pub(crate) fn fetched(source_url: Url, fetched: FetchResponse) -> Self {
        let depends_on_cookies = depends_on_cookies(&source_url, &fetched);
        Self {
            source_url,
            url: fetched.url,
            status: fetched.status,
            headers: fetched.headers,
            body: fetched.body,
            truncated: fetched.truncated,
            is_rendered: false,
            warnings: fetched.warnings,
            proxy_used: ProxyUsed::Basic,
            unverified: fetched.unverified,
            sent_credentials: fetched.sent_credentials,
            depends_on_cookies,
            cache_state: CacheState::Miss,
            elapsed: Duration::ZERO,
            artifacts: None,
            is_shell: OnceLock::new(),
        }
    }
}

/// The current page after a fetch that may have been conditional.
pub(crate) struct RevalidatedPage {
    pub(crate) page: RawPage,
    /// True if the host responded 304 Not Modified.
    pub(crate) not_modified: bool,
}

impl RevalidatedPage {
    /// Returns the fetched page, or `cached`, the copy whose validators the request had, if the host responded 304 Not
    /// Modified.
    pub(crate) fn new(url: &Url, cached: Option<RawPage>, fetched: RawPage) -> Self {
        let not_modified = fetched.status == StatusCode::NOT_MODIFIED && fetched.url == *url;
        let page = match cached {
            Some(cached) if not_modified => {
                let (cache_state, proxy_used) = (CacheState::Miss, fetched.proxy_used);
                let privacy = fetched.privacy();
                RawPage { cache_state, proxy_used, ..cached }.with_privacy(privacy)
            }
            Some(_) | None => fetched,
        };
        Self { page, not_modified }
    }
}

/// Returns whether the final URL of a fetch may respond differently to a direct request, because the fetch sent it
/// cookies that redirects had set: a sign-in link redirects in this way to the pages of its owner. A redirect that
/// changes only the scheme or the host identifies no user.
fn depends_on_cookies(source_url: &Url, fetched: &FetchResponse) -> bool {
    let is_same_resource = source_url[Position::BeforePath..Position::AfterQuery]
        == fetched.url[Position::BeforePath..Position::AfterQuery];
    fetched.sent_redirect_cookies && !is_same_resource
}
