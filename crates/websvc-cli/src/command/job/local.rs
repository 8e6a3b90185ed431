//! A job of this process, in the data directory.

use std::convert::Infallible;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::task::JoinHandle;
use uuid::Uuid;
use websvc::types::job::{BatchScrapeRequest, CrawlRequest, JobDocument, JobErrorsResponse};
use websvc::types::limits::{JOB_ERRORS_MAX, JOB_PAGE_BYTES, JOB_PAGE_DOCUMENTS};
use websvc_engine::crawl::CrawlScope;
use websvc_jobs::{JobRequest, Jobs, batch_url, job_errors, job_status};
use websvc_store::{CreateJobOutcome, DEFAULT_TEAM, JobKind, JobRecord, JobState, JobUrl, NewJob};
use websvc_validate::{Checked, Policy, read_batch, read_crawl_request};

use super::{JobRequestKind, Part, State};
use crate::CommandContext;
use crate::app::{self, App, IndexMode};
use crate::command::search::print_api_error;
use crate::output;

/// The first pause before the store is looked into again; it doubles while nothing is new.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// A job that is worked on here.
#[derive(Debug)]
pub(super) struct LocalJob {
    app: App,
    jobs: Jobs,
    number: i64,
    id: String,
    skip: u64,
    pause: Duration,
    is_over: bool,
    /// Task that runs the job.
    work: JoinHandle<Infallible>,
    pub(super) invalid_urls: Vec<String>,
}

/// URLs of a job.
struct List {
    urls: Vec<JobUrl>,
    /// How many URLs of a batch were named, those that are left out among them.
    listed: u64,
}

/// A job before it is there.
struct JobDraft {
    job: NewJob,
    /// Lists that are added before the work begins.
    more: Vec<List>,
    invalid_urls: Vec<String>,
}

impl LocalJob {
    pub(super) async fn begin(setting: &CommandContext, asked: JobRequestKind) -> Result<Self> {
        let access = IndexMode::Write(setting.data_dir.lock()?);
        let app = app::open(&setting.config, &setting.data_dir, access)?;
        let jobs = Jobs::new(
            &app.engine,
            app.store.clone(),
            app.artifacts.clone(),
            app::jobs_config(&setting.config),
        );
        let kind = match asked.kind() {
            websvc::JobKind::Crawl => JobKind::Crawl,
            websvc::JobKind::Batch => JobKind::Batch,
        };
        let (id, invalid_urls) = match asked {
            JobRequestKind::Known(_, id) => (id, Vec::new()),
            JobRequestKind::Crawl(request) => create(&jobs, crawl(&app, &request)?).await?,
            JobRequestKind::Batch(requests) => create(&jobs, batch(&app, &requests)?).await?,
        };
        let record = jobs.job(DEFAULT_TEAM, kind, &id).await?.with_context(|| {
            format!("no {} {id} is kept in {}", kind.as_str(), setting.data_dir.path().display())
        })?;
        let (working, number) = (jobs.clone(), record.number);
        let work = tokio::spawn(async move { working.run_single(number).await });
        Ok(Self { app, jobs, number, id, skip: 0, pause: Duration::ZERO, is_over: false, work, invalid_urls })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) async fn next_part(&mut self) -> Result<Option<Part>> {
        if self.is_over {
            return Ok(None);
        }
        tokio::time::sleep(self.pause).await;
        if self.work.is_finished() {
            bail!("the work on the job has stopped");
        }
        let record = self.record().await?;
        let page = self.jobs.documents(self.number, self.skip, JOB_PAGE_DOCUMENTS, JOB_PAGE_BYTES).await?;
        let read = |document: &Vec<u8>| serde_json::from_slice::<JobDocument>(document);
        let documents = page.documents.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        self.skip += documents.len() as u64;
        self.pause = match (page.next, documents.is_empty()) {
            (Some(_), _) => Duration::ZERO,
            (None, false) => FIRST_PAUSE,
            (None, true) => (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE),
        };
        // The record is the older of the two: when it has ended, nothing came after these.
        self.is_over = record.state != JobState::Running && page.next.is_none();
        Ok(Some(Part { state: State::of(&job_status(&record, Vec::new(), None)), documents }))
    }

    pub(super) async fn errors(&self) -> Result<JobErrorsResponse> {
        let found = self.jobs.errors(self.number, JOB_ERRORS_MAX).await?;
        Ok(job_errors(&self.id, found))
    }

    /// Ends the work; what was under way is begun anew by who goes on with it.
    pub(super) async fn rest(&mut self) {
        self.work.abort();
        // It has been told to end, so that its end is no news.
        let _aborted = (&mut self.work).await;
    }

