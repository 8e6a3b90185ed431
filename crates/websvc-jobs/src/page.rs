//! The work on one page of a job.

mod copies;
mod outcome;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;
use url::Url;
use websvc_engine::Bill;
use websvc_engine::crawl::{RobotsStatus, RobotsTxt, SitemapReader};
use websvc_scrape::{OutLinks, tls_policy};
use websvc_store::{
    CompletionOutcome, CreditHold, JobKind, JobLease, JobState, JobUrl, UrlCompletion, UrlOutcome, Usage,
    UsageRetention,
};
use websvc_transport::without_credentials;
use websvc_types::ErrorCode;
use websvc_types::job::SitemapMode;

use crate::active::{JobContext, MoreWork};
use crate::crawl_links::CrawlState;
use crate::credits::hold;
use crate::hosts::{GIVEN_UP, HostReachability, pace_key};
use crate::jobs::{Inner, Jobs, JobsError};
use crate::redirect_guard::{RedirectGuard, RobotsVerdict};

use outcome::get;

/// A page that was lent so often is given up: it may be what ended the process. Those that only waited for their turn when
/// it ended were lent, too, so that this is more than a few restarts; how often it was tried again is counted apart.
const MAX_ATTEMPTS: u32 = 10;

/// How often a page is tried again whose host said that it is overloaded.
const MAX_RETRIES: u32 = websvc_engine::crawl::MAX_RETRIES as u32;

/// The time for a robots.txt.
const ROBOTS_TIME: Duration = Duration::from_secs(30);

/// So many pages are taken from sitemaps for each document that is wanted: some cannot be had.
const LISTED_PER_DOCUMENT: u64 = 4;

/// The time for the sitemaps of a site.
const SITEMAPS_TIME: Duration = Duration::from_secs(60);

/// Report of a page to the runner.
#[derive(Debug)]
pub(crate) struct PageReport {
    /// How long the host took; `None` when it was not asked.
    pub(crate) elapsed: Option<Duration>,
    /// The pauses that the host asks for.
    pub(crate) asked: Duration,
    pub(crate) said: HostSignal,
    /// Hint whether there is more work than before.
    pub(crate) more: MoreWork,
    pub(crate) end: PageDisposition,
}

/// Signal of a host, from its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostSignal {
    /// It was not asked.
    NotContacted,
    /// It lives.
    Healthy,
    /// It is overloaded, and wants to be left alone for so long.
    Overloaded(Option<Duration>),
    /// It did not answer.
    Silence(NoResponse),
}

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoResponse {
    /// There was no connection, or it broke: it may come back, and then every page of it.
    Unreachable,
    /// It could not say what it allows.
    RobotsUnavailable,
    /// Its time ran out, which may be for this page alone.
    TimedOut,
}

/// How the work on a page ended.
#[derive(Debug)]
pub(crate) enum PageDisposition {
    /// It is noted; the job stands so.
    Recorded(JobState),
    /// It was not this process's any more, or waits again.
    LeaseReturned,
    /// It could not be noted, for a fault of the store.
    NotRecorded,
    /// Other requests of the team hold the credits that it may cost; the reason is for when they keep them.
    InsufficientCredits(String),
    /// The job cannot go on, for this reason.
    FailJob(String),
}

/// Outcome of the scrape of a page.
struct ScrapeOutcome {
    end: UrlOutcome,
    bill: Bill,
    status: u16,
    elapsed: Option<Duration>,
    said: HostSignal,
    leads: Option<Box<OutLinks>>,
    /// The URL after redirects.
    reached: Option<Url>,
}

/// Gets a page of a host that is `known` so, and notes what came of it.
pub(crate) async fn run(
    jobs: Jobs,
    work: Arc<JobContext>,
    lease: JobLease,
    known: HostReachability,
) -> PageReport {
    let job = lease.job();
    let mut done = PageReport {
        elapsed: None,
        asked: Duration::ZERO,
        said: HostSignal::NotContacted,
        more: MoreWork::Perhaps,
        end: PageDisposition::LeaseReturned,
    };
    let attempted = match known {
        HostReachability::Unreachable => {
            let end = failed(ErrorCode::ScrapeSiteError, GIVEN_UP);
            finish(&jobs, work.record.kind, UrlCompletion::of(lease, end)).await
        }
        HostReachability::New | HostReachability::Answers => {
            attempt(&jobs, &work, lease, known, &mut done).await
        }
    };
    done.end = match attempted {
        Ok(end) => end,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                job,
                "a page of a job could not be noted"
            );
            PageDisposition::NotRecorded
        }
    };
    done
}

