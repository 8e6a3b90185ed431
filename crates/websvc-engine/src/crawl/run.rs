//! The main loop of a crawl: starts tasks as soon as their hosts are ready, and queues what their results contain.

mod image_sizes;

use std::collections::{HashMap, hash_map};
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use url::Url;
use websvc_scrape::{CrawlPage, FileResponse, ImageProbe, ScrapeError, Scraper};
use websvc_site::sitemap::{self, Item};
use websvc_site::{MAX_RETRIES, RobotsStatus, TrapBudgets, robots_url, strip_tracking_params};
use websvc_transport::{BoxFuture, TlsPolicy};
use websvc_types::index::IndexDocument;
use websvc_validate::PathFilter;

use super::frontier::Frontier;
use super::host::{PageTask, Task};
use super::images::ImageProbeQueue;
use super::report::{CrawlEvent, CrawlReport};
use super::robots::{fetch_robots_file, read_robots_txt};
use super::scope::SeedScope;
use super::sink::{Sink, SinkError};
use super::sitemap_hints::PageHints;

/// The maximum number of requests that run at a time, all hosts together.
const MAX_CONCURRENCY: usize = 32;

/// The timeout of one page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum number of feeds that are read per page. A page with more lists the feeds of its sections.
const MAX_FEEDS: usize = 3;

/// The maximum depth of pages whose feeds are read. Deeper pages repeat the same feeds, or have feeds of their
/// comments.
const MAX_FEED_DEPTH: u32 = 1;

/// The maximum number of pages, and images on them, whose hints from feeds and sitemaps are stored.
const MAX_HINTS: usize = 200_000;

/// The number of pages that are passed to the sink together.
const BATCH: usize = 16;

/// The options of a crawl.
#[derive(Debug, Clone)]
pub struct CrawlOptions {
    /// The start URLs. Their hosts are the sites of the crawl.
    pub seeds: Vec<Url>,
    /// The maximum number of pages that are added to the index.
    pub limit: usize,
    /// The maximum number of links from a seed; `None` for no limit.
    pub depth: Option<u32>,
    /// The maximum number of concurrent requests to one host.
    pub per_host: usize,
    /// The maximum age, at the start of the crawl, of a cached page that is used instead of a fetch. An interrupted
    /// crawl is resumed this way.
    pub max_age: Duration,
    /// The pages to fetch. Seeds are fetched in any case, for their links.
    pub paths: PathFilter,
    /// The maximum number of images of unknown size whose first bytes are fetched; 0 for none.
    pub image_sizes: usize,
}

impl CrawlOptions {
    /// Returns the default options with these seeds.
    pub fn new(seeds: Vec<Url>) -> Self {
        Self {
            seeds,
            limit: 10_000,
            depth: None,
            per_host: 2,
            max_age: Duration::ZERO,
            paths: PathFilter::default(),
            image_sizes: 2_000,
        }
    }
}

/// Crawls until the queue is empty, the limit is reached or `stop` is ready. Pages fetched until then are kept.
///
/// # Errors
/// [`SinkError`] if the sink does not accept pages. A page that cannot be fetched is a [`CrawlEvent::Failed`] instead.
pub async fn crawl(
    scraper: &Scraper,
    options: &CrawlOptions,
    sink: &dyn Sink,
    on_event: &mut (dyn FnMut(CrawlEvent) + Send),
    stop: impl Future<Output = ()> + Send,
) -> Result<CrawlReport, SinkError> {
    let mut crawl = Crawl::new(scraper, options, sink, on_event);
    let mut stop = pin!(stop);
    let interrupted = loop {
        crawl.start_ready();
        let Some(max_wait) = crawl.max_wait() else { break false };
        tokio::select! {
            Some(done) = crawl.running.next(), if !crawl.running.is_empty() => crawl.finish(done).await?,
            () = tokio::time::sleep(max_wait) => {}
            () = &mut stop => break true,
        }
    };
    let incomplete = crawl.images.give_up();
    crawl.requeue(incomplete);
    crawl.flush_batch().await?;
    crawl.report.waiting = crawl.frontier.queued_pages();
    Ok(crawl.report.finish(crawl.started.elapsed(), interrupted))
}

