//! The map itself: robots.txt, the start page, the files that list pages, the index, in this order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use url::{Position, Url};
use websvc_index::Index;
use websvc_scrape::{FileResponse, MapPage, ScrapeError, Scraper};
use websvc_threat::UrlChecker;
use websvc_transport::BoxFuture;
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
use crate::crawl::robots::{self, RobotsTxt};
use crate::error::EngineError;

/// So many files are fetched at one time; they are read one after the other, in the order in which they were named, so
/// that the same site gives the same list.
const AT_ONCE: usize = 3;

/// Most feeds of the start page that are read.
const MAX_FEEDS: usize = 3;

/// Of so many pages of the index the titles are looked up.
const INDEX_TITLES: usize = 1_000;

type Fetching<'a> = BoxFuture<'a, (SitemapFile, Result<FileResponse, ScrapeError>)>;

/// A map while it is made.
pub(super) struct MapRun<'a> {
    plan: &'a MapPlan,
    scraper: Scraper,
    inspection: Option<UrlChecker>,
    deadline: Instant,
    site: Arc<MapScope>,
    found: UrlCollector,
    hosts: RobotsCache,
    listings: SitemapQueue,
    notes: MapWarnings,
    /// Why the first thing could not be had.
    failure: Option<ScrapeError>,
    is_late: bool,
}

impl<'a> MapRun<'a> {
    pub(super) fn new(
        plan: &'a MapPlan,
        scraper: Scraper,
        inspection: Option<UrlChecker>,
        deadline: Instant,
    ) -> Self {
        // What is ranked has to be found first.
        let most = if plan.search().is_some() { MAP_LIMIT_MAX as usize } else { plan.limit() };
        Self {
            plan,
            scraper,
            inspection,
            deadline,
            site: Arc::new(MapScope::of(plan)),
            found: UrlCollector::new(most, plan.includes_url_variants()),
            hosts: RobotsCache::default(),
            listings: SitemapQueue::default(),
            notes: MapWarnings::default(),
            failure: None,
            is_late: false,
        }
    }

    /// Makes the map.
    ///
    /// # Errors
    /// As [`Engine::map`](crate::Engine::map) has them.
    pub(super) async fn run(mut self, indexes: Vec<Arc<Index>>) -> Result<SiteUrls, EngineError> {
        let plan = self.plan;
        if let Some(inspection) = &self.inspection {
            let checked = tokio::time::timeout_at(self.deadline.into(), inspection.check(plan.url())).await;
            let checked = checked.map_err(|_elapsed| self.late())?;
            checked
                .map_err(|blocked| EngineError::Page(ScrapeError::Unsafe { reason: blocked.to_string() }))?;
        }
        self.read_robots(plan.url()).await;
        if plan.sitemap() != SitemapMode::Skip {
            self.listings.add_default_sitemap(plan.url());
        }
        if plan.links() {
            self.read_start().await;
        }
        self.read_listings().await?;
        for index in indexes {
            self.read_index(index).await?;
        }
        self.finish().await
    }

    /// Reads the robots.txt of the host of `url`, and the sitemaps it names.
    async fn read_robots(&mut self, url: &Url) {
        self.pause().await;
        let place = robots::url(url);
        let fetched =
            self.scraper.listing(&place, self.plan.scrape_plan_for(&place), robots::MAX_BYTES, self.deadline).await;
        let is_start = url.host_str() == self.plan.url().host_str();
        let rules = match fetched {
            Ok(file) => {
                let rules = RobotsTxt::read(file.status, &file.body, self.scraper.robots_user_agent());
                if matches!(rules, RobotsTxt::Unavailable) {
                    self.notes.add(format!(
                        "{place} answered {}: nothing of the host was fetched",
                        file.status.as_u16()
                    ));
                }
                // A whole host that has moved answers there.
                if is_start && file.status.is_success() && file.url.path() == place.path() {
                    Arc::make_mut(&mut self.site).add_host(&file.url);
                }
                rules
            }
            // What cannot be read may forbid everything (RFC 9309, section 2.3.1.4).
            Err(error) => {
                self.failed(&place, error);
                RobotsTxt::Unavailable
            }
        };
        if self.site.is_of_host(url) && self.plan.sitemap() != SitemapMode::Skip {
            for text in rules.sitemaps() {
                if let Ok(named) = place.join(text.trim())
                    && matches!(named.scheme(), "http" | "https")
                {
                    self.listings.name(named, 0);
                }
            }
        }
        self.hosts.set(url, rules);
    }

    /// Takes in the start page, where it leads and the feeds it names. Half of the time is for it.
    async fn read_start(&mut self) {
        let url = self.plan.url();
        if !self.hosts.allow(url) {
            if self.failure.is_none() {
                self.notes.add("robots.txt does not allow the start page: its links are left out".to_owned());
            }
            return;
        }
        self.pause().await;
        let deadline = Instant::now() + self.time_left() / 2;
        match self.scraper.scrape_for_map(url, self.plan.page(), deadline).await {
            Ok(outline) => self.outline(outline),
            Err(error) => self.failed(url, error),
        }
    }

