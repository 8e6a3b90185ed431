//! The work on one page of a job: robots.txt, credits, scrape, completion.

pub(crate) mod attempts;
mod completion;
mod copies;
mod credits;
mod outcome;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;
use url::Url;
use websvc_engine::Bill;
use websvc_scrape::OutLinks;
use websvc_site::{RobotsStatus, RobotsTxt};
use websvc_store::{
    CompletionOutcome, CreditHold, JobKind, JobLease, JobState, JobUrl, PreparedSnapshot, UrlCompletion,
    UrlOutcome, Usage, UsageRetention,
};
use websvc_tasks::TaskError;
use websvc_transport::without_credentials;
use websvc_types::ErrorCode;
use websvc_types::job::SitemapMode;

use crate::active::{JobContext, MoreWork};
use crate::crawl_links::CrawlState;
use crate::hosts::{HostReachability, HostSignal, NoResponse, RequestOutcome, UNREACHABLE, pace_key};
use crate::jobs::Jobs;
use crate::redirect_guard::{RedirectGuard, RobotsVerdict};
use crate::sitemap_pages::sitemap_pages;

use completion::{complete, notify_watchers, write};
use credits::hold;
use outcome::scrape;

/// Maximum of retries of a page whose host was overloaded or unresponsive.
const MAX_RETRIES: u32 = websvc_site::MAX_RETRIES as u32;

/// Time limit for the fetch of a robots.txt.
const ROBOTS_TIMEOUT: Duration = Duration::from_secs(30);

/// Report of a page to the scheduler.
#[derive(Debug)]
pub(crate) struct PageReport {
    pub(crate) request: RequestOutcome,
    pub(crate) more_work: MoreWork,
    pub(crate) disposition: PageDisposition,
}

impl Default for PageReport {
    /// Returns the report of a page that was aborted: nothing is known of its host, and its lease is no longer this
    /// task's.
    fn default() -> Self {
        Self {
            request: RequestOutcome::default(),
            more_work: MoreWork::Perhaps,
            disposition: PageDisposition::LeaseReturned,
        }
    }
}

/// The state of a page after the work on it.
#[derive(Debug)]
pub(crate) enum PageDisposition {
    /// Its outcome is stored. The job has this state now.
    Recorded(JobState),
    /// Its lease was lost, or was given back for a retry.
    LeaseReturned,
    /// Its outcome could not be stored, because the store failed.
    NotRecorded,
    /// Other requests of the team hold the credits that the page may cost. The reason is for the case that they do not
    /// release them.
    InsufficientCredits(String),
    /// The job cannot continue, for this reason.
    FailJob(String),
}

/// Outcome of the scrape of a page.
struct ScrapeOutcome {
    outcome: UrlOutcome,
    bill: Bill,
    status: u16,
    /// Network time; `None` when no request was sent.
    elapsed: Option<Duration>,
    signal: HostSignal,
    out_links: Option<Box<OutLinks>>,
    /// The URL after redirects.
    final_url: Option<Url>,
    /// The version of the page for later comparisons.
    snapshot: Option<Box<PreparedSnapshot>>,
    /// False if the database failed before: the page would be missing in the index.
    may_be_stored: bool,
}

/// Scrapes a page and stores its outcome.
pub(crate) async fn run(
    jobs: Jobs,
    context: Arc<JobContext>,
    lease: JobLease,
    reachability: HostReachability,
) -> PageReport {
    let job = lease.job();
    let mut report = PageReport::default();
    let result = match reachability {
        HostReachability::Unreachable => {
            let outcome = failed(ErrorCode::ScrapeSiteError, UNREACHABLE);
            complete(&jobs, context.record.kind, UrlCompletion::new(lease, outcome)).await
        }
        HostReachability::New | HostReachability::Responsive => {
            attempt(&jobs, &context, lease, reachability, &mut report).await
        }
    };
    report.disposition = result.unwrap_or_else(|error| {
        let error = &error as &dyn std::error::Error;
        tracing::error!(error, job, "job page result could not be stored");
        PageDisposition::NotRecorded
    });
    report
}