/// A finished task.
struct Done {
    origin: Url,
    purpose: TaskPurpose,
    elapsed: Duration,
    result: TaskResult,
}

/// The kind of content that a task is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskPurpose {
    Pages,
    Images,
}

/// The result of each kind of [`Task`].
enum TaskResult {
    Robots(Result<FileResponse, ScrapeError>),
    Listing(Url, Result<FileResponse, ScrapeError>),
    Page(PageTask, Result<Box<CrawlPage>, ScrapeError>),
    Image(Url, Result<ImageProbe, ScrapeError>),
}

struct Crawl<'a> {
    scraper: &'a Scraper,
    options: &'a CrawlOptions,
    sink: &'a dyn Sink,
    on_event: &'a mut (dyn FnMut(CrawlEvent) + Send),
    scope: SeedScope,
    frontier: Frontier,
    budgets: TrapBudgets,
    /// Data of feeds and sitemaps about pages, by URL.
    hints: HashMap<Url, PageHints>,
    /// The number of pages and images in `hints`.
    hints_weight: usize,
    running: FuturesUnordered<BoxFuture<'a, Done>>,
    /// Pages in flight. They count against the limit.
    pages_running: usize,
    images: ImageProbeQueue,
    images_running: usize,
    /// When image requests stop, because no pages are left.
    images_deadline: Option<Instant>,
    batch: Vec<IndexDocument>,
    started: Instant,
    report: CrawlReport,
}

impl<'a> Crawl<'a> {
    fn new(
        scraper: &'a Scraper,
        options: &'a CrawlOptions,
        sink: &'a dyn Sink,
        on_event: &'a mut (dyn FnMut(CrawlEvent) + Send),
    ) -> Self {
        let mut crawl = Self {
            scraper,
            options,
            sink,
            on_event,
            scope: SeedScope::new(options.paths.clone()),
            frontier: Frontier::default(),
            budgets: TrapBudgets::default(),
            hints: HashMap::new(),
            hints_weight: 0,
            running: FuturesUnordered::new(),
            pages_running: 0,
            images: ImageProbeQueue::new(options.image_sizes),
            images_running: 0,
            images_deadline: None,
            batch: Vec::new(),
            started: Instant::now(),
            report: CrawlReport::default(),
        };
        let now = Instant::now();
        for seed in &options.seeds {
            crawl.scope.add(seed);
            crawl.frontier.add_page(seed.clone(), 0, now);
        }
        crawl
    }

    fn is_full(&self) -> bool {
        self.report.pages + self.pages_running >= self.options.limit
    }

    /// Starts all tasks that may start now.
    fn start_ready(&mut self) {
        self.stop_images_after_tail(Instant::now());
        while let Some(capacity) = self.capacity() {
            let now = Instant::now();
            let Some((origin, task)) = self.frontier.start(self.options.per_host, capacity, now) else {
                return;
            };
            let host = self.frontier.host(&origin, now);
            if let Some(reason) = host.refusal(&task) {
                host.finish(now, None);
                match task {
                    Task::Page(page) => self.skip(page.url, reason),
                    Task::Image(url) => self.give_up_image(&url),
                    Task::Robots | Task::Listing(_) => {}
                }
                continue;
            }
            self.pages_running += usize::from(matches!(task, Task::Page(_)));
            let purpose = self.purpose_of(&origin, &task);
            self.images_running += usize::from(purpose == TaskPurpose::Images);
            self.running.push(Box::pin(perform(self.scraper, self.max_age(), origin, task, purpose)));
        }
    }

    /// Returns the maximum age of a cached page now. The time since the start of the crawl does not make pages too old.
    fn max_age(&self) -> Duration {
        match self.options.max_age {
            Duration::ZERO => Duration::ZERO,
            max_age_at_start => max_age_at_start + self.started.elapsed(),
        }
    }

    /// Returns the longest time to wait for the next event; `None` if no further event can happen.
    fn max_wait(&self) -> Option<Duration> {
        let done_within = (!self.running.is_empty()).then_some(PAGE_TIMEOUT);
        let ready_within = self
            .capacity()
            .and_then(|capacity| self.frontier.next_at(self.options.per_host, capacity))
            .map(|at| at.saturating_duration_since(Instant::now()));
        done_within.into_iter().chain(ready_within).min()
    }

