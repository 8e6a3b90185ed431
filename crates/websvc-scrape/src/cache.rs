//! Conversion between entries of the page cache and pages as received: cache keys, storing, reading.

use std::sync::OnceLock;
use std::time::Duration;

use http::header::{CONTENT_TYPE, ETAG, LAST_MODIFIED};
use http::{HeaderMap, HeaderName, StatusCode};
use jiff::Timestamp;
use url::{Position, Url};
use websvc_store::{CacheLimits, CachedPage, PageKey, PutOutcome, Store, StoreError};
use websvc_transport::has_credentials;
use websvc_types::ProxyUsed;
use websvc_validate::ScrapePlan;

use crate::browse::{RenderMode, cache_variant as rendered_variant};
use crate::personal::is_personal;
use crate::proxies::ProxyConfig;
use crate::raw::{CacheState, RawPage};
use crate::request::{DEFAULT_ACCEPT_LANGUAGE, accept_language};
use crate::robots;

/// The response headers that are stored with a page: its content type, its validators and its robots rules.
const STORED_HEADERS: [HeaderName; 4] =
    [CONTENT_TYPE, ETAG, LAST_MODIFIED, HeaderName::from_static(robots::HEADER)];

/// The name of the stored header that stands for [`RawPage::is_rendered`].
const RENDERED_MARK: &str = "x-websvc-rendered";

/// The name of the stored header that stands for [`RawPage::depends_on_cookies`].
const COOKIES_MARK: &str = "x-websvc-set-cookies";

/// The warning for a truncated cached page.
const TRUNCATED_WARNING: &str =
    "the body was truncated when the page was fetched; only its beginning is in the cache";

/// The outcome of storing a fetched page in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreOutcome {
    /// The plan of the request that fetched the page does not store it.
    NotRequested,
    /// The page must not be stored, or could not be stored.
    NotStored,
    /// The cache has the page, fetched at this time, in milliseconds since the Unix epoch.
    StoredAt(u64),
}

impl StoreOutcome {
    /// Returns the time of the fetch, if the cache has the page.
    pub(crate) fn stored_at_ms(self) -> Option<u64> {
        match self {
            Self::StoredAt(fetched_at_ms) => Some(fetched_at_ms),
            Self::NotRequested | Self::NotStored => None,
        }
    }
}

/// A page from the network, and whether the cache has it.
#[derive(Debug, Clone)]
pub(crate) struct FetchedPage {
    pub(crate) page: RawPage,
    pub(crate) store_outcome: StoreOutcome,
}

/// The copy of a page in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredCopy {
    pub(crate) key: PageKey,
    /// The time of the fetch, in milliseconds since the Unix epoch.
    pub(crate) fetched_at_ms: u64,
}

/// Returns the cache key of a page, which has everything in the plan that changes the response of its host. A personal
/// page has none: it belongs to its caller alone.
pub(crate) fn page_key(
    url: &Url,
    plan: &ScrapePlan,
    proxies: &ProxyConfig,
    mode: RenderMode,
) -> Option<PageKey> {
    if is_personal(url, plan) {
        return None;
    }
    let mut variant = match mode {
        RenderMode::IfShell => String::new(),
        RenderMode::Render | RenderMode::RenderUncached => rendered_variant(plan),
    };
    if plan.mobile {
        variant.push_str("mobile;");
    }
    if plan.wants_enhanced_proxy() && proxies.has_enhanced() {
        variant.push_str("enhanced;");
    } else if proxies.reaches_from(plan.location.country) {
        variant.push_str(plan.location.country);
        variant.push(';');
    }
    let languages = accept_language(plan);
    if languages != DEFAULT_ACCEPT_LANGUAGE {
        variant.push_str(languages.to_str().unwrap_or_default());
    }
    Some(PageKey::new(without_fragment(url), variant))
}

/// Returns the cache key of a page that is fetched with default options; a personal page has none.
pub(crate) fn plain_key(url: &Url) -> Option<PageKey> {
    (!has_credentials(url)).then(|| PageKey::new(without_fragment(url), ""))
}

/// Returns a URL without its fragment, which no host receives.
pub(crate) fn without_fragment(url: &Url) -> &str {
    &url[..Position::AfterQuery]
}

/// Stores a page with a successful status, fetched at `now_ms`. Returns the time of the fetch if the cache has the page
/// now.
pub(crate) fn put(
    store: &Store,
    limits: &CacheLimits,
    key: PageKey,
    page: &RawPage,
    now_ms: u64,
) -> Result<Option<u64>, StoreError> {
    if !page.status.is_success() {
        return Ok(None);
    }
    let cached = CachedPage {
        key,
        final_url: page.url.to_string(),
        status: page.status.as_u16(),
        headers: stored_headers(page),
        body: page.body.clone(),
        fetched_at_ms: now_ms,
        truncated: page.truncated,
    };
    Ok(match store.put_page(&cached, limits)? {
        PutOutcome::Stored { .. } => Some(cached.fetched_at_ms),
        PutOutcome::Outdated => None,
        PutOutcome::TooLarge { bytes, limit } => {
            tracing::debug!(bytes, limit, "page is too large for the cache");
            None
        }
    })
}