/// Notes that the work on a page panicked.
pub(crate) async fn panicked(jobs: &Jobs, kind: JobKind, lease: JobLease) -> PageDisposition {
    let end = failed(ErrorCode::UnknownError, "the work on it failed");
    match finish(jobs, kind, UrlCompletion::of(lease, end)).await {
        Ok(end) => end,
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "that a page of a job panicked could not be noted");
            PageDisposition::NotRecorded
        }
    }
}

fn failed(code: ErrorCode, error: impl Into<String>) -> UrlOutcome {
    UrlOutcome::Failed { code: code.as_str().to_owned(), error: error.into() }
}

async fn attempt(
    jobs: &Jobs,
    work: &Arc<JobContext>,
    lease: JobLease,
    known: HostReachability,
    done: &mut PageReport,
) -> Result<PageDisposition, JobsError> {
    let started = Instant::now();
    let url = match url_of(&lease) {
        Ok(url) => url,
        Err(end) => return finish(jobs, work.record.kind, UrlCompletion::of(lease, end)).await,
    };
    if lease.is_copy() {
        return copies::finish_copy(jobs, work.record.kind, lease).await;
    }
    let rules = match &work.crawling {
        Some(_) => Some(rules_of(jobs, work, &url, started + ROBOTS_TIME).await),
        None => None,
    };
    let rules = rules.as_ref().and_then(|rules| rules.get());
    done.asked = rules.and_then(RobotsTxt::delay).unwrap_or_default();
    let is_probe = match permission(rules, &url, &lease, known) {
        Permission::Granted => false,
        Permission::Probe => true,
        Permission::Unknown => {
            done.said = HostSignal::Silence(NoResponse::RobotsUnavailable);
            return retry(jobs, lease).await;
        }
        Permission::Denied(end) => {
            return finish(jobs, work.record.kind, UrlCompletion::of(lease, end)).await;
        }
    };
    let hold = match hold(jobs, work).await? {
        Ok(hold) => hold,
        Err(end) => return Ok(end),
    };
    // Its time begins when its host is asked for it, not for what it allows.
    let begun = Instant::now();
    let onward = RedirectGuard::new(jobs, work, begun);
    let mut got = get(&onward.engine, work, &url, begun, lease.url.entry.as_ref()).await;
    (done.elapsed, done.said) = (got.elapsed, got.said);
    let may_retry = lease.retries() < MAX_RETRIES;
    // It answers, so that it has to say first what it allows.
    let is_too_early = is_probe && matches!(got.end, UrlOutcome::Document(_));
    if (is_too_early || should_retry(got.said, known)) && may_retry {
        return retry(jobs, lease).await;
    }
    if is_too_early {
        (got.end, got.leads) = (unreachable_rules(), None);
    }
    match onward.verdict() {
        RobotsVerdict::Allowed => {}
        // Perhaps it can say in a while what it allows. Of another host nobody waits for that.
        RobotsVerdict::Unknown(of) if pace_key(&of) == pace_key(&url) && lease.retries() < MAX_RETRIES => {
            done.said = HostSignal::Overloaded(None);
            return retry(jobs, lease).await;
        }
        RobotsVerdict::Unknown(_) | RobotsVerdict::Disallowed => {
            return finish(jobs, work.record.kind, UrlCompletion::of(lease, UrlOutcome::Blocked)).await;
        }
    }
    let charge = Some((hold, usage(work, &url, &got, begun.elapsed())));
    let Some((crawling, rules)) = work.crawling.as_ref().zip(rules) else {
        done.more = more_work(&got.end, &[]);
        return finish(jobs, work.record.kind, UrlCompletion { charge, ..UrlCompletion::of(lease, got.end) })
            .await;
    };
    let led_to = start_redirect(crawling, &lease, &url, &got);
    let listed = sitemap_pages(jobs, crawling, rules, &lease, &url).await;
    if left_crawl_scope(crawling, &lease, &url, &got) {
        got.end = UrlOutcome::OutOfScope;
        got.leads = None;
    }
    let page = CrawledPage { lease, got, led_to, listed, charge };
    let (ended, more) = finish_crawled_page(jobs, work.record.kind, Arc::clone(crawling), page).await?;
    done.more = more;
    Ok(ended)
}

