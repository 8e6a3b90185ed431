//! `websvc index crawl --server`: a server crawls sites into its own index, by its own configuration.

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
use crate::command::crawl::given;
use crate::command::search::remote;
use crate::command::stop_signal;
use crate::output;
use crate::progress::Progress;

/// The pauses between two looks at a job: they double from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Has the server crawl from each start in turn, until there are as many pages as were asked for.
pub(super) async fn crawl(arguments: &Crawl, starts: &[Url]) -> Result<CrawlReport> {
    let client = remote(&arguments.remote)?;
    let mut stop: BoxFuture<'static, ()> = Box::pin(stop_signal()?);
    let mut report = CrawlReport::default();
    let mut progress = Progress::start("crawling");
    let started = Instant::now();
    for start in starts {
        let left = arguments.limit.saturating_sub(report.pages);
        if left == 0 || report.interrupted {
            break;
        }
        let job = client.start_crawl(&request(arguments, start, left)).await?;
        progress.beside(|| output::note(&format!("crawl {} of {start}", job.id)));
        let job = client.job(JobKind::Crawl, job.id);
        tokio::select! {
            state = follow(&job, &mut progress, &report) => add(&mut report, &job, &state?, &mut progress).await?,
            () = &mut stop => {
                report.interrupted = true;
                let state = cancel(&client, &job).await?;
                add(&mut report, &job, &state, &mut progress).await?;
            }
        }
    }
    progress.finish();
    report.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(report)
}

/// Returns the request that crawls a host as `index crawl` does here: all of it, as it is now.
fn request(arguments: &Crawl, start: &Url, limit: usize) -> CrawlRequest {
    let Patterns { include, exclude, regex_on_full_url } = &arguments.patterns;
    CrawlRequest {
        url: start.to_string(),
        limit: Some(limit as u64),
        max_discovery_depth: arguments.depth,
        include_paths: given(include),
        exclude_paths: given(exclude),
        regex_on_full_url: regex_on_full_url.then_some(true),
        crawl_entire_domain: Some(true),
        scrape_options: Some(ScrapeOptions { max_age: Some(0), ..ScrapeOptions::default() }),
        ..CrawlRequest::default()
    }
}

/// Waits for the end of a job.
async fn follow(job: &Job, progress: &mut Progress, before: &CrawlReport) -> Result<JobStatusResponse> {
    let (mut pause, mut passed_over) = (FIRST_PAUSE, 0);
    loop {
        let state = job.status(passed_over).await?;
        let pages = before.pages as u64;
        progress.far(pages + state.completed, pages + state.total, before.errors as u64);
        if state.status != JobStatus::Scraping {
            return Ok(state);
        }
        // Its documents are not wanted here: of those that were asked for, none is behind these.
        passed_over = state.total.max(state.completed);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn cancel(client: &Client, job: &Job) -> Result<JobStatusResponse> {
    // One that has ended meanwhile cannot be cancelled, and need not be.
    if let Err(error) = job.cancel().await
        && error.code() != Some(websvc::types::ErrorCode::JobEnded)
    {
        return Err(error).with_context(|| format!("crawl {} goes on at the server", job.id()));
    }
    Ok(client.job(JobKind::Crawl, job.id()).status(u64::from(u32::MAX)).await?)
}

/// Counts what a job came to.
async fn add(
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
        let because: &mut BTreeMap<_, _> = &mut report.skipped_because;
        *because.entry("disallowed by robots.txt").or_default() += robots_blocked.len();
    }
    let done = state.completed + (errors.len() + robots_blocked.len()) as u64;
    report.waiting += usize::try_from(state.total.saturating_sub(done))?;
    if let Some(warning) = &state.warning {
        output::note(&format!("warning: {warning}"));
    }
    match (state.status, &state.error) {
        (JobStatus::Failed, error) if report.pages == 0 => {
            bail!("the crawl failed: {}", error.as_deref().unwrap_or("the server does not say why"))
        }
        (JobStatus::Failed, error) => {
            report.errors += usize::from(errors.is_empty());
            output::note(&format!("failed: {}", error.as_deref().unwrap_or("the server does not say why")));
            Ok(())
        }
        _ => Ok(()),
    }
}
