//! The scraper: the cache, the network and the CPU, each within its bound.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use tokio::sync::Semaphore;
use url::Url;
use websvc_extract::ContentOptions;
use websvc_store::{CacheLimits, CachedPage, PageKey, PutOutcome, Store};
use websvc_transport::{Client, FetchError, FetchRequest, TlsPolicy};
use websvc_validate::ScrapePlan;

use crate::error::ScrapeError;
use crate::freshness::{Decision, Freshness};
use crate::page::{IndexCopy, Page};
use crate::raw::{CacheState, RawPage};
use crate::render;

/// How websvc calls itself: its name is what a robots.txt speaks to.
pub const DEFAULT_USER_AGENT: &str =
    concat!("Mozilla/5.0 (compatible; websvc/", env!("CARGO_PKG_VERSION"), ")");

/// How websvc calls itself when a page for small screens is wanted.
const MOBILE_USER_AGENT: &str = concat!(
    "Mozilla/5.0 (Linux; Android 14; Mobile) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 ",
    "(compatible; websvc/",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// The name by which a robots.txt addresses us.
const ROBOTS_NAME: &str = "websvc";

const ACCEPTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// The bounds of a scraper.
#[derive(Debug, Clone)]
pub struct ScrapeConfig {
    /// The largest body, on the wire and decoded.
    pub max_body_bytes: u64,
    /// How many pages are fetched at one time.
    pub concurrency: usize,
    /// The bounds of the page cache.
    pub cache: CacheLimits,
}

impl Default for ScrapeConfig {
    fn default() -> Self {
        Self { max_body_bytes: 20 * 1024 * 1024, concurrency: 64, cache: CacheLimits::default() }
    }
}

/// Gets pages. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Scraper {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: Client,
    store: Store,
    config: ScrapeConfig,
    fetching: Semaphore,
    /// As many pages are parsed at one time as there are cores: more would only wait for each other.
    parsing: Arc<Semaphore>,
}

/// A page as a crawl sees it.
#[derive(Debug)]
pub struct Survey {
    /// The URL after redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// How long an overloaded host asks to be left alone.
    pub retry_after: Option<Duration>,
    /// What the index takes of it; `None` when it is not to be indexed or has no text.
    pub index_copy: Option<Box<IndexCopy>>,
    /// Where it leads, without what it asks not to follow.
    pub links: Vec<Url>,
    /// The cache answered.
    pub from_cache: bool,
}

impl Survey {
    /// Returns whether the host said that it has too much to do.
    pub fn is_overload(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// A file that is no page, such as a robots.txt.
#[derive(Debug)]
pub struct FileAnswer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body, content encoding undone.
    pub body: Bytes,
}

impl Scraper {
    /// Makes a scraper.
    pub fn new(client: Client, store: Store, config: ScrapeConfig) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let fetching = Semaphore::new(config.concurrency);
        let parsing = Arc::new(Semaphore::new(cores));
        Self { inner: Arc::new(Inner { client, store, config, fetching, parsing }) }
    }