/// Stores that the work on a page panicked.
pub(crate) async fn record_panic(jobs: &Jobs, kind: JobKind, lease: JobLease) -> PageDisposition {
    let outcome = failed(ErrorCode::UnknownError, "an internal error ended the work on the page");
    match complete(jobs, kind, UrlCompletion::new(lease, outcome)).await {
        Ok(disposition) => disposition,
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "job page panicked; its failure could not be stored");
            PageDisposition::NotRecorded
        }
    }
}

fn failed(code: ErrorCode, error: impl Into<String>) -> UrlOutcome {
    UrlOutcome::Failed { code: code.as_str().to_owned(), error: error.into() }
}

async fn attempt(
    jobs: &Jobs,
    context: &Arc<JobContext>,
    lease: JobLease,
    reachability: HostReachability,
    report: &mut PageReport,
) -> Result<PageDisposition, TaskError> {
    let kind = context.record.kind;
    let url = match target_url(&lease) {
        Ok(url) => url,
        Err(outcome) => return complete(jobs, kind, UrlCompletion::new(lease, outcome)).await,
    };
    if lease.is_copy() {
        return copies::complete_copy(jobs, kind, lease).await;
    }
    if !attempts::begin(jobs, &lease).await? {
        return Ok(PageDisposition::LeaseReturned);
    }
    let robots = match &context.crawl {
        Some(_) => Some(robots_txt(jobs, context, &url, Instant::now() + ROBOTS_TIMEOUT).await),
        None => None,
    };
    let robots = robots.as_ref().and_then(|robots| robots.get());
    report.request.requested_delay = robots.and_then(RobotsTxt::delay).unwrap_or_default();
    let is_probe = match permission(robots, &url, &lease, reachability) {
        Permission::Granted => false,
        Permission::Probe => true,
        Permission::Unknown => {
            report.request.signal = HostSignal::Unresponsive(NoResponse::RobotsUnavailable);
            return retry(jobs, lease).await;
        }
        Permission::Denied(outcome) => {
            return complete(jobs, kind, UrlCompletion::new(lease, outcome)).await;
        }
    };
    let hold = match hold(jobs, context).await? {
        Ok(hold) => hold,
        Err(disposition) => {
            attempts::pause(jobs, &lease).await?;
            return Ok(disposition);
        }
    };
    // The time limit of the page starts here: the fetch of robots.txt and the hold do not count.
    let started = Instant::now();
    let guard = RedirectGuard::new(jobs, context, started);
    let mut scraped = scrape(&guard.engine, context, &url, started, lease.url.entry.as_ref()).await;
    (report.request.elapsed, report.request.signal) = (scraped.elapsed, scraped.signal);
    if !scraped.may_be_stored {
        return Ok(PageDisposition::NotRecorded);
    }
    let may_retry = lease.retries() < MAX_RETRIES;
    // The host responds after all, so its robots.txt has to be read before the page may be used.
    let needs_robots = is_probe && matches!(scraped.outcome, UrlOutcome::Document(_));
    if (needs_robots || should_retry(scraped.signal, reachability)) && may_retry {
        return retry(jobs, lease).await;
    }
    if needs_robots {
        (scraped.outcome, scraped.out_links) = (robots_unreachable(), None);
    }
    match guard.verdict() {
        RobotsVerdict::Allowed => {}
        // The robots.txt may be available later. A page does not wait for that of another host.
        RobotsVerdict::Unknown(target) if pace_key(&target) == pace_key(&url) && may_retry => {
            report.request.signal = HostSignal::Overloaded(None);
            return retry(jobs, lease).await;
        }
        RobotsVerdict::Unknown(_) | RobotsVerdict::Disallowed => {
            return complete(jobs, kind, UrlCompletion::new(lease, UrlOutcome::Blocked)).await;
        }
    }
    let charge = Some((hold, usage(context, &url, &scraped, started.elapsed())));
    let page = ScrapedPage { lease, url, scraped, charge };
    let (disposition, more_work) = finish_page(jobs, context, robots, page).await?;
    report.more_work = more_work;
    Ok(disposition)
}

/// A page after its scrape.
struct ScrapedPage {
    lease: JobLease,
    url: Url,
    scraped: ScrapeOutcome,
    charge: Option<(CreditHold, Usage)>,
}