    pub(super) async fn close(mut self) -> Result<()> {
        if !self.work.is_finished() {
            self.rest().await;
        }
        self.app.close().await?;
        Ok(())
    }

    async fn record(&self) -> Result<JobRecord> {
        let store = self.app.store.clone();
        let number = self.number;
        let record = tokio::task::spawn_blocking(move || store.job_by_number(number)).await??;
        record.with_context(|| format!("job {} is not kept any more", self.id))
    }
}

/// Reads a crawl by the rules of a server.
fn crawl(app: &App, request: &CrawlRequest) -> Result<JobDraft> {
    let body = serde_json::to_vec(request)?;
    let Checked { plan: (request, plan), warnings } =
        read_crawl_request(&body, &Policy::default()).map_err(print_api_error)?;
    app.engine.review(plan.scrape())?;
    let page_limit = Some(plan.limit());
    let site = CrawlScope::new(plan);
    let url = site.fetched(site.plan().url().clone());
    let start = JobUrl { key: site.key(&url), url: url.into(), depth: 0, entry: None };
    let stored = JobRequest {
        options: request.scrape_options.clone().unwrap_or_default(),
        max_concurrency: site.plan().max_concurrency(),
        warnings,
        crawl: Some(Box::new(request)),
        ..JobRequest::default()
    };
    let list = List { urls: vec![start], listed: 0 };
    let job = new_job(JobKind::Crawl, &stored, page_limit, list)?;
    Ok(JobDraft { job, more: Vec::new(), invalid_urls: Vec::new() })
}

/// Reads a batch by the rules of a server.
fn batch(app: &App, requests: &[BatchScrapeRequest]) -> Result<JobDraft> {
    let (mut parts, mut stored, mut invalid_urls) = (Vec::new(), None, Vec::new());
    for request in requests {
        let body = serde_json::to_vec(request)?;
        let Checked { plan, warnings } = read_batch(&body, &Policy::default()).map_err(print_api_error)?;
        app.engine.review(plan.scrape())?;
        let urls = plan.pages().iter().map(batch_url).collect();
        parts.push(List { urls, listed: plan.url_count() });
        invalid_urls.extend(plan.invalid_urls().into_iter().flatten().cloned());
        stored.get_or_insert_with(|| JobRequest {
            options: plan.options().clone(),
            max_concurrency: plan.max_concurrency(),
            warnings,
            ..JobRequest::default()
        });
    }
    let mut parts = parts.into_iter();
    let (stored, first) = stored.zip(parts.next()).context("no page was named")?;
    let job = new_job(JobKind::Batch, &stored, None, first)?;
    Ok(JobDraft { job, more: parts.collect(), invalid_urls })
}

fn new_job(
    kind: JobKind,
    request: &JobRequest,
    page_limit: Option<u64>,
    List { urls, listed }: List,
) -> Result<NewJob> {
    Ok(NewJob {
        id: Uuid::now_v7().to_string(),
        team: DEFAULT_TEAM.to_owned(),
        key: None,
        kind,
        request: serde_json::to_string(request)?,
        idempotency: None,
        page_limit,
        urls,
        listed,
        webhook: None,
    })
}

/// Begins a job; nobody works on it yet. Returns its identifier and what is no address of a page.
async fn create(jobs: &Jobs, beginning: JobDraft) -> Result<(String, Vec<String>)> {
    let JobDraft { job, more, invalid_urls } = beginning;
    let id = job.id.clone();
    let limits = jobs.config().limits;
    match jobs.create(job).await? {
        CreateJobOutcome::Created { .. } => {}
        CreateJobOutcome::KeyUsed => bail!("a job of this name is there"),
        CreateJobOutcome::TooManyUrls => {
            bail!("a job may have at most {} pages (jobs.max_urls)", limits.urls)
        }
        CreateJobOutcome::TooManyRunning => {
            bail!("no more than {} jobs may be unfinished (jobs.max_running_per_team)", limits.running)
        }
        CreateJobOutcome::TooManyKept => {
            bail!(
                "no more than {} jobs are kept (jobs.max_kept_per_team); they are forgotten after {} hours",
                limits.kept,
                limits.keep.as_secs() / 3_600
            )
        }
        CreateJobOutcome::NoRoom => {
            bail!("the documents of all jobs take {} bytes (jobs.max_total_bytes)", limits.total_bytes)
        }
    }
    for List { urls, listed } in more {
        let (given, added) = (urls.len() as u64, jobs.extend(DEFAULT_TEAM, &id, urls, listed).await?);
        if added.is_some_and(|added| added < given) {
            output::note("warning: pages that found no room are left out");
        }
    }
    Ok((id, invalid_urls))
}
