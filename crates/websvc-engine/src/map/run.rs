//! The steps of a map: robots.txt, the start page, the files that list pages, the index.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use url::{Position, Url};
use websvc_index::Index;
use websvc_scrape::threat::UrlChecker;
use websvc_scrape::{FileResponse, MapPage, ScrapeError, Scraper};
use websvc_site::{MAX_ROBOTS_BYTES, RobotsStatus, RobotsTxt, robots_url, sitemap};
use websvc_store::PageOwner;
use websvc_transport::{BoxFuture, ShutdownError, run_blocking};
use websvc_types::limits::MAP_LIMIT_MAX;
use websvc_types::{ErrorCode, MapLink, SitemapMode};
use websvc_validate::MapPlan;

use super::SiteUrls;
use super::listing::{self, MAX_FILES, SitemapContents, SitemapFile, SitemapQueue};
use super::rank::rank;
use super::robots::{MAX_HOSTS, RobotsCache};
use super::site::{self, MapScope};
use super::url_collector::UrlCollector;
use super::warnings::MapWarnings;
use crate::error::EngineError;
use crate::mirror::Mirror;

/// The number of files that are fetched at a time. They are read one after the other, in the order in which they were
/// named, so that the same site gives the same list.
const MAX_CONCURRENT_FETCHES: usize = 3;

/// The maximum number of feeds of the start page that are read.
const MAX_FEEDS: usize = 3;

type Fetching<'a> = BoxFuture<'a, (SitemapFile, Result<FileResponse, ScrapeError>)>;

/// The state of a running map.
pub(super) struct MapRun<'a> {
    pub(super) plan: &'a MapPlan,
    scraper: Scraper,
    checker: Option<UrlChecker>,
    pub(super) deadline: Instant,
    pub(super) scope: Arc<MapScope>,
    pub(super) found: UrlCollector,
    robots: RobotsCache,
    listings: SitemapQueue,
    pub(super) warnings: MapWarnings,
    /// The first error of a request to the start host.
    failure: Option<ScrapeError>,
    pub(super) is_late: bool,
}

impl<'a> MapRun<'a> {
    pub(super) fn new(
        plan: &'a MapPlan,
        scraper: Scraper,
        checker: Option<UrlChecker>,
        deadline: Instant,
    ) -> Self {
        // A ranked map needs all URLs before it can rank them.
        let max_found = if plan.search.is_some() { MAP_LIMIT_MAX as usize } else { plan.limit };
        Self {
            plan,
            scraper,
            checker,
            deadline,
            scope: Arc::new(MapScope::from_plan(plan)),
            found: UrlCollector::new(max_found, plan.url_variants),
            robots: RobotsCache::default(),
            listings: SitemapQueue::default(),
            warnings: MapWarnings::default(),
            failure: None,
            is_late: false,
        }
    }

    /// Runs the map.
    ///
    /// # Errors
    /// See [`Engine::map`](crate::Engine::map).
    pub(super) async fn run(
        mut self,
        indexes: Vec<Arc<Index>>,
        server: Option<(&Mirror, Option<PageOwner>)>,
    ) -> Result<SiteUrls, EngineError> {
        let plan = self.plan;
        if let Some(checker) = &self.checker {
            let checked = tokio::time::timeout_at(self.deadline.into(), checker.check(&plan.url)).await;
            let checked = checked.map_err(|_elapsed| self.late())?;
            checked
                .map_err(|blocked| EngineError::Page(ScrapeError::Unsafe { reason: blocked.to_string() }))?;
        }
        self.read_robots(&plan.url).await;
        if plan.sitemap != SitemapMode::Skip {
            self.listings.add_default_sitemap(&plan.url);
        }
        if plan.links {
            self.read_start().await;
        }
        self.read_listings().await?;
        for index in indexes {
            self.read_index(index).await?;
        }
        if let Some((server, owner)) = server {
            if owner.is_some() {
                self.read_server(server, owner).await;
            }
            self.read_server(server, None).await;
        }
        self.finish().await
    }

