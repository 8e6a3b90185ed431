//! The work on one page of a job.

use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;
use websvc_engine::crawl::{Rules, listed_pages};
use websvc_engine::{Bill, EngineError, PageOutcome, page_content};
use websvc_scrape::{Leads, Page, ScrapeError, tls_policy};
use websvc_store::{
    Held, Hold, JobKind, JobLease, JobState, JobUrl, PageEnd, PageFinish, PageFinished, Usage, UsageRetention,
};
use websvc_types::ErrorCode;
use websvc_types::job::{JobDocument, SitemapMode};

use crate::active::{Work, team};
use crate::crawling::Crawling;
use crate::hosts::{GIVEN_UP, Standing};
use crate::jobs::{Jobs, JobsError};

/// A page that was lent so often is given up: it may be what ended the process. Those that only waited for their turn when
/// it ended were lent, too, so that this is more than a few restarts.
const MAX_ATTEMPTS: u32 = 10;

/// How often a page is tried again whose host said that it is overloaded.
const MAX_RETRIES: u32 = websvc_engine::crawl::MAX_RETRIES as u32;

/// The time for a robots.txt.
const ROBOTS_TIME: Duration = Duration::from_secs(30);

/// The time for the sitemaps of a site.
const SITEMAPS_TIME: Duration = Duration::from_secs(60);

/// What the runner learns of a page.
#[derive(Debug)]
pub(crate) struct Done {
    /// How long the host took; `None` when it was not asked.
    pub(crate) elapsed: Option<Duration>,
    /// The pauses that the host asks for.
    pub(crate) asked: Duration,
    pub(crate) said: Said,
    pub(crate) end: DoneEnd,
}

/// What a host said of itself by the way it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// It was not asked.
    Nothing,
    /// It lives.
    Well,
    /// It is overloaded, and wants to be left alone for so long.
    Overload(Option<Duration>),
    /// It did not answer.
    Silence(Silence),
}

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// There was no connection, or it broke: it may come back, and then every page of it.
    Gone,
    /// It could not say what it allows.
    NoRules,
    /// Its time ran out, which may be for this page alone.
    Late,
}

/// How the work on a page ended.
#[derive(Debug)]
pub(crate) enum DoneEnd {
    /// It is noted; the job stands so.
    Noted(JobState),
    /// It was not this process's any more, or waits again.
    Left,
    /// The job cannot go on, for this reason.
    Halt(String),
}

/// What getting a page came to.
struct Got {
    end: PageEnd,
    bill: Bill,
    status: u16,
    elapsed: Option<Duration>,
    said: Said,
    leads: Option<Box<Leads>>,
    /// The URL after redirects.
    reached: Option<Url>,
}

/// Gets a page of a host that is `known` so, and notes what came of it.
pub(crate) async fn work(jobs: Jobs, work: Arc<Work>, lease: JobLease, known: Standing) -> Done {
    let job = lease.job();
    let mut done = Done { elapsed: None, asked: Duration::ZERO, said: Said::Nothing, end: DoneEnd::Left };
    let attempted = match known {
        Standing::GivenUp => {
            let end = failed(ErrorCode::ScrapeSiteError, GIVEN_UP);
            finish(&jobs, work.record.kind, alone(lease, end)).await
        }
        Standing::New | Standing::Answers => attempt(&jobs, &work, lease, known, &mut done).await,
    };
    done.end = match attempted {
        Ok(end) => end,
        Err(error) => {
            // The lease is as it was: it is given anew, to whoever can.
            tracing::error!(
                error = &error as &dyn std::error::Error,
                job,
                "a page of a job could not be noted"
            );
            DoneEnd::Left
        }
    };
    done
}

/// Notes that the work on a page panicked.
pub(crate) async fn panicked(jobs: &Jobs, kind: JobKind, lease: JobLease) -> Result<Done, JobsError> {
    let end = failed(ErrorCode::UnknownError, "the work on it failed");
    let end = finish(jobs, kind, alone(lease, end)).await?;
    Ok(Done { elapsed: None, asked: Duration::ZERO, said: Said::Nothing, end })
}

fn failed(code: ErrorCode, error: impl Into<String>) -> PageEnd {
    PageEnd::Failed { code: code.as_str().to_owned(), error: error.into() }
}

