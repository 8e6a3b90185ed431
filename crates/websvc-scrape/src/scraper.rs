//! The [`Scraper`]: combines cache, network, browser and CPU work, each within its concurrency limit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::threat::UrlChecker;
use tokio::sync::Semaphore;
use url::Url;
use websvc_browser::Browser;
use websvc_stage::{Stage, StageTimes, in_current_span};
use websvc_store::{PageKey, PageScope, Store};
use websvc_transport::{BoxFuture, Client, FairPermit, ShutdownError, run_blocking};
use websvc_types::ErrorCode;
use websvc_validate::ScrapePlan;

use crate::background_limits::{BackgroundPermits, BackgroundPool};
use crate::browse::{FetchContext, PageRenderer, RenderMode, wants_branding, wants_screenshot};
use crate::cache::{self, FetchedPage, StoreOutcome, StoredCopy};
use crate::cache_lookup::{CacheLookup, CacheSlot, CacheStatus, with_shared};
use crate::cache_writer::CacheWriter;
use crate::config::ScrapeConfig;
use crate::crawl_page::{CrawlPage, to_crawl_page};
use crate::documents::{DocumentReader, ReadOptions};
use crate::error::ScrapeError;
use crate::fetcher::{Fetcher, ProxyRoute, TeamFetcher, remaining};
use crate::freshness::Freshness;
use crate::google_export::{export_url, exported};
use crate::image_size;
use crate::output_cache::OutputCache;
use crate::page::Page;
use crate::profile::OpenProfile;
use crate::proxies::ProxyConfig;
use crate::raw::{RawPage, RevalidatedPage};
use crate::request::{self, ROBOTS_NAME};
use crate::single_flight::SingleFlight;
use crate::unindexed_pages::UnindexedPages;
use crate::url_check::{FlightKey, RedirectRule};

/// The maximum number of concurrent reads from the store.
const MAX_STORE_READS: usize = 4;

/// Scrapes pages. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Scraper {
    pub(crate) inner: Arc<ScraperInner>,
    /// The URL check of threat protection of one request.
    pub(crate) url_checker: Option<UrlChecker>,
    /// A rule of the caller for redirect targets, in addition to the URL check.
    pub(crate) redirect_rule: Option<RedirectRule>,
    /// The concurrency limits for background work; `None` for an HTTP caller's request.
    pub(crate) background: Option<Arc<BackgroundPermits>>,
    /// The scope of the cached pages that are read and stored.
    pub(crate) scope: PageScope,
    /// The team whose requests share its part of the slots.
    pub(crate) team: Arc<str>,
}

#[derive(Debug)]
pub(crate) struct ScraperInner {
    pub(crate) fetcher: Fetcher,
    pub(crate) renderer: PageRenderer,
    pub(crate) store: Store,
    pub(crate) config: ScrapeConfig,
    pub(crate) output_cache: OutputCache,
    flights: SingleFlight<FlightKey, SharedFetchResult>,
    pub(crate) documents: DocumentReader,
    /// Permits for CPU work, one per core: more concurrent tasks would only wait for each other.
    cpu_permits: Arc<Semaphore>,
    /// Permits for reads from the store: more concurrent reads would wait for its connections.
    read_permits: Arc<Semaphore>,
    /// One permit for large pages: formatting a page takes a multiple of its size in memory.
    pub(crate) large_page_permits: Arc<Semaphore>,
    pub(crate) cache_writer: CacheWriter,
    pub(crate) unindexed_pages: UnindexedPages,
}

/// The result of a coalesced fetch, shared by all callers.
type SharedFetchResult = Result<FetchedPage, Arc<ScrapeError>>;

