//! The crawl itself: tasks start as their hosts are ready, their results feed the queues.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use url::Url;
use websvc_scrape::{FileAnswer, ScrapeError, Scraper, Survey};
use websvc_types::index::IndexDocument;

use super::frontier::Frontier;
use super::host::{MAX_RETRIES, PageTask, Task};
use super::report::{CrawlReport, Event};
use super::robots::{self, Rules};
use super::scope::Scope;
use super::sink::{Sink, SinkError};
use super::sitemap;

/// How many requests run at one time in all.
const AT_ONCE: usize = 32;

/// How long one page may take.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest sitemap file that is read (the protocol's own bound).
const MAX_SITEMAP_BYTES: u64 = 50 * 1024 * 1024;

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
    /// A page that the cache holds and that is not older than this is not fetched again: how a crawl goes on
    /// that was broken off.
    pub max_age: Duration,
}

impl CrawlOptions {
    /// Returns the defaults for these seeds.
    pub fn new(seeds: Vec<Url>) -> Self {
        Self { seeds, limit: 10_000, depth: None, per_host: 2, max_age: Duration::ZERO }
    }
}

/// Crawls until nothing is left, the limit is reached or `stop` is ready. What was got until then is kept.
///
/// # Errors
/// [`SinkError`] when the pages cannot be handed over; a page that cannot be fetched is an [`Event::Failed`].
pub async fn crawl(
    scraper: &Scraper,
    options: &CrawlOptions,
    sink: &dyn Sink,
    on_event: &mut (dyn FnMut(Event) + Send),
    stop: impl Future<Output = ()> + Send,
) -> Result<CrawlReport, SinkError> {
    let started = Instant::now();
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
    crawl.hand_over().await?;
    Ok(crawl.report.finish(started.elapsed(), interrupted))
}

/// A task that ended.
struct Done {
    origin: Url,
    task: Task,
    elapsed: Duration,
    result: Outcome,
}

enum Outcome {
    File(Result<FileAnswer, ScrapeError>),
    Page(Result<Box<Survey>, ScrapeError>),
}

type Running<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

struct Crawl<'a> {
    scraper: &'a Scraper,
    options: &'a CrawlOptions,
    sink: &'a dyn Sink,
    on_event: &'a mut (dyn FnMut(Event) + Send),
    scope: Scope,
    frontier: Frontier,
    running: FuturesUnordered<Running<'a>>,
    /// Pages that were started and are not done: they count against the limit until they are.
    pages_running: usize,
    batch: Vec<IndexDocument>,
    report: CrawlReport,
}

