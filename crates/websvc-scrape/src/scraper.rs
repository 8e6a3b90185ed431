//! The scraper: the cache, the network and the CPU, each within its bound.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::StatusCode;
use http::header::RETRY_AFTER;
use tokio::sync::Semaphore;
use url::Url;
use websvc_documents::DocumentKind;
use websvc_store::{CacheLimits, PageKey, Store};
use websvc_transport::{Client, FetchRequest};
use websvc_types::index::IndexDocument;
use websvc_validate::ScrapePlan;

use crate::cache;
use crate::documents::{Converted, DocumentReader, DocumentWorkers, ReadOptions, document_kind, options_of};
use crate::error::ScrapeError;
use crate::freshness::{Decision, Freshness};
use crate::index_copy::index_copy;
use crate::page::Page;
use crate::raw::{CacheState, RawPage};
use crate::render;
use crate::rendered::{Recipe, Rendered};
use crate::request::{self, ROBOTS_NAME};

/// The bounds of a scraper.
#[derive(Debug, Clone)]
pub struct ScrapeConfig {
    /// The largest body, on the wire and decoded.
    pub max_body_bytes: u64,
    /// How many pages are fetched at one time.
    pub concurrency: usize,
    /// The bounds of the page cache.
    pub cache: CacheLimits,
    /// How many bytes of written pages are kept in memory.
    pub rendered_bytes: u64,
    /// Who reads documents; `None` reads none.
    pub documents: Option<DocumentWorkers>,
}

impl Default for ScrapeConfig {
    fn default() -> Self {
        Self {
            max_body_bytes: 20 * 1024 * 1024,
            concurrency: 64,
            cache: CacheLimits::default(),
            rendered_bytes: 32 * 1024 * 1024,
            documents: None,
        }
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
    rendered: Rendered,
    documents: DocumentReader,
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
    pub index_copy: Option<Box<IndexDocument>>,
    /// Where it leads, without what it asks not to follow.
    pub links: Vec<Url>,
    /// The feeds it names.
    pub feeds: Vec<Url>,
    /// The cache answered.
    pub from_cache: bool,
    /// The host was asked, and said that the page is as the cache has it.
    pub unchanged: bool,
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
        let rendered = Rendered::new(config.rendered_bytes);
        let documents = DocumentReader::new(config.documents.clone());
        Self { inner: Arc::new(Inner { client, store, config, rendered, documents, fetching, parsing }) }
    }

    /// Returns who reads documents.
    pub fn documents(&self) -> &DocumentReader {
        &self.inner.documents
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
        let key = cache::page_key(url, plan);
        if let Some(page) = self.rendered(url, key.as_ref(), plan, freshness) {
            return Ok(page);
        }
        if let Some((page, fetched_at_ms)) = self.cached(url, key.as_ref(), freshness).await? {
            return self.render(page, key.zip(Some(fetched_at_ms)), plan.clone(), deadline).await;
        }
        let timeout = remaining(deadline)?;
        let request = request::for_page(url, plan, timeout, self.inner.config.max_body_bytes)?;
        let mut page = self.fetch(url, request, deadline).await?;
        let mut kept = None;
        if let Some(key) = key.filter(|_| plan.store_in_cache()) {
            (page, kept) = self.put(page, key).await?;
        }
        self.render(page, kept, plan.clone(), deadline).await
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
        let key = cache::plain_key(url);
        let freshness = Freshness { max_age, min_age: None, lockdown: false };
        let (page, unchanged) = match self.cached(url, Some(&key), freshness).await? {
            Some((page, _)) => (page, false),
            None => self.refresh(url, key, deadline).await?,
        };
        let converted = self.convert(&page, Some(ReadOptions::default()), deadline).await?;
        self.work(move |_| Ok(Survey { unchanged, ..survey(&page, converted.as_ref())? })).await
    }

    /// Fetches a page, or learns that it is as the cache has it; the cache has it anew in both cases. Returns whether
    /// it is unchanged.
    async fn refresh(
        &self,
        url: &Url,
        key: PageKey,
        deadline: Instant,
    ) -> Result<(RawPage, bool), ScrapeError> {
        let asked = key.clone();
        let cached = self.work(move |store| store.page(&asked).map_err(ScrapeError::Store)).await?;
        let known = cached.and_then(|cached| cache::raw_page(url, cached));
        let mut request = request::plain(url, remaining(deadline)?, self.inner.config.max_body_bytes);
        let known = known.filter(|known| request::unless_unchanged(&mut request, known));
        let fetched = self.fetch(url, request, deadline).await?;
        let unchanged = fetched.status == StatusCode::NOT_MODIFIED && fetched.url == *url;
        let page = match known {
            Some(known) if unchanged => RawPage { cache_state: CacheState::Miss, ..known },
            Some(_) | None => fetched,
        };
        Ok((self.put(page, key).await?.0, unchanged))
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
        let request = request::plain(url, remaining(deadline)?, max_bytes);
        let page = self.fetch(url, request, deadline).await?;
        Ok(FileAnswer { status: page.status, body: page.body })
    }

