//! The crawl itself: tasks start as their hosts are ready, their results feed the queues.

mod image_sizes;

use std::collections::{HashMap, hash_map};
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use url::Url;
use websvc_address::strip_tracking_params;
use websvc_scrape::{CrawlPage, FileResponse, ImageProbe, ScrapeError, Scraper};
use websvc_sitemap::Item;
use websvc_transport::{BoxFuture, TlsPolicy};
use websvc_types::index::IndexDocument;
use websvc_validate::PathFilter;

use super::frontier::Frontier;
use super::host::{PageTask, Task};
use super::images::ImageProbeQueue;
use super::pace::MAX_RETRIES;
use super::report::{CrawlEvent, CrawlReport};
use super::robots::{self, RobotsTxt};
use super::scope::SeedScope;
use super::sink::{Sink, SinkError};
use super::sitemap_hints::PageHints;
use super::trap::TrapBudgets;

/// How many requests run at one time in all.
const AT_ONCE: usize = 32;

/// How long one page may take.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// Most feeds of one page that are read; a page with more lists those of its parts.
const MAX_FEEDS: usize = 3;

/// Pages further than this from a seed name the same feeds again, or those of their comments.
const MAX_FEED_DEPTH: u32 = 1;

/// Most pages, and images on them, of which is remembered what feeds and sitemaps say.
const MAX_FED: usize = 200_000;

/// The pages that are handed to the sink at one time.
const BATCH: usize = 16;

/// What to crawl, and how.
#[derive(Debug, Clone)]
pub struct CrawlOptions {
    /// Where to begin; their hosts are the sites of the crawl.
    pub seeds: Vec<Url>,
    /// At most this many pages go to the index.
    pub limit: usize,
    /// At most this many links from a seed; `None` for no bound.
    pub depth: Option<u32>,
    /// At most this many requests against one host at one time.
    pub per_host: usize,
    /// A page that the cache holds and that was not older than this when the crawl began is not fetched again: how a
    /// crawl goes on that was broken off.
    pub max_age: Duration,
    /// Of the pages those that it takes are fetched. Seeds are fetched in any case, for their links.
    pub paths: PathFilter,
    /// At most so many images, whose pages do not say how large they are, are asked for their first bytes; 0 for none.
    pub image_sizes: usize,
}

impl CrawlOptions {
    /// Returns the defaults for these seeds.
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

/// Crawls until nothing is left, the limit is reached or `stop` is ready. What was got until then is kept.
///
/// # Errors
/// [`SinkError`] when the pages cannot be handed over; a page that cannot be fetched is a [`CrawlEvent::Failed`].
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
        let Some(wait) = crawl.wait() else { break false };
        tokio::select! {
            Some(done) = crawl.running.next(), if !crawl.running.is_empty() => crawl.finish(done).await?,
            () = tokio::time::sleep(wait) => {}
            () = &mut stop => break true,
        }
    };
    let unfinished = crawl.images.give_up();
    crawl.queue_again(unfinished);
    crawl.hand_over().await?;
    crawl.report.waiting = crawl.frontier.pages_waiting();
    Ok(crawl.report.finish(crawl.started.elapsed(), interrupted))
}

/// A task that ended.
struct Done {
    origin: Url,
    task: Task,
    work: TaskPurpose,
    elapsed: Duration,
    result: Outcome,
}

/// For the sake of what a task is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskPurpose {
    Pages,
    Images,
}

enum Outcome {
    File(Result<FileResponse, ScrapeError>),
    Page(Result<Box<CrawlPage>, ScrapeError>),
    Image(Result<ImageProbe, ScrapeError>),
}

type Running<'a> = BoxFuture<'a, Done>;