async fn attempt(
    jobs: &Jobs,
    work: &Arc<Work>,
    lease: JobLease,
    known: Standing,
    done: &mut Done,
) -> Result<DoneEnd, JobsError> {
    let started = Instant::now();
    if lease.attempt() > MAX_ATTEMPTS {
        let error = format!("it was taken up {MAX_ATTEMPTS} times and never ended");
        let end = failed(ErrorCode::UnknownError, error);
        return finish(jobs, work.record.kind, alone(lease, end)).await;
    }
    let Ok(url) = Url::parse(&lease.url.url) else {
        let end = failed(ErrorCode::BadRequest, "it is no URL");
        return finish(jobs, work.record.kind, alone(lease, end)).await;
    };
    let rules = match &work.crawling {
        Some(_) => {
            let (scraper, deadline) = (jobs.inner.engine.scraper(), started + ROBOTS_TIME);
            Some(jobs.inner.robots.rules(scraper, &url, tls_policy(&work.plan), deadline).await)
        }
        None => None,
    };
    let rules = rules.as_ref().and_then(|rules| rules.get());
    if let Some(rules) = rules {
        done.asked = rules.delay().unwrap_or_default();
        if matches!(rules, Rules::DisallowAll) && lease.attempt() <= MAX_RETRIES {
            // Perhaps it can say in a while what it allows.
            done.said = Said::Silence(Silence::NoRules);
            return give_back(jobs, lease).await;
        }
        if !rules.allow(&url) {
            return finish(jobs, work.record.kind, alone(lease, PageEnd::Blocked)).await;
        }
    }
    let hold = match hold(jobs, work).await? {
        Ok(hold) => hold,
        Err(halt) => return Ok(DoneEnd::Halt(halt)),
    };
    let mut got = get(jobs, work, &url, started).await;
    (done.elapsed, done.said) = (got.elapsed, got.said);
    if is_worth_another(got.said, known) && lease.attempt() <= MAX_RETRIES {
        return give_back(jobs, lease).await;
    }
    let usage = usage(work, &url, &got, started.elapsed());
    let charge = Some((hold, usage));
    let Some((crawling, rules)) = work.crawling.as_ref().zip(rules) else {
        let Got { end, .. } = got;
        return finish(
            jobs,
            work.record.kind,
            PageFinish { lease, end, aliases: Vec::new(), found: Vec::new(), charge },
        )
        .await;
    };
    let found = follow(jobs, crawling, rules, &lease, &url, &mut got).await;
    let aliases = crawling.aliases(&lease.url.key, got.reached.as_ref(), got.leads.as_deref());
    let keys: Vec<String> =
        found.iter().map(|found| found.key.clone()).chain(aliases.iter().cloned()).collect();
    let end =
        finish(jobs, work.record.kind, PageFinish { lease, end: got.end, aliases, found, charge }).await?;
    if matches!(end, DoneEnd::Noted(_)) {
        crawling.noted(keys.into_iter());
    }
    Ok(end)
}

/// Returns whether a page is tried again, when its host has had a pause.
fn is_worth_another(said: Said, known: Standing) -> bool {
    match said {
        Said::Overload(_) => true,
        // Of a host that never answered nothing is expected.
        Said::Silence(Silence::Gone) => known == Standing::Answers,
        Said::Silence(Silence::Late | Silence::NoRules) | Said::Nothing | Said::Well => false,
    }
}

async fn give_back(jobs: &Jobs, lease: JobLease) -> Result<DoneEnd, JobsError> {
    jobs.with_store(move |store, _| store.return_job_url(&lease)).await?;
    Ok(DoneEnd::Left)
}

/// Returns what was found on a page of a crawl; a page that led out of the crawl is dropped.
async fn follow(
    jobs: &Jobs,
    crawling: &Crawling,
    rules: &Rules,
    lease: &JobLease,
    url: &Url,
    got: &mut Got,
) -> Vec<JobUrl> {
    let (site, depth) = (&crawling.site, lease.url.depth);
    let leads_out = got.reached.as_ref().is_some_and(|reached| {
        let reached = site.fetched(reached.clone());
        reached != *url && !site.takes(&reached)
    });
    if leads_out && depth > 0 {
        got.end = PageEnd::Dropped;
        return Vec::new();
    }
    let mut found = got.leads.as_deref().map(|leads| crawling.follow(leads, depth)).unwrap_or_default();
    if depth == 0 && site.plan().sitemap() != SitemapMode::Skip && site.plan().max_depth() != Some(0) {
        let scraper = jobs.inner.engine.scraper();
        let deadline = Instant::now() + SITEMAPS_TIME;
        let tls = tls_policy(site.plan().scrape());
        let pages = listed_pages(scraper, rules, url, |file| site.is_at_home(file), tls, deadline).await;
        found.extend(crawling.listed(pages));
    }
    found
}

/// The end of a page that has nothing to it.
fn alone(lease: JobLease, end: PageEnd) -> PageFinish {
    PageFinish { lease, end, aliases: Vec::new(), found: Vec::new(), charge: None }
}

