//! Conversion between entries of the page cache and pages as received: cache keys, storing, reading.

use std::sync::OnceLock;
use std::time::Duration;

use http::header::{CONTENT_TYPE, ETAG, LAST_MODIFIED};
use http::{HeaderMap, HeaderName, StatusCode};
use jiff::Timestamp;
use url::Url;
use websvc_store::{CacheLimits, CachedPage, PageKey, PutOutcome, Store, StoreError};
use websvc_transport::has_credentials;
use websvc_types::ProxyUsed;
use websvc_validate::ScrapePlan;

use crate::browse::{RenderMode, cache_variant as rendered_variant};
use crate::personal::{SET_COOKIES, is_personal};
use crate::proxies::ProxyConfig;
use crate::raw::{CacheState, RENDERED_HEADER, RawPage};
use crate::request::{DEFAULT_ACCEPT_LANGUAGE, accept_language};
use crate::robots;

/// The headers that are stored with a page: its content type, its validators, its robots rules and our own marks.
const STORED_HEADERS: [HeaderName; 6] = [
    CONTENT_TYPE,
    ETAG,
    LAST_MODIFIED,
    HeaderName::from_static(robots::HEADER),
    RENDERED_HEADER,
    SET_COOKIES,
];

/// The warning of a truncated cached page.
const TRUNCATED_WARNING: &str =
    "the body broke off when the page was fetched; only its beginning is in the cache";

/// The outcome of storing a fetched page in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreOutcome {
    /// The plan of the request that fetched the page does not store it.
    NotRequested,
    /// The page could not be stored.
    Failed,
    /// The page was stored at this time, in milliseconds since the Unix epoch.
    StoredAt(u64),
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
    if plan.mobile() {
        variant.push_str("mobile;");
    }
    if plan.wants_enhanced_proxy() && proxies.has_enhanced() {
        variant.push_str("enhanced;");
    } else if proxies.reaches_from(plan.location().country()) {
        variant.push_str(plan.location().country());
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

pub(crate) fn without_fragment(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
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
    let names = STORED_HEADERS;
    let headers = names.iter().flat_map(|name| {
        let values = page.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.map(|value| (name.as_str().to_owned(), value.to_owned()))
    });
    let cached = CachedPage {
        key,
        final_url: page.url.to_string(),
        status: page.status.as_u16(),
        headers: headers.collect(),
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
    Some(RawPage {
        source_url: source_url.clone(),
        url: cached.final_url.parse().ok()?,
        status: StatusCode::from_u16(cached.status).ok()?,
        headers,
        body: cached.body,
        truncated: cached.truncated,
        warnings: if cached.truncated { vec![TRUNCATED_WARNING.to_owned()] } else { Vec::new() },
        proxy_used: ProxyUsed::Basic,
        unverified: false,
        sent_credentials: false,
        cache_state: CacheState::Hit(fetched_at(cached.fetched_at_ms)?),
        elapsed: Duration::ZERO,
        artifacts: None,
        is_shell: OnceLock::new(),
    })
}