    async fn finish(&mut self, done: Done) -> Result<(), SinkError> {
        let Done { origin, purpose, elapsed, result } = done;
        let now = Instant::now();
        self.images_running -= usize::from(purpose == TaskPurpose::Images);
        let host = self.frontier.host(&origin, now);
        match result {
            TaskResult::Robots(response) => {
                host.finish(now, Some(elapsed));
                self.record_robots_txt(&origin, response, now);
            }
            TaskResult::Listing(url, response) => {
                host.finish_listing(now, elapsed);
                self.read_listing(&url, response, now);
            }
            TaskResult::Page(task, page) => {
                self.pages_running -= 1;
                let is_cached = page.as_ref().is_ok_and(|page| page.from_cache);
                host.finish(now, (!is_cached).then_some(elapsed));
                self.handle_page(task, page, now);
            }
            TaskResult::Image(url, response) => {
                self.record_image_size(&origin, &url, response, elapsed, now);
            }
        }
        (self.on_event)(CrawlEvent::Queued { count: self.frontier.queued_count() });
        if self.batch.len() >= BATCH { self.flush_batch().await } else { Ok(()) }
    }

    fn record_robots_txt(&mut self, origin: &Url, response: Result<FileResponse, ScrapeError>, now: Instant) {
        let robots_txt = read_robots_txt(&response, self.scraper.robots_user_agent());
        // If every request to the host fails, its pages report the cause.
        if let Err(error) = response
            && robots_txt.status() != RobotsStatus::HostFailed
            && self.scope.contains_file(origin)
        {
            self.fail(robots_url(origin), error.to_string());
        }
        let mut sitemaps = robots_txt.sitemaps_or_default(origin);
        sitemaps.retain(|sitemap| self.scope.contains_file(sitemap) && robots_txt.is_allowed(sitemap));
        self.frontier.host(origin, now).robots_txt = Some(robots_txt);
        for sitemap in sitemaps {
            self.frontier.add_listing(sitemap, now);
        }
    }