    /// Returns the name by which a robots.txt addresses us.
    pub fn robots_name(&self) -> &'static str {
        ROBOTS_NAME
    }

    /// Gets a page in the formats of `plan`, from the cache by its rules, else from the network, until `deadline`.
    ///
    /// # Errors
    /// [`ScrapeError`]; an answer of 400 and above is a page too.
    pub async fn scrape(&self, url: &Url, plan: &ScrapePlan, deadline: Instant) -> Result<Page, ScrapeError> {
        let freshness =
            Freshness { max_age: plan.max_age(), min_age: plan.min_age(), lockdown: plan.lockdown() };
        // Headers of the caller's own may change what the host answers, so such a page is nobody else's.
        let key = plan.headers().is_empty().then(|| page_key(url, plan));
        let (url, plan) = (url.clone(), plan.clone());
        if let Some(page) = self.cached(&url, key.as_ref(), freshness).await? {
            return self.work(move |_| render::render(&page, &plan)).await;
        }
        let request = self.page_request(&url, &plan, deadline)?;
        let page = self.fetch(&url, request, deadline).await?;
        let limits = self.inner.config.cache;
        self.work(move |store| {
            if let Some(key) = key.filter(|_| plan.store_in_cache()) {
                put(store, &limits, key, &page)?;
            }
            render::render(&page, &plan)
        })
        .await
    }

    /// Gets a page for a crawl: from the cache when it is not older than `max_age`, else from the network.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn survey(
        &self,
        url: &Url,
        max_age: Duration,
        deadline: Instant,
    ) -> Result<Survey, ScrapeError> {
        let key = PageKey::new(url_without_fragment(url), "");
        let freshness = Freshness { max_age, min_age: None, lockdown: false };
        if let Some(page) = self.cached(url, Some(&key), freshness).await? {
            return self.work(move |_| survey(&page)).await;
        }
        let request = self.request(url.clone(), deadline)?;
        let page = self.fetch(url, request, deadline).await?;
        let limits = self.inner.config.cache;
        self.work(move |store| {
            put(store, &limits, key, &page)?;
            survey(&page)
        })
        .await
    }

    /// Gets a file of at most `max_bytes` that is no page.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn file(
        &self,
        url: &Url,
        max_bytes: u64,
        deadline: Instant,
    ) -> Result<FileAnswer, ScrapeError> {
        let mut request = self.request(url.clone(), deadline)?;
        request.max_body_bytes = max_bytes;
        request.max_decoded_bytes = max_bytes;
        let page = self.fetch(url, request, deadline).await?;
        Ok(FileAnswer { status: page.status, body: page.body })
    }

    /// Returns the cached page that may answer.
    async fn cached(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        freshness: Freshness,
    ) -> Result<Option<RawPage>, ScrapeError> {
        let Some(key) = key.filter(|_| freshness.asks_cache()) else {
            // Nothing cached can answer; what never fetches ends here.
            return freshness.decide(None).map(|_fetch| None);
        };
        let (key, url) = (key.clone(), url.clone());
        let cached = self.work(move |store| store.page(&key).map_err(ScrapeError::Store)).await?;
        let age = cached.as_ref().map(age);
        match (freshness.decide(age)?, cached) {
            (Decision::Serve, Some(cached)) => Ok(raw_page(url, cached)),
            (Decision::Serve, None) | (Decision::Fetch, _) => Ok(None),
        }
    }

    async fn fetch(
        &self,
        url: &Url,
        mut request: FetchRequest,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let asked = request.timeout;
        let waiting = tokio::time::timeout_at(deadline.into(), self.inner.fetching.acquire()).await;
        let _permit = match waiting {
            Ok(Ok(permit)) => permit,
            Ok(Err(_closed)) => return Err(ScrapeError::Stopping),
            Err(_elapsed) => return Err(ScrapeError::Timeout { timeout_ms: millis(asked) }),
        };
        request.timeout = remaining(deadline, asked)?;
        let fetched = self.inner.client.fetch(request).await.map_err(ScrapeError::Fetch)?;
        Ok(RawPage::fetched(url, fetched))
    }

    fn page_request(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<FetchRequest, ScrapeError> {
        let mut request = self.request(url.clone(), deadline)?;
        if plan.mobile() {
            request.headers.insert(USER_AGENT, HeaderValue::from_static(MOBILE_USER_AGENT));
        }
        if let Some(languages) = accept_language(plan) {
            request.headers.insert(ACCEPT_LANGUAGE, languages);
        }
        for (name, value) in plan.headers() {
            let name: HeaderName = name.parse().map_err(|_| bad_header(name))?;
            let value = HeaderValue::from_str(value).map_err(|_| bad_header(name.as_str()))?;
            request.headers.insert(name, value);
        }
        if plan.skip_tls_verification() {
            request.tls = TlsPolicy::SkipVerification;
        }
        Ok(request)
    }

    fn request(&self, url: Url, deadline: Instant) -> Result<FetchRequest, ScrapeError> {
        let config = &self.inner.config;
        let mut request = FetchRequest::get(url);
        request.timeout = remaining(deadline, Duration::ZERO)?;
        request.max_body_bytes = config.max_body_bytes;
        request.max_decoded_bytes = config.max_body_bytes;
        request.headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        Ok(request)
    }

    /// Does what blocks or computes off the async threads.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, ScrapeError> + Send + 'static,
    ) -> Result<T, ScrapeError> {
        let permit = Arc::clone(&self.inner.parsing).acquire_owned().await;
        let permit = permit.map_err(|_closed| ScrapeError::Stopping)?;
        let inner = Arc::clone(&self.inner);
        let working = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&inner.store)
        });
        match working.await {
            Ok(done) => done,
            Err(stopped) if stopped.is_panic() => std::panic::resume_unwind(stopped.into_panic()),
            Err(_stopped) => Err(ScrapeError::Stopping),
        }
    }
}