    /// Reads the robots.txt of the host of `url`, and queues the sitemaps that it names.
    async fn read_robots(&mut self, url: &Url) {
        self.wait_delay().await;
        let robots_url = robots_url(url);
        let fetched = self
            .scraper
            .listing(&robots_url, self.plan.scrape_plan_for(&robots_url), MAX_ROBOTS_BYTES, self.deadline)
            .await;
        let is_start = url.host_str() == self.plan.url.host_str();
        let robots_txt = match fetched {
            Ok(file) => {
                let robots_txt = RobotsTxt::read(file.status, &file.body, self.scraper.robots_user_agent());
                if robots_txt.status() == RobotsStatus::ServerError {
                    self.warnings.add(format!(
                        "{robots_url} responded with {}: nothing was fetched from its host",
                        file.status.as_u16()
                    ));
                }
                // If the robots.txt redirects to the same path on another host, the whole host has moved.
                if is_start && file.status.is_success() && file.url.path() == robots_url.path() {
                    Arc::make_mut(&mut self.scope).add_host(&file.url);
                }
                robots_txt
            }
            // An unreachable robots.txt may forbid everything (RFC 9309, section 2.3.1.4).
            Err(error) => {
                self.record_error(&robots_url, error);
                RobotsTxt::without_rules(RobotsStatus::Unreachable)
            }
        };
        if self.scope.is_site_host(url) && self.plan.sitemap != SitemapMode::Skip {
            for named in robots_txt.sitemaps(&robots_url) {
                self.listings.add_named(named, 0);
            }
        }
        self.robots.set(url, robots_txt);
    }

    /// Reads the start page, its links and the feeds that it names. It has half of the remaining time.
    async fn read_start(&mut self) {
        let url = &self.plan.url;
        if !self.robots.is_allowed(url) {
            if self.failure.is_none() {
                self.warnings.add("robots.txt disallows the start page, so its links are missing".to_owned());
            }
            return;
        }
        self.wait_delay().await;
        let deadline = Instant::now() + self.time_left() / 2;
        match self.scraper.scrape_for_map(url, &self.plan.page, deadline).await {
            Ok(page) => self.add_start_page(page),
            Err(error) => self.record_error(url, error),
        }
    }

    fn add_start_page(&mut self, page: MapPage) {
        let MapPage { url, status, title, description, links, feeds } = page;
        if !status.is_success() {
            self.warnings.add(format!("the start page responded with {}", status.as_u16()));
            return;
        }
        if site::host(&url) != site::host(&self.plan.url) && self.plan.sitemap != SitemapMode::Skip {
            self.listings.add_default_sitemap(&url);
        }
        Arc::make_mut(&mut self.scope).follow_start_redirect(&url);
        // The result says only whether there is capacity, which the end of the map reports, too.
        if let Some(url) = self.scope.normalize(url) {
            let _ = self.found.add(url, title.as_deref(), description.as_deref());
        }
        for link in links {
            if let Some(url) = self.scope.normalize(link.url) {
                let _ = self.found.add(url, Some(&link.text), None);
            }
        }
        let feeds = feeds.into_iter().filter(|feed| self.scope.is_site_host(feed));
        for feed in feeds.take(MAX_FEEDS).collect::<Vec<_>>() {
            self.listings.add_named(feed, 0);
        }
    }