/// Stores a page; that of a crawl with the URLs found on it.
async fn finish_page(
    jobs: &Jobs,
    context: &JobContext,
    robots: Option<&RobotsTxt>,
    page: ScrapedPage,
) -> Result<(PageDisposition, MoreWork), TaskError> {
    let ScrapedPage { lease, url, mut scraped, charge } = page;
    let (mut start_redirect, mut sitemap_urls) = (None, Vec::new());
    let crawl = context.crawl.as_ref().zip(robots);
    if let Some((crawl, robots)) = crawl {
        start_redirect = self::start_redirect(crawl, &lease, &url, &scraped);
        if reads_sitemaps(crawl, &lease) {
            sitemap_urls = sitemap_pages(jobs.inner.engine.scraper(), robots, crawl, &url).await;
        }
        if left_crawl_scope(crawl, &lease, &url, &scraped) {
            (scraped.outcome, scraped.out_links) = (UrlOutcome::OutOfScope, None);
        }
        if is_unwanted_start(crawl, &lease, &url, &scraped) {
            // Its links belong to the crawl nevertheless.
            scraped.outcome = UrlOutcome::OutOfScope;
        }
    }
    let crawl = crawl.map(|(crawl, _)| Arc::clone(crawl));
    let job = lease.job();
    // There may be thousands of links, so they are checked on a blocking thread.
    let finishing = jobs.run_blocking(move |inner| {
        let ScrapeOutcome { outcome, out_links, final_url, snapshot, .. } = scraped;
        let (mut found, mut aliases) = (Vec::new(), Vec::new());
        if let Some(crawl) = &crawl {
            let out_links = out_links.as_deref();
            found
                .extend(out_links.into_iter().flat_map(|links| crawl.new_from_links(links, lease.url.depth)));
            found.extend(crawl.new_from_sitemap(sitemap_urls));
            aliases = crawl.aliases(&lease.url.key, final_url.as_ref(), out_links);
        }
        let keys: Vec<String> = found.iter().map(|found| &found.key).chain(&aliases).cloned().collect();
        let more_work = more_work(&outcome, &found);
        let completion = UrlCompletion { lease, outcome, aliases, start_redirect, found, snapshot, charge };
        let completed = write(inner, completion)?;
        if let (Some(crawl), CompletionOutcome::Recorded { .. }) = (crawl, &completed) {
            crawl.mark_stored(keys.into_iter());
        }
        Ok((completed, more_work))
    });
    let (completed, more_work) = finishing.await?;
    Ok((notify_watchers(jobs, context.record.kind, job, completed), more_work))
}

/// Returns the URL to fetch, or the outcome of a page that must not be attempted again.
fn target_url(lease: &JobLease) -> Result<Url, UrlOutcome> {
    if let Some(outcome) = attempts::given_up(lease) {
        return Err(outcome);
    }
    Url::parse(&lease.url.url).map_err(|_| failed(ErrorCode::BadRequest, "not a valid URL"))
}

async fn robots_txt(
    jobs: &Jobs,
    context: &JobContext,
    url: &Url,
    deadline: Instant,
) -> Arc<OnceCell<RobotsTxt>> {
    let scraper = jobs.inner.engine.scraper();
    jobs.inner.robots.get(scraper, url, &context.robots_reader(scraper), deadline).await
}

/// Decision about a page by the robots.txt of its host.
enum Permission {
    Granted,
    /// The host cannot be reached. The start page of a crawl is requested all the same, because its error explains why
    /// the crawl has no pages.
    Probe,
    /// The robots.txt is unavailable, perhaps only for a while.
    Unknown,
    Denied(UrlOutcome),
}

fn permission(
    robots: Option<&RobotsTxt>,
    url: &Url,
    lease: &JobLease,
    reachability: HostReachability,
) -> Permission {
    let Some(robots) = robots else { return Permission::Granted };
    let is_unreachable = robots.status() == RobotsStatus::Unreachable;
    if is_unreachable && lease.url.depth == 0 && reachability == HostReachability::New {
        return Permission::Probe;
    }
    if matches!(robots.status(), RobotsStatus::ServerError | RobotsStatus::Unreachable)
        && lease.retries() < MAX_RETRIES
    {
        return Permission::Unknown;
    }
    match robots.is_allowed(url) {
        true => Permission::Granted,
        false if is_unreachable => Permission::Denied(robots_unreachable()),
        false => Permission::Denied(UrlOutcome::Blocked),
    }
}