/// Returns the URL to fetch, or the end of a page that is not to be taken up again.
fn url_of(lease: &JobLease) -> Result<Url, UrlOutcome> {
    if lease.attempt() > MAX_ATTEMPTS {
        let error = format!("it was taken up {MAX_ATTEMPTS} times and never ended");
        return Err(failed(ErrorCode::UnknownError, error));
    }
    Url::parse(&lease.url.url).map_err(|_| failed(ErrorCode::BadRequest, "it is no URL"))
}

async fn rules_of(jobs: &Jobs, work: &JobContext, url: &Url, deadline: Instant) -> Arc<OnceCell<RobotsTxt>> {
    jobs.inner.robots.rules(jobs.inner.engine.scraper(), url, tls_policy(&work.plan), deadline).await
}

/// Decision about a page by the robots.txt of its host.
enum Permission {
    Granted,
    /// The host cannot be reached. The start of a crawl is asked for all the same, because its error says why the crawl
    /// has no pages.
    Probe,
    /// The host could not say what it allows, and may in a while.
    Unknown,
    Denied(UrlOutcome),
}

fn permission(rules: Option<&RobotsTxt>, url: &Url, lease: &JobLease, known: HostReachability) -> Permission {
    let Some(rules) = rules else { return Permission::Granted };
    let is_unreachable = rules.status() == RobotsStatus::Unreachable;
    if is_unreachable && lease.url.depth == 0 && known == HostReachability::New {
        return Permission::Probe;
    }
    if matches!(rules.status(), RobotsStatus::ServerError | RobotsStatus::Unreachable)
        && lease.retries() < MAX_RETRIES
    {
        return Permission::Unknown;
    }
    match rules.is_allowed(url) {
        true => Permission::Granted,
        false if is_unreachable => Permission::Denied(unreachable_rules()),
        false => Permission::Denied(UrlOutcome::Blocked),
    }
}

fn unreachable_rules() -> UrlOutcome {
    failed(ErrorCode::ScrapeSiteError, "its host could not be reached for its robots.txt")
}

/// Returns whether there may be more to do after a page that ended so and had these to add.
fn more_work(end: &UrlOutcome, found: &[JobUrl]) -> MoreWork {
    let is_document = matches!(end, UrlOutcome::Document(_));
    if is_document && found.is_empty() { MoreWork::No } else { MoreWork::Perhaps }
}

/// Returns whether a page is tried again, when its host has had a pause.
fn should_retry(said: HostSignal, known: HostReachability) -> bool {
    match said {
        HostSignal::Overloaded(_) => true,
        // Of a host that never answered nothing is expected.
        HostSignal::Silence(NoResponse::Unreachable) => known == HostReachability::Answers,
        HostSignal::Silence(NoResponse::TimedOut | NoResponse::RobotsUnavailable)
        | HostSignal::NotContacted
        | HostSignal::Healthy => false,
    }
}

async fn retry(jobs: &Jobs, lease: JobLease) -> Result<PageDisposition, JobsError> {
    jobs.with_store(move |store, _| store.retry_job_url(&lease)).await?;
    Ok(PageDisposition::LeaseReturned)
}

/// Returns where the first page of a crawl led, when the site of the crawl is there, too.
fn start_redirect(crawling: &CrawlState, lease: &JobLease, url: &Url, got: &ScrapeOutcome) -> Option<String> {
    let reached = got.reached.as_ref().filter(|reached| lease.url.depth == 0 && *reached != url)?;
    crawling.site.follow_start_redirect(reached).then(|| reached.to_string())
}

/// Returns whether a page that was linked to led out of the crawl.
fn left_crawl_scope(crawling: &CrawlState, lease: &JobLease, url: &Url, got: &ScrapeOutcome) -> bool {
    let site = &crawling.site;
    lease.url.depth > 0
        && got.reached.as_ref().is_some_and(|reached| {
            let reached = site.normalize(reached.clone());
            reached != *url && !site.contains(&reached)
        })
}

