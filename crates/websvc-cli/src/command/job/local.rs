//! A job that this process runs, in the data directory.

use std::convert::Infallible;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::task::JoinHandle;
use uuid::Uuid;
use websvc::types::job::{BatchScrapeRequest, CrawlRequest, JobDocument, JobErrorsResponse};
use websvc::types::limits::{JOB_ERRORS_MAX, JOB_PAGE_BYTES, JOB_PAGE_DOCUMENTS};
use websvc_jobs::{JobRequest, Jobs, batch_url, crawl_start_url, job_errors, job_status};
use websvc_store::{
    ApiVersion, CreateJobOutcome, DEFAULT_TEAM, JobKind, JobRecord, JobState, JobUrl, NewJob,
};
use websvc_types::counted;
use websvc_validate::{Checked, Policy, read_request, read_with_request};

use super::{JobRequestKind, Part};
use crate::CommandContext;
use crate::app::App;
use crate::command::search::rejection_error;
use crate::output;

/// Minimum interval between two reads of the store. It doubles as long as there is nothing new.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum interval between two reads of the store.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A job that this process runs.
#[derive(Debug)]
pub(super) struct LocalJob {
    app: App,
    jobs: Jobs,
    number: i64,
    id: String,
    /// Documents that were returned already.
    skip: u64,
    poll_interval: Duration,
    has_ended: bool,
    /// The task that runs the job.
    task: JoinHandle<Infallible>,
    pub(super) invalid_urls: Vec<String>,
}

/// URLs that are added to a job together.
struct UrlList {
    urls: Vec<JobUrl>,
    /// Number of listed URLs of a batch, including duplicates and invalid ones.
    listed: u64,
}

/// A job that is not stored yet.
struct JobDraft {
    job: NewJob,
    /// URLs that are added after the job is created and before it runs.
    more: Vec<UrlList>,
    invalid_urls: Vec<String>,
}

