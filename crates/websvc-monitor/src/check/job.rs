//! Targets whose pages a job scrapes: lists of pages, and sites.

use std::collections::HashSet;
use std::sync::Arc;

use websvc_jobs::JobRequest;
use websvc_store::{
    ApiVersion, CreateJobOutcome, JobError, JobKind, JobRecord, JobState, JobUrl, ListEntry, NewJob,
};
use websvc_tasks::TaskError;
use websvc_types::job::JobDocument;
use websvc_types::monitor::MonitorTargetKind;
use websvc_validate::{PageRules, ScrapeTargetPlan, Target};

use super::{CheckRun, Stop};
use crate::options::{ComparisonMode, scraped_options};
use crate::page::PageResult;
use crate::progress::TargetProgress;

/// Number of documents that are compared at once, and their maximum size in bytes.
const DOCUMENTS: u64 = 16;
const DOCUMENTS_BYTES: u64 = 32 * 1024 * 1024;

/// Maximum number of failed pages of a job that a check reports.
const MAX_ERRORS: usize = 10_000;

/// Returns the kind of the job of a target; `None` if it has none.
pub(crate) fn kind(target: MonitorTargetKind) -> Option<JobKind> {
    match target {
        MonitorTargetKind::Scrape => Some(JobKind::Batch),
        MonitorTargetKind::Crawl => Some(JobKind::Crawl),
        MonitorTargetKind::Search => None,
    }
}

/// The state of the job of a target after a step.
pub(crate) enum JobProgress {
    /// There may be further documents.
    Open {
        /// True if documents were compared, so that there may be more at once.
        has_new: bool,
    },
    /// All documents are compared, and the job ended in this state.
    Ended(Box<JobRecord>),
}

impl CheckRun {
    /// Continues a target with single pages. Returns whether there may be more to do at once.
    pub(super) async fn advance_scrape(
        &mut self,
        index: usize,
        target: &ScrapeTargetPlan,
    ) -> Result<bool, Stop> {
        let options = scraped_options(target.options.clone());
        let request = JobRequest { options, ..JobRequest::default() };
        if !self.ensure_job(index, || (request, batch_urls(&target.pages), None)).await? {
            return Ok(false);
        }
        let mode = ComparisonMode::from_options(&target.options);
        match self.advance_job(index, mode, &target.rules).await? {
            JobProgress::Open { has_new } => Ok(has_new),
            JobProgress::Ended(job) => {
                self.record_errors(index, &job).await?;
                self.progress.targets[index].is_done = true;
                Ok(true)
            }
        }
    }

    /// Creates the job of a target, unless it exists. Returns false if the team has too many jobs at present.
    pub(super) async fn ensure_job(
        &mut self,
        index: usize,
        request: impl FnOnce() -> (JobRequest, Vec<JobUrl>, Option<u64>),
    ) -> Result<bool, Stop> {
        let kind = self.job_kind(index)?;
        if let Some(id) = &self.progress.targets[index].job
            && self.monitors.inner.jobs.job(&self.record.team, kind, id).await?.is_some()
        {
            return Ok(true);
        }
        if self.progress.targets[index].documents > 0 {
            return Err(Stop::Failed("the scrapes of the check were deleted before it ended".to_owned()));
        }
        let id = match &self.progress.targets[index].job {
            Some(id) => id.clone(),
            // The ID is stored first, so that a check that is interrupted here finds its job again.
            None => {
                let id = uuid::Uuid::now_v7().to_string();
                let target = &mut self.progress.targets[index];
                target.job = Some(id.clone());
                match kind {
                    JobKind::Batch => target.result.expected_jobs = Some(vec![id.clone()]),
                    JobKind::Crawl => target.result.crawl_id = Some(id.clone()),
                }
                self.save().await?;
                id
            }
        };
        let (request, urls, page_limit) = request();
        let list_len = if kind == JobKind::Batch { urls.len() as u64 } else { 0 };
        let job = NewJob {
            id,
            team: self.record.team.clone(),
            key: self.record.key.clone(),
            kind,
            api_version: ApiVersion::V2,
            request: serde_json::to_string(&request)
                .map_err(|error| Stop::Failed(format!("the scrapes could not be started: {error}")))?,
            idempotency_key: None,
            page_limit,
            urls,
            list_len,
            webhook: None,
        };
        match self.monitors.inner.jobs.create(job).await? {
            CreateJobOutcome::Created { .. } => Ok(true),
            CreateJobOutcome::TooManyRunning | CreateJobOutcome::TooManyStored => Ok(false),
            CreateJobOutcome::IdempotencyKeyUsed => Ok(true),
            CreateJobOutcome::TooManyUrls => {
                Err(Stop::Failed("the target has more URLs than a job may have".to_owned()))
            }
            CreateJobOutcome::StorageFull => {
                Err(Stop::Failed("the service has no space for further documents of jobs".to_owned()))
            }
        }
    }