fn page_key(url: &Url, plan: &ScrapePlan) -> PageKey {
    let mut variant = String::new();
    if plan.mobile() {
        variant.push_str("mobile;");
    }
    if let Some(languages) = accept_language(plan) {
        variant.push_str(languages.to_str().unwrap_or_default());
    }
    PageKey::new(url_without_fragment(url), variant)
}

fn url_without_fragment(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
}

/// Returns the languages of the plan as a header, the first one preferred.
fn accept_language(plan: &ScrapePlan) -> Option<HeaderValue> {
    let languages = plan.location().languages();
    if languages.is_empty() {
        return None;
    }
    let weighted = languages.iter().enumerate().map(|(position, language)| match position {
        0 => language.clone(),
        1..9 => format!("{language};q=0.{}", 10 - position),
        _ => format!("{language};q=0.1"),
    });
    HeaderValue::from_str(&weighted.collect::<Vec<_>>().join(",")).ok()
}

fn bad_header(name: &str) -> ScrapeError {
    ScrapeError::Fetch(FetchError::BadUrl { reason: format!("the header {name:?} cannot be sent") })
}

fn remaining(deadline: Instant, asked: Duration) -> Result<Duration, ScrapeError> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() { Err(ScrapeError::Timeout { timeout_ms: millis(asked) }) } else { Ok(remaining) }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Keeps a page that answered well. What does not fit the cache is served all the same.
fn put(store: &Store, limits: &CacheLimits, key: PageKey, page: &RawPage) -> Result<(), ScrapeError> {
    if !page.status.is_success() {
        return Ok(());
    }
    let cached = CachedPage {
        key,
        final_url: page.url.to_string(),
        status: page.status.as_u16(),
        headers: page
            .content_type()
            .map(|value| ("content-type".to_owned(), value.to_owned()))
            .into_iter()
            .collect(),
        body: page.body.clone(),
        fetched_at_ms: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default(),
        truncated: page.truncated,
    };
    match store.put_page(&cached, limits).map_err(ScrapeError::Store)? {
        PutOutcome::Stored { .. } | PutOutcome::Outdated => {}
        PutOutcome::TooLarge { bytes, limit } => {
            tracing::debug!(bytes, limit, "a page is too large for the cache");
        }
    }
    Ok(())
}

fn age(cached: &CachedPage) -> Duration {
    let now_ms = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default();
    Duration::from_millis(now_ms.saturating_sub(cached.fetched_at_ms))
}

/// Returns a cached page as it was received; `None` when the entry cannot be read, so that it is fetched again.
fn raw_page(source_url: Url, cached: CachedPage) -> Option<RawPage> {
    let mut headers = HeaderMap::new();
    for (name, value) in &cached.headers {
        headers.append(name.parse::<HeaderName>().ok()?, value.parse().ok()?);
    }
    let fetched_at = Timestamp::from_millisecond(i64::try_from(cached.fetched_at_ms).ok()?).ok()?;
    Some(RawPage {
        source_url,
        url: cached.final_url.parse().ok()?,
        status: StatusCode::from_u16(cached.status).ok()?,
        headers,
        body: cached.body,
        truncated: cached.truncated,
        warnings: Vec::new(),
        cache_state: CacheState::Hit(fetched_at),
    })
}

fn survey(page: &RawPage) -> Result<Survey, ScrapeError> {
    let retry_after =
        page.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let mut survey = Survey {
        url: page.url.clone(),
        status: page.status,
        retry_after: retry_after.map(Duration::from_secs),
        index_copy: None,
        links: Vec::new(),
        from_cache: matches!(page.cache_state, CacheState::Hit(_)),
    };
    if !page.status.is_success() {
        return Ok(survey);
    }
    let document = render::parse(page)?;
    let content = document.content(&ContentOptions::default());
    survey.index_copy = render::index_copy(page, &document, &content, &document.metadata());
    if document.robots().follow {
        let anchors = document.anchors().into_iter().filter(|anchor| !anchor.nofollow);
        survey.links = anchors.map(|anchor| anchor.url).collect();
    }
    Ok(survey)
}