    fn outline(&mut self, outline: MapPage) {
        let MapPage { url, status, title, description, links, feeds } = outline;
        if !status.is_success() {
            self.notes.add(format!("the start page answered {}", status.as_u16()));
            return;
        }
        if site::host(&url) != site::host(self.plan.url()) && self.plan.sitemap() != SitemapMode::Skip {
            self.listings.add_default_sitemap(&url);
        }
        Arc::make_mut(&mut self.site).follow_start_redirect(&url);
        // Only whether there is room is told, which the end of the map tells, too.
        if let Some(url) = self.site.normalize(url) {
            let _ = self.found.add(url, title.as_deref(), description.as_deref());
        }
        for link in links {
            if let Some(url) = self.site.normalize(link.url) {
                let _ = self.found.add(url, Some(&link.text), None);
            }
        }
        let feeds = feeds.into_iter().filter(|feed| self.site.is_of_host(feed));
        for feed in feeds.take(MAX_FEEDS).collect::<Vec<_>>() {
            self.listings.name(feed, 0);
        }
    }

    /// Reads the files that list pages, and those they name.
    async fn read_listings(&mut self) -> Result<(), EngineError> {
        let at_once = if self.plan.delay().is_zero() { AT_ONCE } else { 1 };
        let mut running = FuturesOrdered::new();
        let mut has_guessed = self.plan.sitemap() == SitemapMode::Skip;
        let mut pages = 0;
        loop {
            self.is_late |= self.time_left().is_zero();
            if self.is_late || self.found.is_full() {
                break;
            }
            while running.len() < at_once
                && !self.found.is_full()
                && let Some(next) = self.listings.start()
            {
                if self.may_fetch(&next).await {
                    running.push_back(self.fetch(next));
                }
            }
            if running.is_empty() {
                if has_guessed || pages > 0 {
                    break;
                }
                has_guessed = true;
                self.listings.guess_others(self.plan.url(), self.site.path());
                continue;
            }
            let Ok(Some((listing, answer))) =
                tokio::time::timeout_at(self.deadline.into(), running.next()).await
            else {
                self.is_late = true;
                break;
            };
            pages += self.listed(listing, answer).await?;
        }
        let waiting = self.listings.waiting() + self.listings.beyond + running.len();
        if self.is_late {
            self.notes.left_out("the time was over", waiting);
        } else if !self.found.is_full() {
            self.notes.left_out(format!("a map reads at most {MAX_FILES}"), waiting);
        }
        Ok(())
    }

    /// Returns whether a file may be fetched: by robots.txt of its host, and by threat protection.
    async fn may_fetch(&mut self, listing: &SitemapFile) -> bool {
        let url = &listing.url;
        if let Some(inspection) = &self.inspection {
            // The host of the start page was scanned with it.
            let checked = if site::host(url) == site::host(self.plan.url()) {
                inspection.check_lists(url)
            } else {
                inspection.check(url).await
            };
            if checked.is_err() {
                self.notes.left_out("threat protection blocks them", 1);
                return false;
            }
        }
        if !self.hosts.knows(url) {
            if !self.hosts.has_room() {
                self.notes.left_out(format!("a map asks at most {MAX_HOSTS} hosts"), 1);
                return false;
            }
            self.read_robots(url).await;
        }
        let is_allowed = self.hosts.allow(url);
        if !is_allowed && listing.is_named {
            self.notes.left_out("robots.txt does not allow it", 1);
        }
        is_allowed
    }