    /// Compares the next documents of the job of a target.
    pub(super) async fn advance_job(
        &mut self,
        index: usize,
        mode: ComparisonMode,
        rules: &Arc<PageRules>,
    ) -> Result<JobProgress, Stop> {
        // Read before the documents: a job that ended before has no documents after them.
        let Some(job) = self.job_record(&self.progress.targets[index]).await? else {
            return Err(Stop::Failed("the scrapes of the check were deleted before it ended".to_owned()));
        };
        let skip = self.progress.targets[index].documents;
        let page = self.monitors.inner.jobs.documents(job.number, skip, DOCUMENTS, DOCUMENTS_BYTES).await?;
        let count = page.documents.len() as u64;
        if count > 0 {
            let results = self.compare(index, page.documents, mode, Arc::clone(rules)).await?;
            self.record(index, results).await?;
            self.progress.targets[index].documents = skip + count;
            self.save().await?;
            return Ok(JobProgress::Open { has_new: true });
        }
        match job.state {
            JobState::Running => Ok(JobProgress::Open { has_new: false }),
            JobState::Completed | JobState::Failed => Ok(JobProgress::Ended(Box::new(job))),
            JobState::Cancelled => Err(Stop::Failed("the scrapes of the check were cancelled".to_owned())),
        }
    }

    /// Compares documents with their baselines, on the blocking pool.
    async fn compare(
        &self,
        index: usize,
        documents: Vec<Vec<u8>>,
        mode: ComparisonMode,
        rules: Arc<PageRules>,
    ) -> Result<Vec<PageResult>, Stop> {
        let (monitor, target) = (self.record.monitor, self.progress.targets[index].result.target_id.clone());
        let results = self.monitors.with_store(move |store, _| {
            let mut results = Vec::new();
            for document in documents {
                let document = serde_json::from_slice::<JobDocument>(&document).ok();
                let Some((url, document)) = document.and_then(|page| Some((source_url(&page)?, page))) else {
                    tracing::error!(monitor, target, "a scraped page of a check could not be read");
                    continue;
                };
                let baseline = store.baseline(monitor, &target, &url)?;
                results.push(PageResult::of_document(url, document, baseline.as_ref(), mode, &rules));
            }
            Ok(results)
        });
        Ok(results.await?)
    }

    /// Stores the pages of an ended job that have no document.
    ///
    /// # Errors
    /// The check fails if the job could not go on to its end.
    pub(super) async fn record_errors(&mut self, index: usize, job: &JobRecord) -> Result<(), Stop> {
        let errors = self.monitors.inner.jobs.errors(job.number, MAX_ERRORS).await?;
        let failed = errors.iter().filter(|error| !error.is_blocked).count() as u64;
        let results = errors.into_iter().filter(|error| !error.is_blocked || job.kind == JobKind::Batch);
        self.record(index, results.map(failed_page).collect()).await?;
        // A job also fails when all its pages did, which the pages themselves explain.
        let is_complete = failed > 0 && failed + job.documents >= job.urls;
        match &job.error {
            Some(error) if job.state == JobState::Failed && !is_complete => Err(Stop::Failed(error.clone())),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the job of a target; `None` if it has none.
    pub(super) async fn job_record(&self, target: &TargetProgress) -> Result<Option<JobRecord>, TaskError> {
        let (Some(id), Some(kind)) = (&target.job, kind(target.result.kind)) else { return Ok(None) };
        self.monitors.inner.jobs.job(&self.record.team, kind, id).await
    }

    fn job_kind(&self, index: usize) -> Result<JobKind, Stop> {
        kind(self.progress.targets[index].result.kind)
            .ok_or_else(|| Stop::Failed("the targets of the monitor changed during the check".to_owned()))
    }
}

fn failed_page(error: JobError) -> PageResult {
    let JobError { url, error, is_blocked, .. } = error;
    let reason = if is_blocked { "robots.txt disallows the page".to_owned() } else { error };
    PageResult::failed(url, reason)
}

/// Returns the URL of a page as it was requested.
fn source_url(document: &JobDocument) -> Option<String> {
    let metadata = document.content.metadata.as_ref()?;
    metadata.source_url.clone().or_else(|| metadata.url.clone())
}

/// Returns the URLs of a batch, each once: a page is checked once, however often the list has it.
fn batch_urls(pages: &[Target]) -> Vec<JobUrl> {
    let mut seen = HashSet::new();
    let pages = pages.iter().enumerate().filter(|(_, page)| seen.insert(page.url_with_credentials()));
    let to_url = |(index, page): (usize, &Target)| {
        let url = page.url_with_credentials().to_string();
        let original_url = page.url.to_string();
        let entry = Some(ListEntry { original_url, index: index as u64 });
        JobUrl { key: url.clone(), url, depth: 0, entry }
    };
    pages.map(to_url).collect()
}