    /// Reads the files that list pages, and the files that they name.
    async fn read_listings(&mut self) -> Result<(), EngineError> {
        let max_concurrent = if self.plan.delay.is_zero() { MAX_CONCURRENT_FETCHES } else { 1 };
        let mut running = FuturesOrdered::new();
        let mut has_added_usual_paths = self.plan.sitemap == SitemapMode::Skip;
        let mut pages = 0;
        loop {
            self.is_late |= self.time_left().is_zero();
            if self.is_late || self.found.is_full() {
                break;
            }
            while running.len() < max_concurrent
                && !self.found.is_full()
                && let Some(next) = self.listings.start()
            {
                if self.may_fetch(&next).await {
                    running.push_back(self.fetch(next));
                }
            }
            if running.is_empty() {
                if has_added_usual_paths || pages > 0 {
                    break;
                }
                has_added_usual_paths = true;
                self.listings.add_usual_paths(&self.plan.url, self.scope.path());
                continue;
            }
            let Ok(Some((listing, response))) =
                tokio::time::timeout_at(self.deadline.into(), running.next()).await
            else {
                self.is_late = true;
                break;
            };
            pages += self.read_listing(listing, response).await?;
        }
        let queued = self.listings.queued() + self.listings.overflow + running.len();
        if self.is_late {
            self.warnings.add_skipped_files("the timeout was reached", queued);
        } else if !self.found.is_full() {
            self.warnings.add_skipped_files(format!("a map reads at most {MAX_FILES}"), queued);
        }
        Ok(())
    }

    /// Returns whether robots.txt and threat protection allow a file.
    async fn may_fetch(&mut self, listing: &SitemapFile) -> bool {
        let url = &listing.url;
        if let Some(checker) = &self.checker {
            // The host of the start page was scanned together with it.
            let checked = if site::host(url) == site::host(&self.plan.url) {
                checker.check_lists(url)
            } else {
                checker.check(url).await
            };
            if checked.is_err() {
                self.warnings.add_skipped_files("threat protection blocks them", 1);
                return false;
            }
        }
        if !self.robots.contains(url) {
            if !self.robots.has_capacity() {
                self.warnings.add_skipped_files(format!("a map contacts at most {MAX_HOSTS} hosts"), 1);
                return false;
            }
            self.read_robots(url).await;
        }
        let is_allowed = self.robots.is_allowed(url);
        if !is_allowed && listing.is_named {
            self.warnings.add_skipped_files("disallowed by robots.txt", 1);
        }
        is_allowed
    }

