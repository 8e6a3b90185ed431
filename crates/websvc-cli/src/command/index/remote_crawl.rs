//! `websvc index crawl --server`: lets a server crawl sites into its own index, with its own configuration.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use url::Url;
use websvc::types::ScrapeOptions;
use websvc::types::job::{CrawlRequest, JobErrorsResponse, JobStatus, JobStatusResponse};
use websvc::{Client, Job, JobKind};
use websvc_engine::crawl::CrawlReport;
use websvc_transport::BoxFuture;

use crate::args::{Crawl, Patterns};
use crate::command::crawl::non_empty;
use crate::command::search::client;
use crate::command::stop_signal;
use crate::output;
use crate::progress::Progress;

/// Minimum interval between two requests for the status of a job. It doubles up to the maximum.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum interval between two requests for the status of a job.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Lets the server crawl from one start URL after the other, until the requested number of pages is reached.
pub(super) async fn crawl(arguments: &Crawl, starts: &[Url]) -> Result<CrawlReport> {
    let client = client(&arguments.remote)?;
    let mut stop: BoxFuture<'static, ()> = Box::pin(stop_signal()?);
    let mut report = CrawlReport::default();
    let mut progress = Progress::start("crawling");
    let started = Instant::now();
    for start in starts {
        let remaining = arguments.limit.saturating_sub(report.pages);
        if remaining == 0 || report.interrupted {
            break;
        }
        let job = client.start_crawl(&request(arguments, start, remaining)).await?;
        progress.suspend(|| output::note(&format!("crawl {} of {start}", job.id)));
        let job = client.job(JobKind::Crawl, job.id);
        tokio::select! {
            state = wait_for_end(&job, &mut progress, &report) => add_to_report(&mut report, &job, &state?, &mut progress).await?,
            () = &mut stop => {
                report.interrupted = true;
                let state = cancel(&client, &job).await?;
                add_to_report(&mut report, &job, &state, &mut progress).await?;
            }
        }
    }
    progress.finish();
    report.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(report)
}

/// Returns a request that crawls a host as the local `index crawl` does: the whole host, without cached pages.
fn request(arguments: &Crawl, start: &Url, limit: usize) -> CrawlRequest {
    let Patterns { include, exclude, regex_on_full_url } = &arguments.patterns;
    CrawlRequest {
        url: start.to_string(),
        limit: Some(limit as u64),
        max_discovery_depth: arguments.depth,
        include_paths: non_empty(include),
        exclude_paths: non_empty(exclude),
        regex_on_full_url: regex_on_full_url.then_some(true),
        crawl_entire_domain: Some(true),
        scrape_options: Some(ScrapeOptions { max_age: Some(0), ..ScrapeOptions::default() }),
        ..CrawlRequest::default()
    }
}

/// Waits for the end of a job.
async fn wait_for_end(job: &Job, progress: &mut Progress, before: &CrawlReport) -> Result<JobStatusResponse> {
    let (mut poll_interval, mut skip) = (MIN_POLL_INTERVAL, 0);
    loop {
        let state = job.status(skip).await?;
        let pages = before.pages as u64;
        progress.set(pages + state.completed, pages + state.total, before.errors as u64);
        if state.status != JobStatus::Scraping {
            return Ok(state);
        }
        // Skip all documents that may exist by then, because only the status is needed.
        skip = state.total.max(state.completed);
        tokio::time::sleep(poll_interval).await;
        poll_interval = (poll_interval * 2).min(MAX_POLL_INTERVAL);
    }
}

async fn cancel(client: &Client, job: &Job) -> Result<JobStatusResponse> {
    // A job that has ended meanwhile cannot and need not be cancelled.
    if let Err(error) = job.cancel().await
        && error.code() != Some(websvc::types::ErrorCode::JobEnded)
    {
        return Err(error).with_context(|| format!("crawl {} continues on the server", job.id()));
    }
    Ok(client.job(JobKind::Crawl, job.id()).status(u64::from(u32::MAX)).await?)
}

/// Adds the outcome of a job to the report.
async fn add_to_report(
    report: &mut CrawlReport,
    job: &Job,
    state: &JobStatusResponse,
    progress: &mut Progress,
) -> Result<()> {
    let JobErrorsResponse { errors, robots_blocked, .. } = job.errors().await?;
    for error in &errors {
        progress.failed(&error.url, &error.error);
    }
    report.pages += usize::try_from(state.completed)?;
    report.errors += errors.len();
    report.skipped += robots_blocked.len();
    if !robots_blocked.is_empty() {
        let reasons: &mut BTreeMap<_, _> = &mut report.skipped_because;
        *reasons.entry("disallowed by robots.txt").or_default() += robots_blocked.len();
    }
    let done = state.completed + (errors.len() + robots_blocked.len()) as u64;
    report.waiting += usize::try_from(state.total.saturating_sub(done))?;
    if let Some(warning) = &state.warning {
        output::note(&format!("warning: {warning}"));
    }
    match (state.status, &state.error) {
        (JobStatus::Failed, error) if report.pages == 0 => {
            bail!("the crawl failed: {}", error.as_deref().unwrap_or("the server gave no reason"))
        }
        (JobStatus::Failed, error) => {
            report.errors += usize::from(errors.is_empty());
            output::note(&format!("failed: {}", error.as_deref().unwrap_or("the server gave no reason")));
            Ok(())
        }
        _ => Ok(()),
    }
}