impl LocalJob {
    pub(super) async fn start(context: &CommandContext, request_kind: JobRequestKind) -> Result<Self> {
        let app = context.open_to_write()?;
        let jobs = app.jobs(&context.config);
        jobs.join_for_single_job().await?;
        let kind = match request_kind.kind() {
            websvc::JobKind::Crawl => JobKind::Crawl,
            websvc::JobKind::Batch => JobKind::Batch,
        };
        let (id, invalid_urls) = match request_kind {
            JobRequestKind::Existing(_, id) => (id, Vec::new()),
            JobRequestKind::Crawl(request) => create(&jobs, crawl(&app, &request)?).await?,
            JobRequestKind::Batch(requests) => create(&jobs, batch(&app, &requests)?).await?,
        };
        let record = jobs.job(DEFAULT_TEAM, kind, &id).await?.with_context(|| {
            format!("there is no {} {id} in {}", kind.as_str(), context.data_dir.path().display())
        })?;
        let (runner, number) = (jobs.clone(), record.number);
        let task = tokio::spawn(async move { runner.run_single(number).await });
        Ok(Self {
            app,
            jobs,
            number,
            id,
            skip: 0,
            poll_interval: Duration::ZERO,
            has_ended: false,
            task,
            invalid_urls,
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) async fn next_part(&mut self) -> Result<Option<Part>> {
        if self.has_ended {
            return Ok(None);
        }
        tokio::time::sleep(self.poll_interval).await;
        if self.task.is_finished() {
            bail!("the job has stopped unexpectedly");
        }
        let record = self.record().await?;
        let page = self.jobs.documents(self.number, self.skip, JOB_PAGE_DOCUMENTS, JOB_PAGE_BYTES).await?;
        let read = |document: &Vec<u8>| serde_json::from_slice::<JobDocument>(document);
        let documents = page.documents.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        self.skip += documents.len() as u64;
        self.poll_interval = match (page.next, documents.is_empty()) {
            (Some(_), _) => Duration::ZERO,
            (None, false) => MIN_POLL_INTERVAL,
            (None, true) => (self.poll_interval * 2).clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL),
        };
        // The record was read first: if the job had ended by then, these are its last documents.
        self.has_ended = record.state != JobState::Running && page.next.is_none();
        Ok(Some(Part { state: job_status(&record, Vec::new(), None), documents }))
    }

    pub(super) async fn errors(&self) -> Result<JobErrorsResponse> {
        let found = self.jobs.errors(self.number, JOB_ERRORS_MAX).await?;
        Ok(job_errors(&self.id, found))
    }

    /// Stops the job. Pages in flight are scraped again when the job is resumed.
    pub(super) async fn pause(&mut self) {
        self.task.abort();
        // The task was aborted, so its result is expected.
        let _aborted = (&mut self.task).await;
        self.jobs.stop().await;
    }

    pub(super) async fn close(mut self) -> Result<()> {
        if !self.task.is_finished() {
            self.pause().await;
        }
        self.app.close().await?;
        Ok(())
    }

    async fn record(&self) -> Result<JobRecord> {
        let store = self.app.store.clone();
        let number = self.number;
        let record = websvc_transport::spawn_blocking(move || store.job_by_number(number)).await??;
        record.with_context(|| format!("job {} is not stored any more", self.id))
    }
}

/// Validates a crawl by the rules of the service.
fn crawl(app: &App, request: &CrawlRequest) -> Result<JobDraft> {
    let body = serde_json::to_vec(request)?;
    let Checked { plan: (request, plan), warnings } =
        read_with_request::<CrawlRequest>(&body, &Policy::default()).map_err(rejection_error)?;
    app.engine.check_scrape(&plan.scrape)?;
    let page_limit = Some(plan.limit);
    let stored = JobRequest { warnings, ..JobRequest::of_crawl(request, &plan) };
    let list = UrlList { urls: vec![crawl_start_url(plan)], listed: 0 };
    let job = new_job(JobKind::Crawl, &stored, page_limit, list)?;
    Ok(JobDraft { job, more: Vec::new(), invalid_urls: Vec::new() })
}

/// Validates a batch by the rules of the service.
fn batch(app: &App, requests: &[BatchScrapeRequest]) -> Result<JobDraft> {
    let (mut lists, mut stored, mut invalid_urls) = (Vec::new(), None, Vec::new());
    for request in requests {
        let body = serde_json::to_vec(request)?;
        let Checked { plan, warnings } =
            read_request::<BatchScrapeRequest>(&body, &Policy::default()).map_err(rejection_error)?;
        app.engine.check_scrape(&plan.scrape)?;
        let urls = plan.pages.iter().map(batch_url).collect();
        lists.push(UrlList { urls, listed: plan.url_count });
        invalid_urls.extend(plan.invalid_urls.as_deref().into_iter().flatten().cloned());
        stored.get_or_insert_with(|| JobRequest {
            options: plan.options.clone(),
            max_concurrency: plan.max_concurrency,
            warnings,
            ..JobRequest::default()
        });
    }
    let mut lists = lists.into_iter();
    let (stored, first) = stored.zip(lists.next()).context("no URLs were given")?;
    let job = new_job(JobKind::Batch, &stored, None, first)?;
    Ok(JobDraft { job, more: lists.collect(), invalid_urls })
}

fn new_job(
    kind: JobKind,
    request: &JobRequest,
    page_limit: Option<u64>,
    UrlList { urls, listed }: UrlList,
) -> Result<NewJob> {
    Ok(NewJob {
        id: Uuid::now_v7().to_string(),
        team: DEFAULT_TEAM.to_owned(),
        key: None,
        kind,
        api_version: ApiVersion::V2,
        request: serde_json::to_string(request)?,
        idempotency_key: None,
        page_limit,
        urls,
        list_len: listed,
        webhook: None,
    })
}

/// Creates a job that does not run yet. Returns its id and the invalid URLs.
async fn create(jobs: &Jobs, draft: JobDraft) -> Result<(String, Vec<String>)> {
    let JobDraft { job, more, invalid_urls } = draft;
    let id = job.id.clone();
    let limits = jobs.config().limits;
    match jobs.create(job).await? {
        CreateJobOutcome::Created { .. } => {}
        CreateJobOutcome::IdempotencyKeyUsed => bail!("a job with this idempotency key already exists"),
        CreateJobOutcome::TooManyUrls => {
            bail!("a job may have at most {} (jobs.max_urls)", counted(limits.max_urls, "URL", "URLs"))
        }
        CreateJobOutcome::TooManyRunning => {
            bail!(
                "{} unfinished, which is the maximum (jobs.max_running_per_team)",
                counted(limits.max_running, "job is", "jobs are")
            )
        }
        CreateJobOutcome::TooManyStored => {
            bail!(
                "{} stored, which is the maximum (jobs.max_stored_per_team); a job is removed {} after its end",
                counted(limits.max_stored, "job is", "jobs are"),
                counted(limits.retention.as_secs() / 3_600, "hour", "hours")
            )
        }
        CreateJobOutcome::StorageFull => {
            bail!(
                "the documents of all jobs have reached the maximum of {} bytes (jobs.max_total_bytes)",
                limits.max_total_bytes
            )
        }
    }
    for UrlList { urls, listed } in more {
        let (given, added) = (urls.len() as u64, jobs.extend(DEFAULT_TEAM, &id, urls, listed).await?);
        if added.is_some_and(|added| added < given) {
            output::warn("URLs were skipped: the job reached its maximum number of URLs (jobs.max_urls)");
        }
    }
    Ok((id, invalid_urls))
}