    /// Returns the page as it was written before, when that may answer.
    fn rendered(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        plan: &ScrapePlan,
        freshness: Freshness,
    ) -> Option<Page> {
        let entry = self.inner.rendered.find(key?, &Recipe::of(plan))?;
        match freshness.decide(Some(cache::age(entry.fetched_at_ms))) {
            Ok(Decision::Serve) if freshness.asks_cache() => {}
            Ok(Decision::Serve | Decision::Fetch) | Err(_) => return None,
        }
        let mut page = entry.page.clone();
        render::as_cached(&mut page, url, cache::fetched_at(entry.fetched_at_ms)?);
        Some(page)
    }

    /// Returns the cached page that may answer, and when it was fetched.
    async fn cached(
        &self,
        url: &Url,
        key: Option<&PageKey>,
        freshness: Freshness,
    ) -> Result<Option<(RawPage, u64)>, ScrapeError> {
        let Some(key) = key.filter(|_| freshness.asks_cache()) else {
            // Nothing cached can answer; what never fetches ends here.
            return freshness.decide(None).map(|_fetch| None);
        };
        let key = key.clone();
        let cached = self.work(move |store| store.page(&key).map_err(ScrapeError::Store)).await?;
        let fetched_at_ms = cached.as_ref().map(|cached| cached.fetched_at_ms);
        match (freshness.decide(fetched_at_ms.map(cache::age))?, cached) {
            (Decision::Serve, Some(cached)) => Ok(cache::raw_page(url, cached).zip(fetched_at_ms)),
            (Decision::Serve, None) | (Decision::Fetch, _) => Ok(None),
        }
    }

    /// Puts a page into the cache. That it could not be kept is told, and does not keep it from the caller.
    async fn put(
        &self,
        mut page: RawPage,
        key: PageKey,
    ) -> Result<(RawPage, Option<(PageKey, u64)>), ScrapeError> {
        let limits = self.inner.config.cache;
        self.work(move |store| {
            let kept = match cache::put(store, &limits, key.clone(), &page) {
                Ok(kept) => kept,
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "a page did not reach the cache"
                    );
                    page.warnings.push("the page could not be kept in the cache".to_owned());
                    None
                }
            };
            Ok((page, Some(key).zip(kept)))
        })
        .await
    }

    /// Writes a page in the formats of the plan, and keeps the result when the page is in the cache.
    async fn render(
        &self,
        page: RawPage,
        kept: Option<(PageKey, u64)>,
        plan: ScrapePlan,
        deadline: Instant,
    ) -> Result<Page, ScrapeError> {
        let recipe = Recipe::of(&plan);
        let converted = self.convert(&page, options_of(&plan), deadline).await?;
        let page = self.work(move |_| render::render(&page, converted.as_ref(), &plan)).await?;
        if let Some((key, fetched_at_ms)) = kept {
            self.inner.rendered.keep(key, recipe, fetched_at_ms, &page);
        }
        Ok(page)
    }

    /// Turns a document into a page; `None` for what is a page already, and for PDFs without options.
    async fn convert(
        &self,
        page: &RawPage,
        options: Option<ReadOptions>,
        deadline: Instant,
    ) -> Result<Option<Converted>, ScrapeError> {
        let Some(kind) = document_kind(page) else { return Ok(None) };
        let options = match options {
            Some(options) => options,
            None if kind == DocumentKind::Pdf => return Ok(None),
            None => ReadOptions::default(),
        };
        let parsed = self.inner.documents.read(kind, page.body.clone(), &options, deadline).await;
        Ok(Some(Converted::new(kind, parsed.map_err(ScrapeError::Document)?)))
    }

    async fn fetch(
        &self,
        url: &Url,
        mut request: FetchRequest,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let waiting = tokio::time::timeout_at(deadline.into(), self.inner.fetching.acquire()).await;
        let _permit = match waiting {
            Ok(Ok(permit)) => permit,
            Ok(Err(_closed)) => return Err(ScrapeError::Stopping),
            Err(_elapsed) => return Err(ScrapeError::Timeout),
        };
        request.timeout = remaining(deadline)?;
        let fetched = self.inner.client.fetch(request).await.map_err(ScrapeError::Fetch)?;
        Ok(RawPage::fetched(url, fetched))
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

fn remaining(deadline: Instant) -> Result<Duration, ScrapeError> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() { Err(ScrapeError::Timeout) } else { Ok(remaining) }
}

fn survey(page: &RawPage, converted: Option<&Converted>) -> Result<Survey, ScrapeError> {
    let retry_after =
        page.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let mut survey = Survey {
        url: page.url.clone(),
        status: page.status,
        retry_after: retry_after.map(Duration::from_secs),
        index_copy: None,
        links: Vec::new(),
        feeds: Vec::new(),
        unchanged: false,
        from_cache: matches!(page.cache_state, CacheState::Hit(_)),
    };
    if !page.status.is_success() {
        return Ok(survey);
    }
    let document = render::parse(page, converted)?;
    let content = document.content(&render::index_options(converted));
    survey.index_copy = index_copy(page, &document, &content, document.metadata());
    if document.robots().follow {
        let anchors = document.anchors().into_iter().filter(|anchor| !anchor.nofollow);
        survey.links = anchors.map(|anchor| anchor.url).collect();
        survey.feeds = document.feeds();
    }
    Ok(survey)
}
