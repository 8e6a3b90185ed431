//! The scraper: the cache, the network and the CPU, each within its bound.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;
use websvc_browser::Browser;
use websvc_stage::{Stage, StageTimes, in_current_span};
use websvc_store::{PageKey, PageScope, Store};
use websvc_threat::UrlChecker;
use websvc_transport::{BoxFuture, Client};
use websvc_types::ErrorCode;
use websvc_validate::ScrapePlan;

use crate::background_limits::{BackgroundPermits, BackgroundPool};
use crate::browse::{FetchContext, PageRenderer, RenderMode, wants_screenshot};
use crate::cache::{self, StoreOutcome};
use crate::cache_lookup::{CacheLookup, CacheSlot, CacheStatus};
use crate::cache_writer::CacheWriter;
use crate::clock::Clock;
use crate::config::ScrapeConfig;
use crate::crawl_page::{CrawlPage, to_crawl_page};
use crate::documents::{DocumentReader, ReadOptions};
use crate::error::ScrapeError;
use crate::fetcher::{Fetcher, ProxyRoute, remaining};
use crate::freshness::Freshness;
use crate::google_export::{export_url, exported};
use crate::image_size;
use crate::output_cache::OutputCache;
use crate::page::Page;
use crate::profile::OpenProfile;
use crate::proxies::ProxyConfig;
use crate::raw::{RawPage, merge_not_modified};
use crate::request::{self, ROBOTS_NAME};
use crate::single_flight::SingleFlight;
use crate::url_check::{FlightKey, RedirectRule};

/// Reads from the store at one time.
const READS: usize = 4;

/// Gets pages. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Scraper {
    pub(crate) inner: Arc<ScraperInner>,
    /// What the URLs of one request are checked by.
    pub(crate) inspection: Option<UrlChecker>,
    /// What is asked about where a page leads on to, beside the inspection.
    pub(crate) redirect_rule: Option<RedirectRule>,
    /// The part of the pools that it may take; `None` is all.
    pub(crate) share: Option<Arc<BackgroundPermits>>,
    /// The copies of pages that it reads and stores.
    pub(crate) scope: PageScope,
}

#[derive(Debug)]
pub(crate) struct ScraperInner {
    pub(crate) fetcher: Fetcher,
    pub(crate) drawer: PageRenderer,
    pub(crate) store: Store,
    pub(crate) config: ScrapeConfig,
    pub(crate) rendered: OutputCache,
    flights: SingleFlight<FlightKey, SharedFetchResult>,
    pub(crate) documents: DocumentReader,
    /// As many pages are parsed at one time as there are cores: more would only wait for each other.
    parsing: Arc<Semaphore>,
    /// What is read from the store at one time: more would wait for its readers.
    reading: Arc<Semaphore>,
    /// One large page is parsed at one time: what it takes while it is written is a multiple of its size.
    pub(crate) large: Arc<Semaphore>,
    pub(crate) keeping: CacheWriter,
}

/// What a fetch that several wait for ends with: the page and whether it was stored, or what all of them would meet.
type SharedFetchResult = Result<(RawPage, StoreOutcome), Arc<ScrapeError>>;