/// Holds the most that a page may cost; or says why the job cannot go on.
async fn hold(jobs: &Jobs, work: &Arc<Work>) -> Result<Result<Hold, String>, JobsError> {
    let (inner, work) = (Arc::clone(&jobs.inner), Arc::clone(work));
    let most = inner.engine.most_page_credits(&work.plan);
    jobs.with_store(move |store, _| {
        let team = match team(&inner, &work.record) {
            Ok(Some(team)) => team,
            Ok(None) => return Ok(Ok(store.hold_unlimited(&work.record.team))),
            Err(halt) => return Ok(Err(halt)),
        };
        Ok(match store.hold(&team, most)? {
            Held::Enough(hold) => Ok(hold),
            Held::Short { remaining } => Err(format!(
                "Insufficient credits: a page may cost up to {most} credits, and the team has {remaining} left"
            )),
        })
    })
    .await
}

async fn get(jobs: &Jobs, work: &Work, url: &Url, started: Instant) -> Got {
    let deadline = started + work.plan.timeout();
    let engine = &jobs.inner.engine;
    let PageOutcome { page, bill } =
        engine.scrape(url, &work.plan, &work.record.team, &work.files, deadline).await;
    match page {
        Ok(page) => got(page, bill, started.elapsed()),
        Err(error) => {
            let code = code(&error);
            let end = failed(code, error.to_string());
            Got {
                end,
                bill,
                status: code.status(),
                elapsed: Some(started.elapsed()),
                said: said(&error),
                leads: None,
                reached: None,
            }
        }
    }
}

fn got(mut page: Page, bill: Bill, took: Duration) -> Got {
    let is_cached = page.metadata.cached_at.is_some();
    let status = page.metadata.status_code;
    let said = match status {
        _ if is_cached => Said::Nothing,
        Some(429 | 503) => Said::Overload(page.retry_after),
        _ => Said::Well,
    };
    // Where it was not measured apart, all of the time counts.
    let elapsed = if page.took.is_zero() { took } else { page.took };
    let leads = page.leads.take();
    let reached = page.metadata.url.as_deref().and_then(|url| Url::parse(url).ok());
    let warnings = std::mem::take(&mut page.warnings);
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    let end = match serde_json::to_vec(&JobDocument { content: page_content(page), warning }) {
        Ok(json) => PageEnd::Document(json),
        // Our own types always serialise.
        Err(error) => failed(ErrorCode::UnknownError, error.to_string()),
    };
    Got { end, bill, status: 200, elapsed: (!is_cached).then_some(elapsed), said, leads, reached }
}

/// Returns what an error says of the host.
fn said(error: &EngineError) -> Said {
    let EngineError::Page(error) = error else { return Said::Nothing };
    match error {
        ScrapeError::Blocked { status, .. } if status.as_u16() == 429 => Said::Overload(None),
        ScrapeError::Blocked { .. } => Said::Well,
        error if error.is_unreachable() => Said::Silence(Silence::Gone),
        error if error.is_late() => Said::Silence(Silence::Late),
        _ => Said::Nothing,
    }
}

fn code(error: &EngineError) -> ErrorCode {
    match error {
        EngineError::Page(error) | EngineError::Profile(error) => error.code(),
        EngineError::NotSupported { code, .. } | EngineError::CacheMiss { code, .. } => *code,
        EngineError::Timeout { .. } => ErrorCode::ScrapeTimeout,
        _ => ErrorCode::UnknownError,
    }
}

fn usage(work: &Work, url: &Url, got: &Got, took: Duration) -> Usage {
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
        query: Some(url.to_string()),
        retention: UsageRetention::Whole,
    }
}

async fn finish(jobs: &Jobs, kind: JobKind, finish: PageFinish) -> Result<DoneEnd, JobsError> {
    let job = finish.lease.job();
    let finished = jobs
        .blocking(move |inner| {
            if let Some((hold, usage)) = &finish.charge
                && !hold.covers(usage.price())
                && let Err(error) = hold.extend(usage.price())
            {
                // What is held has to do.
                tracing::error!(error = &error as &dyn std::error::Error, "credits could not be borrowed");
            }
            inner.ends.write(&inner.store, &inner.config, finish.pack())
        })
        .await?;
    Ok(match finished {
        PageFinished::Noted { state, charged } => {
            jobs.inner.charged.add(kind, charged);
            jobs.inner.watched.tell(job);
            jobs.inner.happened.notify_one();
            DoneEnd::Noted(state)
        }
        PageFinished::LeaseLost => DoneEnd::Left,
    })
}