impl<'a> Crawl<'a> {
    fn new(
        scraper: &'a Scraper,
        options: &'a CrawlOptions,
        sink: &'a dyn Sink,
        on_event: &'a mut (dyn FnMut(Event) + Send),
    ) -> Self {
        let mut crawl = Self {
            scraper,
            options,
            sink,
            on_event,
            scope: Scope::default(),
            frontier: Frontier::default(),
            running: FuturesUnordered::new(),
            pages_running: 0,
            batch: Vec::new(),
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
        while self.running.len() < AT_ONCE && !self.full() {
            let now = Instant::now();
            let Some((origin, task)) = self.frontier.start(self.options.per_host, now) else { return };
            if let Task::Page(page) = &task {
                if !self.frontier.host(&origin, now).allows(&page.url) {
                    self.frontier.host(&origin, now).finish(now, None);
                    self.skip(page.url.clone(), "robots.txt does not allow it");
                    continue;
                }
                self.pages_running += 1;
            }
            self.running.push(Box::pin(perform(self.scraper, self.options.max_age, origin, task)));
        }
    }

    /// Returns how long at most to wait for something to happen; `None` when nothing can happen any more.
    fn wait(&self) -> Option<Duration> {
        let until_done = (!self.running.is_empty()).then_some(PAGE_TIMEOUT);
        let has_room = self.running.len() < AT_ONCE && !self.full();
        let until_ready = has_room
            .then(|| self.frontier.next_at(self.options.per_host))
            .flatten()
            .map(|at| at.saturating_duration_since(Instant::now()));
        match (until_done, until_ready) {
            (Some(done), Some(ready)) => Some(done.min(ready)),
            (done, ready) => done.or(ready),
        }
    }

    async fn finish(&mut self, done: Done) -> Result<(), SinkError> {
        let Done { origin, task, elapsed, result } = done;
        let now = Instant::now();
        match (task, result) {
            (Task::Robots, Outcome::File(answer)) => {
                self.frontier.host(&origin, now).finish(now, Some(elapsed));
                self.rules(&origin, answer, now);
            }
            (Task::Sitemap(_), Outcome::File(answer)) => {
                self.frontier.host(&origin, now).finish(now, Some(elapsed));
                self.sitemap(answer, now);
            }
            (Task::Page(task), Outcome::Page(survey)) => {
                self.pages_running -= 1;
                let cached = survey.as_ref().is_ok_and(|survey| survey.from_cache);
                self.frontier.host(&origin, now).finish(now, (!cached).then_some(elapsed));
                self.page(task, survey, now);
            }
            (Task::Robots | Task::Sitemap(_), Outcome::Page(_)) | (Task::Page(_), Outcome::File(_)) => {
                unreachable!("perform answers a task in its own kind")
            }
        }
        (self.on_event)(Event::Queued { waiting: self.frontier.waiting() });
        if self.batch.len() >= BATCH { self.hand_over().await } else { Ok(()) }
    }

    fn rules(&mut self, origin: &Url, answer: Result<FileAnswer, ScrapeError>, now: Instant) {
        let rules = match answer {
            Ok(file) => Rules::read(file.status, &file.body, self.scraper.robots_name()),
            // What cannot be read may forbid everything (RFC 9309, section 2.3.1.4); its pages are left out.
            Err(unreachable) => {
                self.fail(robots::url(origin), unreachable.to_string());
                Rules::DisallowAll
            }
        };
        let mut sitemaps: Vec<Url> =
            rules.sitemaps().iter().filter_map(|text| Url::parse(text).ok()).collect();
        if sitemaps.is_empty() {
            sitemaps.extend(origin.join("/sitemap.xml"));
        }
        sitemaps.retain(|sitemap| self.scope.takes_file(sitemap) && rules.allow(sitemap));
        self.frontier.host(origin, now).rules = Some(rules);
        for sitemap in sitemaps {
            self.frontier.add_sitemap(sitemap, now);
        }
    }

    fn sitemap(&mut self, answer: Result<FileAnswer, ScrapeError>, now: Instant) {
        let Ok(file) = answer else { return };
        if !file.status.is_success() {
            return;
        }
        let found = sitemap::parse(&String::from_utf8_lossy(&file.body));
        for url in found.sitemaps.into_iter().filter(|url| self.scope.takes_file(url)) {
            self.frontier.add_sitemap(url, now);
        }
        // A sitemap is the site's own list: its pages are as near as a link of the seed.
        if self.options.depth != Some(0) {
            for url in found.pages {
                self.take(url, 1, now);
            }
        }
    }

    fn take(&mut self, url: Url, depth: u32, now: Instant) {
        if self.scope.takes(&url) {
            self.frontier.add_page(url, depth, now);
        }
    }

    fn page(&mut self, task: PageTask, survey: Result<Box<Survey>, ScrapeError>, now: Instant) {
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

    fn accept(&mut self, task: &PageTask, survey: Survey, now: Instant) {
        if survey.url != task.url {
            if task.depth == 0 {
                self.scope.add(&survey.url);
            } else if !self.scope.takes(&survey.url) {
                return self.skip(task.url.clone(), "it redirects to another site");
            }
            if !self.frontier.note(&survey.url) {
                return self.skip(task.url.clone(), "it redirects to a page that was met before");
            }
        }
        if self.options.depth.is_none_or(|depth| task.depth < depth) {
            for link in survey.links {
                self.take(link, task.depth + 1, now);
            }
        }
        match survey.index_copy {
            Some(copy) => {
                self.batch.push(*copy);
                self.report.pages += 1;
                (self.on_event)(Event::Page { url: survey.url });
            }
            None => self.skip(survey.url, "it asks not to be indexed, or has no text"),
        }
    }

    fn skip(&mut self, url: Url, reason: &'static str) {
        self.report.skipped += 1;
        (self.on_event)(Event::Skipped { url, reason });
    }

    fn fail(&mut self, url: Url, reason: String) {
        self.report.errors += 1;
        (self.on_event)(Event::Failed { url, reason });
    }

    async fn hand_over(&mut self) -> Result<(), SinkError> {
        if self.batch.is_empty() { Ok(()) } else { self.sink.accept(std::mem::take(&mut self.batch)).await }
    }
}

async fn perform(scraper: &Scraper, max_age: Duration, origin: Url, task: Task) -> Done {
    let started = Instant::now();
    let deadline = started + PAGE_TIMEOUT;
    let result = match &task {
        Task::Robots => Outcome::File(scraper.file(&robots::url(&origin), robots::MAX_BYTES, deadline).await),
        Task::Sitemap(url) => Outcome::File(scraper.file(url, MAX_SITEMAP_BYTES, deadline).await),
        Task::Page(page) => Outcome::Page(scraper.survey(&page.url, max_age, deadline).await.map(Box::new)),
    };
    Done { origin, task, elapsed: started.elapsed(), result }
}