/// Returns the pages that the site lists of itself, which its start is asked for.
async fn sitemap_pages(
    jobs: &Jobs,
    crawling: &Arc<CrawlState>,
    rules: &RobotsTxt,
    lease: &JobLease,
    url: &Url,
) -> Vec<Url> {
    let plan = crawling.site.plan();
    let is_asked = plan.sitemap() != SitemapMode::Skip && plan.max_depth() != Some(0);
    // The start alone is enough for a limit of one.
    if lease.url.depth > 0 || !is_asked || (plan.limit() == 1 && plan.sitemap() == SitemapMode::Include) {
        return Vec::new();
    }
    let wants = Arc::clone(crawling);
    let listing = SitemapReader {
        scraper: jobs.inner.engine.scraper(),
        robots_txt: rules,
        tls: tls_policy(plan.scrape()),
        deadline: Instant::now() + SITEMAPS_TIME,
        max_pages: usize::try_from(plan.limit().saturating_mul(LISTED_PER_DOCUMENT)).unwrap_or(usize::MAX),
    };
    let wants = Arc::new(move |page: &Url| wants.site.contains(&wants.site.normalize(page.clone())));
    listing.pages(url, |file| crawling.site.is_start_host(file), wants).await
}

/// A page of a crawl that was got.
struct CrawledPage {
    lease: JobLease,
    got: ScrapeOutcome,
    led_to: Option<String>,
    listed: Vec<Url>,
    charge: Option<(CreditHold, Usage)>,
}

/// Notes a page of a crawl with what it leads to, which may be thousands of links: they are judged where that holds nobody
/// up.
async fn finish_crawled_page(
    jobs: &Jobs,
    kind: JobKind,
    crawling: Arc<CrawlState>,
    page: CrawledPage,
) -> Result<(PageDisposition, MoreWork), JobsError> {
    let job = page.lease.job();
    let (finished, more) = jobs
        .blocking(move |inner| {
            let CrawledPage { lease, got, led_to, listed, charge } = page;
            let ScrapeOutcome { end, leads, reached, .. } = got;
            let leads = leads.as_deref();
            let mut found =
                leads.map(|leads| crawling.new_from_links(leads, lease.url.depth)).unwrap_or_default();
            found.extend(crawling.new_from_sitemap(listed));
            let aliases = crawling.aliases(&lease.url.key, reached.as_ref(), leads);
            let keys: Vec<String> = found.iter().map(|found| &found.key).chain(&aliases).cloned().collect();
            let more = more_work(&end, &found);
            let finish = UrlCompletion { lease, end, aliases, led_to, found, charge };
            let finished = write(inner, finish)?;
            if matches!(finished, CompletionOutcome::Recorded { .. }) {
                crawling.mark_stored(keys.into_iter());
            }
            Ok((finished, more))
        })
        .await?;
    Ok((notify_watchers(jobs, kind, job, finished), more))
}

fn usage(work: &JobContext, url: &Url, got: &ScrapeOutcome, took: Duration) -> Usage {
    Usage {
        key: work.record.key.clone(),
        request: work.record.id.clone(),
        operation: match work.record.kind {
            JobKind::Batch => "batch",
            JobKind::Crawl => "crawl",
        },
        status: got.status,
        took,
        items: got.bill.items(),
        stages: Vec::new(),
        query: Some(without_credentials(url).into()),
        retention: UsageRetention::Whole,
    }
}

async fn finish(jobs: &Jobs, kind: JobKind, finish: UrlCompletion) -> Result<PageDisposition, JobsError> {
    let job = finish.lease.job();
    let finished = jobs.blocking(move |inner| write(inner, finish)).await?;
    Ok(notify_watchers(jobs, kind, job, finished))
}

/// Writes the end of a page. Blocks.
fn write(inner: &Inner, finish: UrlCompletion) -> Result<CompletionOutcome, JobsError> {
    if let Some((hold, usage)) = &finish.charge
        && !hold.covers(usage.price())
        && let Err(error) = hold.extend(usage.price())
    {
        // What is held has to do.
        tracing::error!(error = &error as &dyn std::error::Error, "credits could not be borrowed");
    }
    inner.ends.write(&inner.store, &inner.config, finish.pack())
}

/// Tells whoever waits for it that a page ended.
fn notify_watchers(jobs: &Jobs, kind: JobKind, job: i64, finished: CompletionOutcome) -> PageDisposition {
    match finished {
        CompletionOutcome::Recorded { state, charged, has_event } => {
            jobs.inner.charged.add(kind, charged);
            jobs.inner.watched.notify(job);
            if has_event {
                jobs.inner.happened.notify_one();
            }
            PageDisposition::Recorded(state)
        }
        CompletionOutcome::LeaseLost => PageDisposition::LeaseReturned,
    }
}