fn robots_unreachable() -> UrlOutcome {
    failed(ErrorCode::ScrapeSiteError, "the host could not be reached for its robots.txt")
}

/// Returns whether the store may have more URLs to lease after a page with this outcome and these new URLs.
fn more_work(outcome: &UrlOutcome, found: &[JobUrl]) -> MoreWork {
    let is_document = matches!(outcome, UrlOutcome::Document(_));
    if is_document && found.is_empty() { MoreWork::No } else { MoreWork::Perhaps }
}

/// Returns whether a page is tried again after a delay.
fn should_retry(signal: HostSignal, reachability: HostReachability) -> bool {
    match signal {
        HostSignal::Overloaded(_) => true,
        // A host that never responded is not expected to come back.
        HostSignal::Unresponsive(NoResponse::Unreachable) => reachability == HostReachability::Responsive,
        HostSignal::Unresponsive(NoResponse::TimedOut | NoResponse::RobotsUnavailable)
        | HostSignal::NotContacted
        | HostSignal::Healthy => false,
    }
}

async fn retry(jobs: &Jobs, lease: JobLease) -> Result<PageDisposition, TaskError> {
    jobs.with_store(move |store, _| store.retry_job_url(&lease)).await?;
    Ok(PageDisposition::LeaseReturned)
}

/// Returns the final URL of the start page of a crawl, if it was redirected and the crawl follows it to its site.
fn start_redirect(
    crawl: &CrawlState,
    lease: &JobLease,
    url: &Url,
    scraped: &ScrapeOutcome,
) -> Option<String> {
    let target = scraped.final_url.as_ref().filter(|target| lease.url.depth == 0 && *target != url)?;
    crawl.scope.follow_start_redirect(target).then(|| target.to_string())
}

/// Returns whether redirects of a page other than the start page left the scope of the crawl.
fn left_crawl_scope(crawl: &CrawlState, lease: &JobLease, url: &Url, scraped: &ScrapeOutcome) -> bool {
    let scope = &crawl.scope;
    lease.url.depth > 0
        && scraped.final_url.as_ref().is_some_and(|target| {
            let target = scope.normalize(target.clone());
            target != *url && !scope.contains(&target)
        })
}

/// Returns whether this is the start page, and the paths of the crawl leave it out.
fn is_unwanted_start(crawl: &CrawlState, lease: &JobLease, url: &Url, scraped: &ScrapeOutcome) -> bool {
    let paths = &crawl.scope.plan().paths;
    let mut urls = scraped.final_url.iter().chain([url]);
    lease.url.depth == 0
        && matches!(scraped.outcome, UrlOutcome::Document(_))
        && !urls.any(|url| paths.matches(&crawl.scope.normalize(url.clone())))
}

/// Returns whether the sitemaps of the site are read now: once, with the start page.
fn reads_sitemaps(crawl: &CrawlState, lease: &JobLease) -> bool {
    let plan = crawl.scope.plan();
    let is_requested = plan.sitemap != SitemapMode::Skip && plan.max_depth != Some(0);
    // For a limit of one, the start page suffices.
    lease.url.depth == 0 && is_requested && (plan.limit > 1 || plan.sitemap != SitemapMode::Include)
}

fn usage(context: &JobContext, url: &Url, scraped: &ScrapeOutcome, elapsed: Duration) -> Usage {
    Usage {
        key: context.record.key.clone(),
        request: context.record.id.clone(),
        result: None,
        operation: match context.record.kind {
            JobKind::Batch => "batch",
            JobKind::Crawl => "crawl",
        },
        api_version: context.record.api_version,
        status: scraped.status,
        elapsed,
        items: scraped.bill.items(),
        stages: Vec::new(),
        query: Some(without_credentials(url).into()),
        retention: UsageRetention::Whole,
    }
}