impl Scraper {
    /// Creates a scraper.
    pub fn new(client: Client, store: Store, config: ScrapeConfig) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let fetcher = Fetcher::new(client, config.concurrency, config.proxies.clone());
        let inner = ScraperInner {
            fetcher,
            renderer: PageRenderer::new(config.browser.clone(), Arc::clone(&config.blocklist)),
            unindexed_pages: UnindexedPages::new(&store),
            store,
            output_cache: OutputCache::new(config.output_cache_bytes),
            flights: SingleFlight::new(),
            documents: DocumentReader::new(config.documents.clone()),
            cpu_permits: Arc::new(Semaphore::new(cores)),
            read_permits: Arc::new(Semaphore::new(MAX_STORE_READS)),
            large_page_permits: Arc::new(Semaphore::new(1)),
            cache_writer: CacheWriter::default(),
            config,
        };
        Self {
            inner: Arc::new(inner),
            url_checker: None,
            redirect_rule: None,
            background: None,
            scope: PageScope::Shared,
            team: Arc::default(),
        }
    }

    /// Returns the current time by which the age of pages is measured, in milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.inner.store.now_ms()
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns a scraper for a request of a team, with the scope of the cached pages that it reads and stores.
    #[must_use]
    pub fn for_team(self, team: &str, scope: PageScope) -> Self {
        Self { team: team.into(), scope, ..self }
    }

    /// Returns the document reader.
    pub fn documents(&self) -> &DocumentReader {
        &self.inner.documents
    }

    /// Returns the guarded client that fetches pages.
    #[must_use]
    pub fn client(&self) -> &Client {
        self.inner.fetcher.client()
    }

    /// Returns the configured browser, whether or not its program is installed.
    #[must_use]
    pub fn configured_browser(&self) -> Option<&Browser> {
        self.inner.renderer.configured_browser()
    }

    /// Returns the browser, if one is configured and its program is installed.
    pub fn browser(&self) -> Option<&Browser> {
        self.inner.renderer.browser()
    }

    /// Returns the configured proxies.
    pub fn proxies(&self) -> &ProxyConfig {
        self.inner.fetcher.proxies()
    }

    /// Returns the metrics of how long the stages take.
    #[must_use]
    pub fn stages(&self) -> &StageTimes {
        &self.inner.config.stages
    }

    /// Returns the product token of websvc in a robots.txt (RFC 9309, section 2.2.1).
    pub fn robots_user_agent(&self) -> &'static str {
        ROBOTS_NAME
    }

    /// Scrapes a page in the formats of `plan`, from the cache by its rules, else from the network, until `deadline`.
    ///
    /// # Errors
    /// [`ScrapeError`]; a response with a status of 400 and above is a page, not an error.
    pub fn scrape<'a>(
        &'a self,
        url: &'a Url,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Page, ScrapeError>> {
        Box::pin(async move { self.scrape_with(url, plan, None, deadline).await })
    }

    /// Scrapes a page as [`Scraper::scrape`] does, with the profile that the plan names.
    ///
    /// # Errors
    /// As [`Scraper::scrape`], and [`ScrapeError::ProfileNotOpened`].
    pub fn scrape_with<'a>(
        &'a self,
        url: &'a Url,
        plan: &'a ScrapePlan,
        profile: Option<&'a OpenProfile>,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Page, ScrapeError>> {
        Box::pin(async move {
            let scraping = async {
                let mut page = self.scrape_page(url, plan, profile, deadline).await?;
                self.follow_embedded(&mut page, plan, deadline).await;
                Ok(page)
            };
            self.stages().run(Stage::Page, scraping).await
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
        let freshness = Freshness::from_plan(plan);
        match self.inner.renderer.render_mode(plan) {
            RenderMode::RenderUncached if freshness.is_cache_only() => {
                let mut page =
                    self.scrape_cached(url, plan, freshness, RenderMode::IfShell, deadline).await?;
                if wants_screenshot(plan) {
                    page.warnings.push("no screenshot: cached pages have none".to_owned());
                }
                if wants_branding(plan) {
                    page.warnings.push("no branding: cached pages have no computed styles".to_owned());
                }
                Ok(page)
            }
            RenderMode::RenderUncached if plan.profile.is_some() => {
                let profile = Some(profile.ok_or(ScrapeError::ProfileNotOpened)?);
                let permit = self.acquire(BackgroundPool::Rendering).await;
                let page =
                    self.inner.renderer.page(url, plan, profile, &self.fetch_context(), deadline).await?;
                drop(permit);
                self.format(page, None, plan.clone(), deadline).await
            }
            mode => self.scrape_cached(url, plan, freshness, mode, deadline).await,
        }
    }

    pub(crate) async fn scrape_cached(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        freshness: Freshness,
        mode: RenderMode,
        deadline: Instant,
    ) -> Result<Page, ScrapeError> {
        let key = self.page_key(url, plan, mode);
        let mut known_absent = false;
        if mode != RenderMode::RenderUncached {
            let keys = self.lookup_keys(url, plan, mode);
            match self.lookup(url, &keys, plan, freshness).await? {
                CacheLookup::Output(page) => {
                    let final_url = page.metadata.url.as_deref().and_then(|text| Url::parse(text).ok());
                    if let Some(final_url) = final_url {
                        self.check_final_url(url, &final_url).await?;
                    }
                    return Ok(*page);
                }
                CacheLookup::Response(CacheStatus::Fresh(page, copy)) => {
                    self.check_final_url(url, &page.url).await?;
                    return self.format(*page, Some(copy), plan.clone(), deadline).await;
                }
                CacheLookup::Response(CacheStatus::Stale) => {}
                CacheLookup::Response(CacheStatus::Miss) => known_absent = true,
            }
        }
        let Some(key) = key else {
            let page = self.fetch_uncached(url, None, plan, mode, deadline).await?.page;
            return self.format(page, None, plan.clone(), deadline).await;
        };
        let slot = CacheSlot { key: &key, known_absent };
        if mode == RenderMode::RenderUncached {
            let page = self.fetch_uncached(url, Some(slot), plan, mode, deadline).await?.page;
            return self.format(page, None, plan.clone(), deadline).await;
        }
        let FetchedPage { page, store_outcome } =
            self.fetch_coalesced(url, slot, plan, mode, deadline).await?;
        let copy = store_outcome.stored_at_ms().map(|fetched_at_ms| StoredCopy { key, fetched_at_ms });
        self.format(page, copy, plan.clone(), deadline).await
    }

    /// Returns the cache key of a page. Sheets of one Google document differ only in the fragment, which a key does not
    /// have, so a document has the key of its export URL.
    pub(crate) fn page_key(&self, url: &Url, plan: &ScrapePlan, mode: RenderMode) -> Option<PageKey> {
        let export = export_url(url);
        let key = cache::page_key(export.as_ref().unwrap_or(url), plan, self.proxies(), mode)?;
        Some(key.owned_by(self.scope.owner()))
    }

    /// Fetches a page once for all concurrent callers with the same policy, and stores it if the plan says so.
    pub(crate) async fn fetch_coalesced(
        &self,
        url: &Url,
        slot: CacheSlot<'_>,
        plan: &ScrapePlan,
        mode: RenderMode,
        deadline: Instant,
    ) -> Result<FetchedPage, ScrapeError> {
        // Boxed, because the future of every waiting caller contains it.
        let fetching = Box::pin(async {
            match self.fetch_uncached(url, Some(slot), plan, mode, deadline).await {
                Ok(fetched) => Ok(Ok(fetched)),
                // Another caller may have a later deadline.
                Err(error) if error.code() == ErrorCode::ScrapeTimeout => Err(error),
                // The rule has recorded the reason for its own request only.
                Err(error) if error.is_unsafe() && self.redirect_rule.is_some() => Err(error),
                Err(error) => Ok(Err(Arc::new(error))),
            }
        });
        // A team that stores no pages does not share its fetches either.
        let fetched = match self.scope {
            PageScope::Off => fetching.await?,
            PageScope::Shared | PageScope::Team(_) => {
                self.inner.flights.join(self.flight_key(slot.key, plan), fetching).await?
            }
        };
        let FetchedPage { page, store_outcome } = match fetched {
            Ok(fetched) => fetched,
            Err(error) => return Err(Arc::try_unwrap(error).unwrap_or_else(ScrapeError::Shared)),
        };
        // The caller that fetched the page has checked each redirect; for the waiting callers only the final URL is
        // checked and counted, as for a cached page.
        self.check_final_url(url, &page.url).await?;
        if store_outcome == StoreOutcome::NotRequested && plan.store_in_cache {
            return self.put(page, slot.key.clone()).await;
        }
        Ok(FetchedPage { page: RawPage { source_url: url.clone(), ..page }, store_outcome })
    }

    /// Fetches or renders a page that is not served from the cache, and stores it in its slot if the plan says so.
    pub(crate) async fn fetch_uncached(
        &self,
        url: &Url,
        slot: Option<CacheSlot<'_>>,
        plan: &ScrapePlan,
        mode: RenderMode,
        deadline: Instant,
    ) -> Result<FetchedPage, ScrapeError> {
        let started = Instant::now();
        let mut page = match mode {
            // Rendering adds nothing to an exported file.
            RenderMode::IfShell | RenderMode::Render if export_url(url).is_some() => {
                self.fetch(url, None, plan, deadline).await?
            }
            RenderMode::IfShell => self.fetch_or_render(url, slot, plan, deadline).await?,
            RenderMode::Render | RenderMode::RenderUncached => {
                let _permit = self.acquire(BackgroundPool::Rendering).await;
                self.inner.renderer.page(url, plan, None, &self.fetch_context(), deadline).await?
            }
        };
        page.elapsed = started.elapsed();
        match slot.filter(|_| plan.store_in_cache) {
            Some(slot) => self.put(page, slot.key.clone()).await,
            None => Ok(FetchedPage { page, store_outcome: StoreOutcome::NotRequested }),
        }
    }

    /// Fetches or revalidates a page; the browser renders it if it is a shell page.
    async fn fetch_or_render(
        &self,
        url: &Url,
        slot: Option<CacheSlot<'_>>,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let renderer = &self.inner.renderer;
        let page = self.fetch(url, slot, plan, deadline).await?;
        if !renderer.needs_rendering(&page) {
            return Ok(page);
        }
        let _permit = self.acquire(BackgroundPool::Rendering).await;
        let privacy = page.privacy();
        let rendered = Box::pin(renderer.render_shell(page, plan, &self.fetch_context(), deadline)).await?;
        Ok(rendered.with_privacy(privacy))
    }

    /// Fetches a page as its host serves it, or revalidates the cached copy.
    async fn fetch(
        &self,
        url: &Url,
        slot: Option<CacheSlot<'_>>,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let export = export_url(url);
        let mut request = self.fetch_context().request(export.as_ref().unwrap_or(url), plan, deadline)?;
        // With `maxAge` 0 the cached copy is not revalidated either.
        let cached = match slot.filter(|slot| !slot.known_absent && !plan.max_age.is_zero()) {
            Some(slot) => self.stored_response(url, slot.key).await?,
            None => None,
        };
        let cached = cached.filter(|cached| request::add_conditional_headers(&mut request, cached));
        let fetching = self.fetcher().page(request, ProxyRoute::from_plan(plan), deadline);
        let fetched = self.stages().run(Stage::Fetch, fetching).await?;
        Ok(match export {
            Some(_) => exported(url, fetched),
            None => self.merge_response(url, cached, fetched).page,
        })
    }

    /// Returns the fetcher for the requests of the team.
    pub(crate) fn fetcher(&self) -> TeamFetcher<'_> {
        self.inner.fetcher.for_team(&self.team)
    }

    /// Returns the context for fetches and for rendering.
    fn fetch_context(&self) -> FetchContext<'_> {
        FetchContext {
            fetcher: self.fetcher(),
            max_bytes: self.inner.config.max_body_bytes,
            rule: self.rule(),
            boundary: self.boundary(),
            stages: self.stages(),
        }
    }

    /// Scrapes one page for a crawl: from the cache if it is not older than `max_age`, else from the network.
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
            let keys: Vec<PageKey> = key.clone().into_iter().flat_map(with_shared).collect();
            let found = self.lookup_response(url, &keys, freshness).await?;
            let RevalidatedPage { page, not_modified } = match found {
                CacheStatus::Fresh(page, _) => RevalidatedPage { page: *page, not_modified: false },
                CacheStatus::Stale | CacheStatus::Miss => self.revalidate(url, key, deadline).await?,
            };
            let converted = self.convert_document(&page, Some(ReadOptions::default()), deadline).await?;
            let permit = self.acquire_large_page_permit(&page, converted.as_ref()).await?;
            let now_ms = self.now_ms();
            let extracting = self.run_cpu_task(move |store| {
                let _permit = permit;
                let mut crawl_page = CrawlPage { not_modified, ..to_crawl_page(&page, converted.as_ref())? };
                crawl_page
                    .index_copy
                    .iter_mut()
                    .for_each(|copy| image_size::fill_known_sizes(store, copy, now_ms));
                Ok(crawl_page)
            });
            self.stages().run(Stage::Extract, extracting).await
        })
    }

    /// Fetches or revalidates a page, and stores it with the time of this fetch in both cases.
    async fn revalidate(
        &self,
        url: &Url,
        key: Option<PageKey>,
        deadline: Instant,
    ) -> Result<RevalidatedPage, ScrapeError> {
        let cached = match &key {
            Some(key) => self.stored_response(url, key).await?,
            None => None,
        };
        let mut request = request::plain(url, remaining(deadline)?, self.inner.config.max_body_bytes);
        let cached = cached.filter(|cached| request::add_conditional_headers(&mut request, cached));
        let fetching = self.fetcher().fetch_plain_file(request, deadline);
        let fetched = self.stages().run(Stage::Fetch, fetching).await?;
        let RevalidatedPage { page, not_modified } = self.merge_response(url, cached, fetched);
        let page = match key {
            Some(key) => self.put(page, key).await?.page,
            None => page,
        };
        Ok(RevalidatedPage { page, not_modified })
    }

    /// Runs CPU work, or a write to the store, on the blocking pool.
    pub(crate) async fn run_cpu_task<T: Send + 'static>(
        &self,
        task: impl FnOnce(&Store) -> Result<T, ScrapeError> + Send + 'static,
    ) -> Result<T, ScrapeError> {
        let background_permit = self.acquire(BackgroundPool::Parsing).await;
        self.run_blocking(&self.inner.cpu_permits, background_permit, task).await
    }

    /// Reads from the store on the blocking pool, without waiting for CPU work.
    pub(crate) async fn run_store_read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store) -> Result<T, ScrapeError> + Send + 'static,
    ) -> Result<T, ScrapeError> {
        self.run_blocking(&self.inner.read_permits, None, read).await
    }

    /// Runs a task on the blocking pool with a permit of `permits`.
    async fn run_blocking<T: Send + 'static>(
        &self,
        permits: &Arc<Semaphore>,
        background_permit: Option<FairPermit>,
        task: impl FnOnce(&Store) -> Result<T, ScrapeError> + Send + 'static,
    ) -> Result<T, ScrapeError> {
        let permit = Arc::clone(permits).acquire_owned().await;
        let permit = permit.map_err(|_closed| ScrapeError::Stopping)?;
        let inner = Arc::clone(&self.inner);
        let running = run_blocking(in_current_span(move || {
            let _permits = (background_permit, permit);
            task(&inner.store)
        }));
        running.await.map_err(|_: ShutdownError| ScrapeError::Stopping)?
    }
}