    /// Queues the pages that a sitemap or a feed names. The site itself lists them, so they have depth 1 and are not
    /// checked for traps.
    fn read_listing(&mut self, url: &Url, response: Result<FileResponse, ScrapeError>, now: Instant) {
        let Ok(file) = response else { return };
        if !file.status.is_success() || self.options.depth == Some(0) {
            return;
        }
        sitemap::read(&file.body, url, &mut |item| {
            match item {
                Item::Sitemap(url) if self.scope.contains_file(&url) => self.frontier.add_listing(url, now),
                Item::Sitemap(_other_host) => {}
                Item::Page(entry) => {
                    let url = strip_tracking_params(entry.url.clone());
                    self.add_page(url.clone(), 1, now);
                    if let Some(hints) = PageHints::from_entry(*entry) {
                        self.add_hints(url, hints);
                    }
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Stores the hints of a sitemap or a feed about a page.
    fn add_hints(&mut self, url: Url, hints: PageHints) {
        if !self.scope.contains_file(&url) || self.hints_weight + hints.weight() > MAX_HINTS {
            return;
        }
        self.hints_weight += hints.weight();
        match self.hints.entry(url) {
            hash_map::Entry::Vacant(entry) => drop(entry.insert(hints)),
            hash_map::Entry::Occupied(entry) => entry.into_mut().merge(hints),
        }
    }

    fn add_page(&mut self, url: Url, depth: u32, now: Instant) {
        let url = strip_tracking_params(url);
        if self.scope.contains(&url) {
            self.frontier.add_page(url, depth, now);
        }
    }

    fn follow(&mut self, task: &PageTask, links: Vec<Url>, feeds: Vec<Url>, now: Instant) {
        if self.options.depth.is_some_and(|depth| task.depth >= depth) {
            return;
        }
        if task.depth <= MAX_FEED_DEPTH {
            let allowed = feeds
                .into_iter()
                .filter(|feed| self.scope.contains_file(feed) && self.frontier.host(feed, now).allows(feed));
            for feed in allowed.take(MAX_FEEDS).collect::<Vec<_>>() {
                self.frontier.add_listing(feed, now);
            }
        }
        for link in links {
            let link = strip_tracking_params(link);
            if self.frontier.has_seen(&link) || !self.scope.contains(&link) {
                continue;
            }
            if self.budgets.try_take(&link) {
                self.frontier.add_page(link, task.depth + 1, now);
            } else {
                self.frontier.mark_seen(&link);
                self.skip(link, "too many similar URLs: possibly an infinite URL space");
            }
        }
    }

    fn handle_page(&mut self, task: PageTask, page: Result<Box<CrawlPage>, ScrapeError>, now: Instant) {
        let page = match page {
            Ok(page) => *page,
            Err(ScrapeError::Extract(_)) => return self.skip(task.url, "not a page of text"),
            Err(error) => return self.fail(task.url, error.to_string()),
        };
        if page.is_overload() {
            self.frontier.host(&task.url, now).back_off(now, page.retry_after);
            if task.retries < MAX_RETRIES {
                return self.frontier.retry(PageTask { retries: task.retries + 1, ..task }, now);
            }
        }
        if !page.status.is_success() {
            return self.fail(task.url, format!("the host responded with {}", page.status));
        }
        self.accept(&task, page, now);
    }

    fn accept(&mut self, task: &PageTask, page: CrawlPage, now: Instant) {
        let reached_url = strip_tracking_params(page.url.clone());
        if page.url != task.url && reached_url != task.url {
            if task.depth == 0 {
                self.scope.add(&page.url);
            } else if !self.scope.contains(&reached_url) {
                return self.skip(task.url.clone(), "redirects outside the crawl");
            }
            if !self.frontier.mark_seen(&reached_url) {
                return self.skip(task.url.clone(), "redirects to a page that was already seen");
            }
        }
        self.follow(task, page.links, page.feeds, now);
        if !self.scope.matches_patterns(&reached_url) {
            return self.skip(page.url, "not matched by the path patterns");
        }
        match page.index_copy {
            Some(mut copy) => {
                if let Some(entry) = self.hints.get(&task.url).or_else(|| self.hints.get(&reached_url)) {
                    entry.apply_to(&mut copy);
                }
                self.request_image_sizes(&mut copy, now);
                self.batch.push(*copy);
                self.report.pages += 1;
                self.report.unchanged += usize::from(page.not_modified);
                (self.on_event)(CrawlEvent::Page { url: page.url });
            }
            None => self.skip(page.url, "noindex, or no text"),
        }
    }

    fn skip(&mut self, url: Url, reason: &'static str) {
        self.report.skipped += 1;
        *self.report.skipped_because.entry(reason).or_default() += 1;
        (self.on_event)(CrawlEvent::Skipped { url, reason });
    }

    fn fail(&mut self, url: Url, reason: String) {
        self.report.errors += 1;
        (self.on_event)(CrawlEvent::Failed { url, reason });
    }

    async fn flush_batch(&mut self) -> Result<(), SinkError> {
        if self.batch.is_empty() { Ok(()) } else { self.sink.accept(std::mem::take(&mut self.batch)).await }
    }
}

async fn perform(
    scraper: &Scraper,
    max_age: Duration,
    origin: Url,
    task: Task,
    purpose: TaskPurpose,
) -> Done {
    let started = Instant::now();
    let timeout = match purpose {
        TaskPurpose::Pages => PAGE_TIMEOUT,
        TaskPurpose::Images => image_sizes::TIMEOUT,
    };
    let (deadline, tls) = (started + timeout, TlsPolicy::Verify);
    let result = match task {
        Task::Robots => TaskResult::Robots(fetch_robots_file(scraper, &origin, tls, deadline).await),
        Task::Listing(url) => {
            let file = scraper.file(&url, sitemap::MAX_BYTES, tls, deadline).await;
            TaskResult::Listing(url, file)
        }
        Task::Image(url) => {
            let probe = scraper.image_size(&url, deadline).await;
            TaskResult::Image(url, probe)
        }
        Task::Page(task) => {
            let page = scraper.scrape_for_crawl(&task.url, max_age, deadline).await;
            TaskResult::Page(task, page.map(Box::new))
        }
    };
    Done { origin, purpose, elapsed: started.elapsed(), result }
}