/// Returns the headers of a cache entry. The entry has no fields for the marks of websvc, so they are headers of its
/// own; those of the host with these names are not stored.
fn stored_headers(page: &RawPage) -> Vec<(String, String)> {
    let names = STORED_HEADERS;
    let headers = names.iter().flat_map(|name| {
        let values = page.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.map(|value| (name.as_str(), value))
    });
    let marks = [(RENDERED_MARK, page.is_rendered), (COOKIES_MARK, page.depends_on_cookies)];
    let marks = marks.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, "1"));
    headers.chain(marks).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Converts milliseconds since the Unix epoch to a timestamp.
pub(crate) fn fetched_at(fetched_at_ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(fetched_at_ms).ok()?).ok()
}

/// Returns a cached page as it was received; `None` if the entry cannot be read, so that it is fetched again.
pub(crate) fn to_raw_page(source_url: &Url, cached: CachedPage) -> Option<RawPage> {
    let mut headers = HeaderMap::new();
    for (name, value) in &cached.headers {
        headers.append(name.parse::<HeaderName>().ok()?, value.parse().ok()?);
    }
    let is_rendered = headers.remove(RENDERED_MARK).is_some();
    let depends_on_cookies = headers.remove(COOKIES_MARK).is_some();
    Some(RawPage {
        source_url: source_url.clone(),
        url: cached.final_url.parse().ok()?,
        status: StatusCode::from_u16(cached.status).ok()?,
        headers,
        body: cached.body,
        truncated: cached.truncated,
        is_rendered,
        warnings: if cached.truncated { vec![TRUNCATED_WARNING.to_owned()] } else { Vec::new() },
        proxy_used: ProxyUsed::Basic,
        unverified: false,
        sent_credentials: false,
        depends_on_cookies,
        cache_state: CacheState::Hit(fetched_at(cached.fetched_at_ms)?),
        elapsed: Duration::ZERO,
        artifacts: None,
        is_shell: OnceLock::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use websvc_testkit::{Page, TestWeb};
    use websvc_types::ScrapeOptions;
    use websvc_validate::{Policy, check_request};

    use super::*;
    use crate::config::ScrapeConfig;
    use crate::scraper::Scraper;

    const URL: &str = "http://a.test/";

    fn store(page: &RawPage) -> CachedPage {
        let directory = tempfile::tempdir().unwrap();
        let (store, key) = (Store::open(directory.path()).unwrap(), PageKey::new(URL, ""));
        put(&store, &CacheLimits::default(), key.clone(), page, 1).unwrap().unwrap();
        store.page(&key).unwrap().unwrap()
    }

    #[test]
    fn marks_of_a_page_survive_the_cache_as_headers_of_the_entry() {
        for (is_rendered, depends_on_cookies, expected) in [
            (false, false, vec![]),
            (true, false, vec!["x-websvc-rendered"]),
            (false, true, vec!["x-websvc-set-cookies"]),
            (true, true, vec!["x-websvc-rendered", "x-websvc-set-cookies"]),
        ] {
            let page = RawPage { is_rendered, depends_on_cookies, ..RawPage::empty(URL, StatusCode::OK) };
            let entry = store(&page);
            let names: Vec<_> = entry.headers.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, expected);
            let read = to_raw_page(&page.url, entry).unwrap();
            assert_eq!((read.is_rendered, read.depends_on_cookies), (is_rendered, depends_on_cookies));
            assert!(read.headers.is_empty(), "marks are not headers of the page: {:?}", read.headers);
        }
    }

    #[tokio::test]
    async fn host_cannot_set_the_marks_of_a_page() {
        let shell = "<div id=root></div><script src=/app.js></script>";
        let served = Page::html(shell).header("x-websvc-rendered", "1").header("x-websvc-set-cookies", "1");
        let world = TestWeb::builder().page(URL, served).start().await;
        let directory = tempfile::tempdir().unwrap();
        let client = world.client();
        let scraper = Scraper::new(client, Store::open(directory.path()).unwrap(), ScrapeConfig::default());
        let plan = check_request(&ScrapeOptions::default(), &Policy::default()).unwrap().plan;
        let deadline = Instant::now() + Duration::from_secs(20);
        let url: Url = URL.parse().unwrap();
        let page =
            scraper.fetch_uncached(&url, None, &plan, RenderMode::IfShell, deadline).await.unwrap().page;
        assert!(page.headers.contains_key("x-websvc-rendered"), "the host sent it");
        for page in [to_raw_page(&url, store(&page)).unwrap(), page] {
            assert!(!page.is_rendered && page.is_public());
        }
    }
}