    fn fetch(&self, listing: SitemapFile) -> Fetching<'a> {
        let (scraper, plan, deadline) = (self.scraper.clone(), self.plan, self.deadline);
        Box::pin(async move {
            pause(plan.delay(), deadline).await;
            let answer = scraper
                .listing(&listing.url, plan.scrape_plan_for(&listing.url), websvc_sitemap::MAX_BYTES, deadline)
                .await;
            (listing, answer)
        })
    }

    /// Takes in what a file lists. Returns how many entries that were.
    async fn listed(
        &mut self,
        listing: SitemapFile,
        answer: Result<FileResponse, ScrapeError>,
    ) -> Result<usize, EngineError> {
        let (url, is_named) = (listing.url.clone(), listing.is_named);
        let file = match answer {
            Ok(file) if file.status.is_success() => file,
            Ok(file) => {
                if is_named {
                    self.notes.of_file(format!("{url} answered {}", file.status.as_u16()));
                }
                return Ok(0);
            }
            Err(error) => {
                if is_named {
                    self.notes.of_file(format!("{url} could not be had: {error}"));
                }
                return Ok(0);
            }
        };
        let depth = listing.depth_below();
        let (found, site, deadline) =
            (std::mem::take(&mut self.found), Arc::clone(&self.site), self.deadline);
        let read = move || listing::read(found, &site, &listing, &file.url, &file.body, deadline);
        let SitemapContents { found, reading, sitemaps, elsewhere, too_deep, is_late } =
            blocking(read).await?;
        self.found = found;
        self.is_late |= is_late;
        if let Some(fault) = reading.incomplete.filter(|_| is_named || reading.items > 0) {
            self.notes.of_file(format!("{url} {fault}"));
        }
        self.notes.left_out("they are on other hosts", elsewhere);
        self.notes.left_out("they are too many or too deep in indexes", too_deep);
        for sitemap in sitemaps {
            self.listings.name(sitemap, depth);
        }
        Ok(reading.items)
    }

    /// Takes in what the index knows of the site.
    async fn read_index(&mut self, index: Arc<Index>) -> Result<(), EngineError> {
        // Not as many as are wanted: the site may not take them, and a search ranks before it cuts.
        let room = if self.found.is_full() { 0 } else { MAP_LIMIT_MAX as usize };
        let (mut found, site) = (std::mem::take(&mut self.found), Arc::clone(&self.site));
        let host = self.plan.url().host_str().unwrap_or_default().to_owned();
        let host = host.strip_prefix("www.").map_or(host.clone(), str::to_owned);
        let (found, failed) = blocking(move || {
            let failed = add_known(&index, &host, room, &site, &mut found).err();
            (found, failed)
        })
        .await?;
        self.found = found;
        if let Some(error) = failed {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the index could not be read for a map"
            );
            self.notes.add("what the index knows of the site could not be read".to_owned());
        }
        Ok(())
    }

    /// Ends the map: what is blocked is taken out, the rest ranked and cut.
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
            self.notes.add("the time was over before everything was read".to_owned());
        }
        if let Some(error) = self.failure.take() {
            self.notes.add(format!("the start page could not be had: {error}"));
        }
        let (found, inspection) = (std::mem::take(&mut self.found), self.inspection.take());
        let (search, limit) = (self.plan.search().map(str::to_owned), self.plan.limit());
        let (links, blocked) = blocking(move || {
            let mut links = found.into_links();
            let before = links.len();
            if let Some(inspection) = inspection {
                links.retain(|link| is_shown(&inspection, link));
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
            self.notes.add(format!("threat protection removed {blocked} {urls}"));
        }
        let hint = self.hint(links.len());
        let mut warnings = self.notes.into_warnings();
        warnings.extend(hint);
        Ok(SiteUrls { links, warnings })
    }

    /// Returns what to do when next to nothing was found and the request was not for the whole site.
    fn hint(&self, found: usize) -> Option<String> {
        let url = self.plan.url();
        let is_base = url.path() == "/" && url.query().is_none();
        if found > 1 || self.plan.limit() == 1 || is_base {
            return None;
        }
        let results = if found == 1 { "1 URL was" } else { "no URLs were" };
        let base = &url[..Position::BeforePath];
        Some(format!("{results} found: to find more, map the base of the site, {base}, instead of {url}"))
    }

    /// Notes that something could not be had. The first failure is the reason when nothing else is found.
    fn failed(&mut self, url: &Url, error: ScrapeError) {
        if error.code() == ErrorCode::ScrapeTimeout && self.time_left().is_zero() {
            self.is_late = true;
        } else if self.failure.is_none() && url.host_str() == self.plan.url().host_str() {
            self.failure = Some(error);
        } else {
            self.notes.of_file(format!("{url} could not be had: {error}"));
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
        let timeout_ms = u64::try_from(self.plan.timeout().as_millis()).unwrap_or(u64::MAX);
        EngineError::MapTimeout { timeout_ms }
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    async fn pause(&self) {
        pause(self.plan.delay(), self.deadline).await;
    }
}

/// Waits as long as the request wants before the site is asked.
async fn pause(delay: Duration, deadline: Instant) {
    if !delay.is_zero() {
        tokio::time::sleep_until((Instant::now() + delay).min(deadline).into()).await;
    }
}

/// Adds what the index knows of a host and its subdomains.
fn add_known(
    index: &Index,
    host: &str,
    room: usize,
    site: &MapScope,
    found: &mut UrlCollector,
) -> Result<(), websvc_index::IndexError> {
    for (place, known) in index.urls(Some(host), room)?.into_iter().enumerate() {
        let Some(url) = Url::parse(&known).ok().and_then(|url| site.normalize(url)) else { continue };
        let document = if place < INDEX_TITLES { index.document(&known)? } else { None };
        let (title, description) =
            document.map_or((None, None), |document| (Some(document.title), document.description));
        if found.add(url, title.as_deref(), description.as_deref()).is_break() {
            break;
        }
    }
    Ok(())
}

fn is_shown(inspection: &UrlChecker, link: &MapLink) -> bool {
    Url::parse(&link.url).is_ok_and(|url| inspection.check_lists(&url).is_ok())
}

/// Does what computes for long off the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, EngineError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(stopped) if stopped.is_panic() => std::panic::resume_unwind(stopped.into_panic()),
        Err(_stopping) => Err(EngineError::MapFailed(ScrapeError::Stopping)),
    }
}