    fn fetch(&self, listing: SitemapFile) -> Fetching<'a> {
        let (scraper, plan, deadline) = (self.scraper.clone(), self.plan, self.deadline);
        Box::pin(async move {
            wait_delay(plan.delay, deadline).await;
            let response = scraper
                .listing(&listing.url, plan.scrape_plan_for(&listing.url), sitemap::MAX_BYTES, deadline)
                .await;
            (listing, response)
        })
    }

    /// Adds the pages that a file lists. Returns the number of its entries.
    async fn read_listing(
        &mut self,
        listing: SitemapFile,
        response: Result<FileResponse, ScrapeError>,
    ) -> Result<usize, EngineError> {
        let (url, is_named) = (listing.url.clone(), listing.is_named);
        let file = match response {
            Ok(file) if file.status.is_success() => file,
            Ok(file) => {
                if is_named {
                    self.warnings.add_file_warning(format!("{url} responded with {}", file.status.as_u16()));
                }
                return Ok(0);
            }
            Err(error) => {
                if is_named {
                    self.warnings.add_file_warning(format!("could not fetch {url}: {error}"));
                }
                return Ok(0);
            }
        };
        let depth = listing.depth_below();
        let (found, scope, deadline) =
            (std::mem::take(&mut self.found), Arc::clone(&self.scope), self.deadline);
        let read = move || listing::read(found, &scope, &listing, &file.url, &file.body, deadline);
        let SitemapContents { found, reading, sitemaps, other_hosts, too_deep, is_late } =
            spawn_blocking(read).await?;
        self.found = found;
        self.is_late |= is_late;
        if let Some(fault) = reading.incomplete.filter(|_| is_named || reading.items > 0) {
            self.warnings.add_file_warning(format!("{url} {fault}"));
        }
        self.warnings.add_skipped_files("they are on other hosts", other_hosts);
        self.warnings.add_skipped_files("they are too many or nested too deeply", too_deep);
        for sitemap in sitemaps {
            self.listings.add_named(sitemap, depth);
        }
        Ok(reading.items)
    }

    /// Ends the map: removes blocked URLs, ranks the others and applies the limit.
    async fn finish(mut self) -> Result<SiteUrls, EngineError> {
        if self.found.len() == 0 {
            if let Some(error) = self.failure.take() {
                return Err(self.failure_of(error));
            }
            if self.is_late {
                return Err(self.late());
            }
        }
        if self.is_late {
            self.warnings.add("the timeout was reached before everything was read".to_owned());
        }
        if let Some(error) = self.failure.take() {
            self.warnings.add(format!("the start page could not be fetched: {error}"));
        }
        let (found, checker) = (std::mem::take(&mut self.found), self.checker.take());
        let (search, limit) = (self.plan.search.clone(), self.plan.limit);
        let (links, blocked) = spawn_blocking(move || {
            let mut links = found.into_links();
            let before = links.len();
            if let Some(checker) = checker {
                links.retain(|link| is_shown(&checker, link));
            }
            let blocked = before - links.len();
            let mut links = match search {
                Some(search) => rank(links, &search),
                None => links,
            };
            links.truncate(limit);
            (links, blocked)
        })
        .await?;
        if blocked > 0 {
            let urls = if blocked == 1 { "URL" } else { "URLs" };
            self.warnings.add(format!("threat protection removed {blocked} {urls}"));
        }
        let hint = self.hint(links.len());
        let mut warnings = self.warnings.into_warnings();
        warnings.extend(hint);
        Ok(SiteUrls { links, warnings })
    }

    /// Returns a hint if hardly anything was found and the request was not for the whole site.
    fn hint(&self, found: usize) -> Option<String> {
        let url = &self.plan.url;
        let is_base = url.path() == "/" && url.query().is_none();
        if found > 1 || self.plan.limit == 1 || is_base {
            return None;
        }
        let results = if found == 1 { "1 URL was" } else { "no URLs were" };
        let base = &url[..Position::BeforePath];
        Some(format!("{results} found: to find more, map the base of the site, {base}, instead of {url}"))
    }

    /// Records an error. The first one on the start host is the reason if nothing is found at all.
    fn record_error(&mut self, url: &Url, error: ScrapeError) {
        if error.code() == ErrorCode::ScrapeTimeout && self.time_left().is_zero() {
            self.is_late = true;
        } else if self.failure.is_none() && url.host_str() == self.plan.url.host_str() {
            self.failure = Some(error);
        } else {
            self.warnings.add_file_warning(format!("could not fetch {url}: {error}"));
        }
    }

    fn failure_of(&self, error: ScrapeError) -> EngineError {
        match error.code() {
            ErrorCode::UnsafeDomainBlocked
            | ErrorCode::ScrapeForbiddenUrl
            | ErrorCode::ScrapeDnsResolutionError
            | ErrorCode::ScrapeSslError => EngineError::Page(error),
            ErrorCode::ScrapeTimeout => self.late(),
            _ => EngineError::MapFailed(error),
        }
    }

    fn late(&self) -> EngineError {
        let timeout_ms = u64::try_from(self.plan.timeout.as_millis()).unwrap_or(u64::MAX);
        EngineError::MapTimeout { timeout_ms }
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    async fn wait_delay(&self) {
        wait_delay(self.plan.delay, self.deadline).await;
    }
}

/// Waits for the delay that the request demands between two requests to the site.
async fn wait_delay(delay: Duration, deadline: Instant) {
    if !delay.is_zero() {
        tokio::time::sleep_until((Instant::now() + delay).min(deadline).into()).await;
    }
}

fn is_shown(checker: &UrlChecker, link: &MapLink) -> bool {
    Url::parse(&link.url).is_ok_and(|url| checker.check_lists(&url).is_ok())
}

/// Runs CPU-bound work on a blocking thread.
pub(super) async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    run_blocking(work).await.map_err(|_: ShutdownError| EngineError::MapFailed(ScrapeError::Stopping))
}