struct Crawl<'a> {
    scraper: &'a Scraper,
    options: &'a CrawlOptions,
    sink: &'a dyn Sink,
    on_event: &'a mut (dyn FnMut(CrawlEvent) + Send),
    scope: SeedScope,
    frontier: Frontier,
    budgets: TrapBudgets,
    /// What feeds and sitemaps say of pages, by URL.
    fed: HashMap<Url, PageHints>,
    /// How many pages and images they are.
    fed_weight: usize,
    running: FuturesUnordered<Running<'a>>,
    /// Pages that were started and are not done: they count against the limit until they are.
    pages_running: usize,
    images: ImageProbeQueue,
    images_running: usize,
    /// When images are given up, because there have been no pages for a while.
    images_until: Option<Instant>,
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
            fed: HashMap::new(),
            fed_weight: 0,
            running: FuturesUnordered::new(),
            pages_running: 0,
            images: ImageProbeQueue::new(options.image_sizes),
            images_running: 0,
            images_until: None,
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

    fn full(&self) -> bool {
        self.report.pages + self.pages_running >= self.options.limit
    }

    /// Starts whatever may start now.
    fn start_ready(&mut self) {
        self.end_images_in_time(Instant::now());
        while let Some(room) = self.room() {
            let now = Instant::now();
            let Some((origin, task)) = self.frontier.start(self.options.per_host, room, now) else { return };
            let host = self.frontier.host(&origin, now);
            match &task {
                Task::Page(page) if !host.allows(&page.url) => {
                    let reason = host.rules.as_ref().map_or(robots::FORBIDDEN, RobotsTxt::reason_to_skip);
                    host.finish(now, None);
                    self.skip(page.url.clone(), reason);
                    continue;
                }
                Task::Image(url) if !host.allows(url) => {
                    host.finish(now, None);
                    self.give_up_image(url);
                    continue;
                }
                Task::Page(_) => self.pages_running += 1,
                Task::Robots | Task::Listing(_) | Task::Image(_) => {}
            }
            let work = self.work_of(&origin, &task);
            self.images_running += usize::from(work == TaskPurpose::Images);
            self.running.push(Box::pin(perform(self.scraper, self.max_age(), origin, task, work)));
        }
    }

    /// Returns how old a cached page may be now. A page does not become too old by the time that this crawl takes.
    fn max_age(&self) -> Duration {
        match self.options.max_age {
            Duration::ZERO => Duration::ZERO,
            at_the_start => at_the_start + self.started.elapsed(),
        }
    }

    /// Returns how long at most to wait for something to happen; `None` when nothing can happen any more.
    fn wait(&self) -> Option<Duration> {
        let until_done = (!self.running.is_empty()).then_some(PAGE_TIMEOUT);
        let until_ready = self
            .room()
            .and_then(|room| self.frontier.next_at(self.options.per_host, room))
            .map(|at| at.saturating_duration_since(Instant::now()));
        match (until_done, until_ready) {
            (Some(done), Some(ready)) => Some(done.min(ready)),
            (done, ready) => done.or(ready),
        }
    }

    async fn finish(&mut self, done: Done) -> Result<(), SinkError> {
        let Done { origin, task, work, elapsed, result } = done;
        let now = Instant::now();
        self.images_running -= usize::from(work == TaskPurpose::Images);
        match (task, result) {
            (Task::Robots, Outcome::File(answer)) => {
                self.frontier.host(&origin, now).finish(now, Some(elapsed));
                self.rules(&origin, answer, now);
            }
            (Task::Listing(url), Outcome::File(answer)) => {
                self.frontier.host(&origin, now).finish_listing(now, elapsed);
                self.listing(&url, answer, now);
            }
            (Task::Page(task), Outcome::Page(survey)) => {
                self.pages_running -= 1;
                let cached = survey.as_ref().is_ok_and(|survey| survey.from_cache);
                self.frontier.host(&origin, now).finish(now, (!cached).then_some(elapsed));
                self.page(task, survey, now);
            }
            (Task::Image(url), Outcome::Image(answer)) => {
                self.record_image_size(&origin, &url, answer, elapsed, now);
            }
            (Task::Robots | Task::Listing(_), Outcome::Page(_) | Outcome::Image(_))
            | (Task::Page(_), Outcome::File(_) | Outcome::Image(_))
            | (Task::Image(_), Outcome::File(_) | Outcome::Page(_)) => {
                unreachable!("perform answers a task in its own kind")
            }
        }
        (self.on_event)(CrawlEvent::Queued { waiting: self.frontier.waiting() });
        if self.batch.len() >= BATCH { self.hand_over().await } else { Ok(()) }
    }

    fn rules(&mut self, origin: &Url, answer: Result<FileResponse, ScrapeError>, now: Instant) {
        let rules = match answer {
            Ok(file) => RobotsTxt::read(file.status, &file.body, self.scraper.robots_user_agent()),
            // The pages of the host fail by the same cause, and say it.
            Err(error) if error.is_for_every_request() => RobotsTxt::HostFailed,
            // What cannot be read may forbid everything (RFC 9309, section 2.3.1.4); its pages are left out.
            Err(unreachable) => {
                if self.scope.takes_file(origin) {
                    self.fail(robots::url(origin), unreachable.to_string());
                }
                RobotsTxt::Unavailable
            }
        };
        let mut sitemaps: Vec<Url> =
            rules.sitemaps().iter().filter_map(|text| Url::parse(text).ok()).collect();
        if sitemaps.is_empty() {
            sitemaps.extend(origin.join("/sitemap.xml"));
        }
        sitemaps.retain(|sitemap| self.scope.takes_file(sitemap) && rules.is_allowed(sitemap));
        self.frontier.host(origin, now).rules = Some(rules);
        for sitemap in sitemaps {
            self.frontier.add_listing(sitemap, now);
        }
    }

    /// Takes in the pages that a sitemap or a feed names. It is the site's own list, so that its pages are as near as a
    /// link of the seed, and none of them is suspected of being a trap.
    fn listing(&mut self, url: &Url, answer: Result<FileResponse, ScrapeError>, now: Instant) {
        let Ok(file) = answer else { return };
        if !file.status.is_success() || self.options.depth == Some(0) {
            return;
        }
        websvc_sitemap::read(&file.body, url, &mut |item| {
            match item {
                Item::Sitemap(url) if self.scope.takes_file(&url) => self.frontier.add_listing(url, now),
                Item::Sitemap(_elsewhere) => {}
                Item::Page(entry) => {
                    let url = strip_tracking_params(entry.url.clone());
                    self.take(url.clone(), 1, now);
                    if let Some(told) = PageHints::of(*entry) {
                        self.add_hints(url, told);
                    }
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Remembers what a list says of a page.
    fn add_hints(&mut self, url: Url, told: PageHints) {
        if !self.scope.takes_file(&url) || self.fed_weight + told.weight() > MAX_FED {
            return;
        }
        self.fed_weight += told.weight();
        match self.fed.entry(url) {
            hash_map::Entry::Vacant(place) => drop(place.insert(told)),
            hash_map::Entry::Occupied(known) => known.into_mut().merge(told),
        }
    }

    fn take(&mut self, url: Url, depth: u32, now: Instant) {
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
            let taken = feeds
                .into_iter()
                .filter(|feed| self.scope.takes_file(feed) && self.frontier.host(feed, now).allows(feed));
            for feed in taken.take(MAX_FEEDS).collect::<Vec<_>>() {
                self.frontier.add_listing(feed, now);
            }
        }
        for link in links {
            let link = strip_tracking_params(link);
            if self.frontier.knows(&link) || !self.scope.contains(&link) {
                continue;
            }
            if self.budgets.try_take(&link) {
                self.frontier.add_page(link, task.depth + 1, now);
            } else {
                self.frontier.note(&link);
                self.skip(link, "its like were met too often: it may be one of endlessly many");
            }
        }
    }

    fn page(&mut self, task: PageTask, survey: Result<Box<CrawlPage>, ScrapeError>, now: Instant) {
        let survey = match survey {
            Ok(survey) => *survey,
            Err(ScrapeError::Extract(_)) => return self.skip(task.url, "not a page of text"),
            Err(error) => return self.fail(task.url, error.to_string()),
        };
        if survey.is_overload() {
            self.frontier.host(&task.url, now).back_off(now, survey.retry_after);
            if task.retries < MAX_RETRIES {
                return self.frontier.retry(PageTask { retries: task.retries + 1, ..task }, now);
            }
        }
        if !survey.status.is_success() {
            return self.fail(task.url, format!("the host answered {}", survey.status));
        }
        self.accept(&task, survey, now);
    }

    fn accept(&mut self, task: &PageTask, survey: CrawlPage, now: Instant) {
        let reached = strip_tracking_params(survey.url.clone());
        if survey.url != task.url && reached != task.url {
            if task.depth == 0 {
                self.scope.add(&survey.url);
            } else if !self.scope.contains(&reached) {
                return self.skip(task.url.clone(), "it redirects out of the crawl");
            }
            if !self.frontier.note(&reached) {
                return self.skip(task.url.clone(), "it redirects to a page that was met before");
            }
        }
        self.follow(task, survey.links, survey.feeds, now);
        if !self.scope.chooses(&reached) {
            return self.skip(survey.url, "the patterns do not choose it");
        }
        match survey.index_copy {
            Some(mut copy) => {
                if let Some(entry) = self.fed.get(&task.url).or_else(|| self.fed.get(&reached)) {
                    entry.apply_to(&mut copy);
                }
                self.measure(&mut copy, now);
                self.batch.push(*copy);
                self.report.pages += 1;
                self.report.unchanged += usize::from(survey.not_modified);
                (self.on_event)(CrawlEvent::Page { url: survey.url });
            }
            None => self.skip(survey.url, "it asks not to be indexed, or has no text"),
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

    async fn hand_over(&mut self) -> Result<(), SinkError> {
        if self.batch.is_empty() { Ok(()) } else { self.sink.accept(std::mem::take(&mut self.batch)).await }
    }
}

async fn perform(scraper: &Scraper, max_age: Duration, origin: Url, task: Task, work: TaskPurpose) -> Done {
    let started = Instant::now();
    let deadline = started
        + match work {
            TaskPurpose::Pages => PAGE_TIMEOUT,
            TaskPurpose::Images => image_sizes::TIMEOUT,
        };
    let result = match &task {
        Task::Robots => {
            let file = scraper
                .file_prefix(&robots::url(&origin), robots::MAX_BYTES, TlsPolicy::Verify, deadline)
                .await;
            Outcome::File(file)
        }
        Task::Listing(url) => {
            Outcome::File(scraper.file(url, websvc_sitemap::MAX_BYTES, TlsPolicy::Verify, deadline).await)
        }
        Task::Image(url) => Outcome::Image(scraper.image_size(url, deadline).await),
        Task::Page(page) => {
            Outcome::Page(scraper.scrape_for_crawl(&page.url, max_age, deadline).await.map(Box::new))
        }
    };
    Done { origin, task, work, elapsed: started.elapsed(), result }
}