impl Scraper {
    /// Makes a scraper.
    pub fn new(client: Client, store: Store, config: ScrapeConfig) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let fetcher = Fetcher::new(client, config.concurrency, config.proxies.clone());
        let (parsing, reading) = (Arc::new(Semaphore::new(cores)), Arc::new(Semaphore::new(READS)));
        let rendered = OutputCache::new(config.rendered_bytes);
        let flights = SingleFlight::new();
        let documents = DocumentReader::new(config.documents.clone());
        let (large, keeping) = (Arc::new(Semaphore::new(1)), CacheWriter::default());
        let drawer = PageRenderer::new(config.browser.clone(), Arc::clone(&config.blocklist));
        let inner = ScraperInner {
            fetcher,
            drawer,
            store,
            config,
            rendered,
            flights,
            documents,
            parsing,
            reading,
            large,
            keeping,
        };
        Self {
            inner: Arc::new(inner),
            inspection: None,
            redirect_rule: None,
            share: None,
            scope: PageScope::Shared,
        }
    }

    /// Returns the database.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns the scraper for a request of a team: with the copies of pages that it reads and stores.
    #[must_use]
    pub fn in_scope(self, scope: PageScope) -> Self {
        Self { scope, ..self }
    }

    /// Returns who reads documents.
    pub fn documents(&self) -> &DocumentReader {
        &self.inner.documents
    }

    /// Returns the guarded client that fetches pages.
    #[must_use]
    pub fn client(&self) -> &Client {
        self.inner.fetcher.client()
    }

    /// Returns the browser that is configured, whether or not it can be had.
    #[must_use]
    pub fn configured_browser(&self) -> Option<&Browser> {
        self.inner.drawer.configured_browser()
    }

    /// Returns the browser, if there is one and its program is installed.
    pub fn browser(&self) -> Option<&Browser> {
        self.inner.drawer.browser()
    }

    /// Returns the ways to hosts.
    pub fn proxies(&self) -> &ProxyConfig {
        self.inner.fetcher.proxies()
    }

    /// Returns where it is counted how long the stages take.
    #[must_use]
    pub fn stages(&self) -> &StageTimes {
        &self.inner.config.stages
    }

    /// Returns the name by which a robots.txt addresses us.
    pub fn robots_user_agent(&self) -> &'static str {
        ROBOTS_NAME
    }

    /// Gets a page in the formats of `plan`, from the cache by its rules, else from the network, until `deadline`.
    ///
    /// # Errors
    /// [`ScrapeError`]; an answer of 400 and above is a page too.
    pub fn scrape<'a>(
        &'a self,
        url: &'a Url,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Page, ScrapeError>> {
        Box::pin(async move { self.scrape_with(url, plan, None, deadline).await })
    }

    /// As [`Scraper::scrape`], with the profile that the plan names.
    ///
    /// # Errors
    /// As there, and [`ScrapeError::ProfileNotOpened`].
    pub fn scrape_with<'a>(
        &'a self,
        url: &'a Url,
        plan: &'a ScrapePlan,
        profile: Option<&'a OpenProfile>,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Page, ScrapeError>> {
        Box::pin(async move {
            self.stages().run(Stage::Page, self.scrape_page(url, plan, profile, deadline)).await
        })
    }

    async fn scrape_page(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        profile: Option<&OpenProfile>,
        deadline: Instant,
    ) -> Result<Page, ScrapeError> {
        self.check_url(url).await?;
        let freshness = Freshness::of(plan);
        match self.inner.drawer.render_mode(plan) {
            RenderMode::RenderUncached if freshness.is_cache_only() => {
                let mut page =
                    self.scrape_cached(url, plan, freshness, RenderMode::IfShell, deadline).await?;
                let missing =
                    wants_screenshot(plan).then_some("there is no screenshot: the cache holds no pictures");
                page.warnings.extend(missing.map(str::to_owned));
                Ok(page)
            }
            RenderMode::RenderUncached if plan.profile().is_some() => {
                let profile = Some(profile.ok_or(ScrapeError::ProfileNotOpened)?);
                let place = self.acquire(BackgroundPool::Rendering).await?;
                let page =
                    self.inner.drawer.page(url, plan, profile, &self.fetch_context(), deadline).await?;
                drop(place);
                self.render(page, None, plan.clone(), deadline).await
            }
            need => self.scrape_cached(url, plan, freshness, need, deadline).await,
        }
    }

    async fn scrape_cached(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        freshness: Freshness,
        need: RenderMode,
        deadline: Instant,
    ) -> Result<Page, ScrapeError> {
        let key = self.page_key(url, plan, need);
        let mut is_empty = false;
        if need != RenderMode::RenderUncached {
            match self.lookup(url, key.as_ref(), plan, freshness).await? {
                CacheLookup::Output(page) => {
                    if let Some(end) = page.metadata.url.as_deref().and_then(|end| Url::parse(end).ok()) {
                        self.check_final_url(url, &end).await?;
                    }
                    return Ok(*page);
                }
                CacheLookup::Response(CacheStatus::Fresh(page, kept)) => {
                    self.check_final_url(url, &page.url).await?;
                    return self.render(*page, Some(kept), plan.clone(), deadline).await;
                }
                CacheLookup::Response(CacheStatus::Stale) => {}
                CacheLookup::Response(CacheStatus::Miss) => is_empty = true,
            }
        }
        let Some(key) = key else {
            let page = self.fetch_uncached(url, None, plan, need, deadline).await?.0;
            return self.render(page, None, plan.clone(), deadline).await;
        };
        let slot = CacheSlot { key: &key, is_empty };
        if need == RenderMode::RenderUncached {
            let (page, _) = self.fetch_uncached(url, Some(slot), plan, need, deadline).await?;
            return self.render(page, None, plan.clone(), deadline).await;
        }
        let (page, kept) = self.fetch_coalesced(url, slot, plan, need, deadline).await?;
        self.render(page, Some(key).zip(kept), plan.clone(), deadline).await
    }

    /// Returns the name of a page in the cache. Sheets of one document differ in the fragment, which is no part of a name,
    /// so a document has that of its export.
    pub(crate) fn page_key(&self, url: &Url, plan: &ScrapePlan, need: RenderMode) -> Option<PageKey> {
        let export = export_url(url);
        let key = cache::page_key(export.as_ref().unwrap_or(url), plan, self.proxies(), need)?;
        Some(key.owned_by(self.scope.owner()))
    }

    /// Fetches a page together with all who ask for it now under the same policy, and stores it when the plan says so.
    /// Returns with it when it was fetched, if the cache has it now.
    pub(crate) async fn fetch_coalesced(
        &self,
        url: &Url,
        slot: CacheSlot<'_>,
        plan: &ScrapePlan,
        need: RenderMode,
        deadline: Instant,
    ) -> Result<(RawPage, Option<u64>), ScrapeError> {
        // Boxed, because every one who waits holds it.
        let fetching = Box::pin(async {
            match self.fetch_uncached(url, Some(slot), plan, need, deadline).await {
                Ok(landed) => Ok(Ok(landed)),
                // Somebody else may have more time.
                Err(error) if error.code() == ErrorCode::ScrapeTimeout => Err(error),
                // The rule has told its own request why, and no other.
                Err(error) if error.is_unsafe() && self.redirect_rule.is_some() => Err(error),
                Err(error) => Ok(Err(Arc::new(error))),
            }
        });
        // What is stored nowhere is shared with nobody either.
        let landed = match self.scope {
            PageScope::Off => fetching.await?,
            PageScope::Shared | PageScope::Team(_) => {
                self.inner.flights.join(self.flight_key(slot.key), fetching).await?
            }
        };
        let (page, kept) = match landed {
            Ok(landed) => landed,
            Err(error) => return Err(Arc::try_unwrap(error).unwrap_or_else(ScrapeError::Shared)),
        };
        // Who fetched it asked for each step; who waited counts and is told of the end alone, as with a cached page.
        self.check_final_url(url, &page.url).await?;
        let kept = match kept {
            StoreOutcome::NotRequested if plan.store_in_cache() => {
                return self.put(page, slot.key.clone()).await;
            }
            StoreOutcome::NotRequested | StoreOutcome::Failed => None,
            StoreOutcome::StoredAt(at) => Some(at),
        };
        Ok((RawPage { source_url: url.clone(), ..page }, kept))
    }

    /// Gets a page that the cache cannot answer: from its host, or drawn by the browser. It is stored in its slot when
    /// the plan says so.
    pub(crate) async fn fetch_uncached(
        &self,
        url: &Url,
        slot: Option<CacheSlot<'_>>,
        plan: &ScrapePlan,
        need: RenderMode,
        deadline: Instant,
    ) -> Result<(RawPage, StoreOutcome), ScrapeError> {
        let started = Instant::now();
        let mut page = match need {
            // A browser makes no more of a file.
            RenderMode::IfShell | RenderMode::Render if export_url(url).is_some() => {
                self.fetch(url, None, plan, deadline).await?
            }
            RenderMode::IfShell => self.fetch_or_render(url, slot, plan, deadline).await?,
            RenderMode::Render | RenderMode::RenderUncached => {
                let _place = self.acquire(BackgroundPool::Rendering).await?;
                self.inner.drawer.page(url, plan, None, &self.fetch_context(), deadline).await?
            }
        };
        page.took = started.elapsed();
        match slot.filter(|_| plan.store_in_cache()) {
            Some(slot) => {
                let (page, kept) = self.put(page, slot.key.clone()).await?;
                Ok((page, kept.map_or(StoreOutcome::Failed, StoreOutcome::StoredAt)))
            }
            None => Ok((page, StoreOutcome::NotRequested)),
        }
    }

    /// Fetches a page, or learns that it is as the cache has it; the browser renders it if it is a shell page.
    async fn fetch_or_render(
        &self,
        url: &Url,
        slot: Option<CacheSlot<'_>>,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let drawer = &self.inner.drawer;
        let page = self.fetch(url, slot, plan, deadline).await?;
        if !drawer.needs_rendering(&page) {
            return Ok(page);
        }
        let _place = self.acquire(BackgroundPool::Rendering).await?;
        let privacy = page.privacy();
        let filled = Box::pin(drawer.render_shell(page, plan, &self.fetch_context(), deadline)).await?;
        Ok(filled.standing_in_for(privacy))
    }

    /// Fetches a page as its host serves it, or learns that it is as the cache has it.
    async fn fetch(
        &self,
        url: &Url,
        slot: Option<CacheSlot<'_>>,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let export = export_url(url);
        let mut request = self.fetch_context().request(export.as_ref().unwrap_or(url), plan, deadline)?;
        // Who wants nothing cached wants no opinion of the host about what is cached either.
        let known = match slot.filter(|slot| !slot.is_empty && !plan.max_age().is_zero()) {
            Some(slot) => self.stored_response(url, slot.key).await?,
            None => None,
        };
        let known = known.filter(|known| request::add_conditional_headers(&mut request, known));
        let fetching = self.inner.fetcher.page(request, ProxyRoute::of(plan), deadline);
        let fetched = self.stages().run(Stage::Fetch, fetching).await?;
        Ok(match export {
            Some(_) => exported(url, fetched),
            None => merge_not_modified(url, known, fetched).0,
        })
    }

    /// Returns what gets the pages that are drawn, and the files that are not.
    fn fetch_context(&self) -> FetchContext<'_> {
        FetchContext {
            fetcher: &self.inner.fetcher,
            max_bytes: self.inner.config.max_body_bytes,
            rule: self.rule(),
            stages: self.stages(),
        }
    }

    /// Gets a page for a crawl: from the cache when it is not older than `max_age`, else from the network.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub fn scrape_for_crawl<'a>(
        &'a self,
        url: &'a Url,
        max_age: Duration,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<CrawlPage, ScrapeError>> {
        Box::pin(async move {
            let key = cache::plain_key(url).map(|key| key.owned_by(self.scope.owner()));
            let freshness = Freshness { max_age, min_age: None, lockdown: false };
            let (page, unchanged) = match self.lookup_response(url, key.as_ref(), freshness).await? {
                CacheStatus::Fresh(page, _) => (*page, false),
                CacheStatus::Stale | CacheStatus::Miss => self.revalidate(url, key, deadline).await?,
            };
            let converted = self.convert_document(&page, Some(ReadOptions::default()), deadline).await?;
            let turn = self.acquire_large_page_permit(&page, converted.as_ref()).await?;
            let now_ms = self.clock().now_ms();
            let surveying = self.run_cpu_task(move |store| {
                let _turn = turn;
                let mut survey = CrawlPage { unchanged, ..to_crawl_page(&page, converted.as_ref())? };
                survey
                    .index_copy
                    .iter_mut()
                    .for_each(|copy| image_size::fill_known_sizes(store, copy, now_ms));
                Ok(survey)
            });
            self.stages().run(Stage::Extract, surveying).await
        })
    }

    /// Fetches a page, or learns that it is as the cache has it; the cache has it anew in both cases. Returns whether
    /// it is unchanged.
    async fn revalidate(
        &self,
        url: &Url,
        key: Option<PageKey>,
        deadline: Instant,
    ) -> Result<(RawPage, bool), ScrapeError> {
        let known = match &key {
            Some(key) => self.stored_response(url, key).await?,
            None => None,
        };
        let mut request = request::plain(url, remaining(deadline)?, self.inner.config.max_body_bytes);
        let known = known.filter(|known| request::add_conditional_headers(&mut request, known));
        let fetching = self.inner.fetcher.fetch_plain_file(request, deadline);
        let fetched = self.stages().run(Stage::Fetch, fetching).await?;
        let (page, unchanged) = merge_not_modified(url, known, fetched);
        Ok(match key {
            Some(key) => (self.put(page, key).await?.0, unchanged),
            None => (page, unchanged),
        })
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.inner.config.clock
    }

    /// Does what computes, or writes to the store, off the async threads.
    pub(crate) async fn run_cpu_task<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, ScrapeError> + Send + 'static,
    ) -> Result<T, ScrapeError> {
        let place = self.acquire(BackgroundPool::Parsing).await?;
        self.run_blocking(&self.inner.parsing, place, work).await
    }

    /// Reads from the store off the async threads. That waits for nobody who computes.
    pub(crate) async fn run_store_read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store) -> Result<T, ScrapeError> + Send + 'static,
    ) -> Result<T, ScrapeError> {
        self.run_blocking(&self.inner.reading, None, read).await
    }

    async fn run_blocking<T: Send + 'static>(
        &self,
        pool: &Arc<Semaphore>,
        place: Option<OwnedSemaphorePermit>,
        work: impl FnOnce(&Store) -> Result<T, ScrapeError> + Send + 'static,
    ) -> Result<T, ScrapeError> {
        let permit = Arc::clone(pool).acquire_owned().await;
        let permit = permit.map_err(|_closed| ScrapeError::Stopping)?;
        let inner = Arc::clone(&self.inner);
        let working = tokio::task::spawn_blocking(in_current_span(move || {
            let _permits = (place, permit);
            work(&inner.store)
        }));
        match working.await {
            Ok(done) => done,
            Err(stopped) if stopped.is_panic() => std::panic::resume_unwind(stopped.into_panic()),
            Err(_stopped) => Err(ScrapeError::Stopping),
        }
    }
}
