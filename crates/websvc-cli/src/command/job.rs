//! Crawls and batches from the command line: starting or resuming a job, here or on a server, and output of its pages.

mod local;
mod outcome;
mod page_writer;
mod remote;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use websvc::JobKind;
use websvc::types::job::{
    BatchScrapeRequest, CrawlRequest, JobDocument, JobErrorsResponse, JobStatus, JobStatusResponse,
};

use crate::CommandContext;
use crate::args::{OutputArgs, Remote};
use crate::command::stop_signal;
use crate::output::{self, StdoutClosed};
use crate::progress::Progress;
use local::LocalJob;
use outcome::{DetachReason, JobOutcome};
use page_writer::PageWriter;
use remote::RemoteJob;
pub(super) use remote::patient_client;

/// Interval between two requests for the number of failed pages.
const ERRORS_INTERVAL: Duration = Duration::from_secs(5);

/// The requested job.
#[derive(Debug)]
pub(super) enum JobRequestKind {
    Crawl(Box<CrawlRequest>),
    /// The first request starts the batch, the others add URLs to it.
    Batch(Vec<BatchScrapeRequest>),
    /// The id of a job that exists already.
    Existing(JobKind, String),
}

impl JobRequestKind {
    fn kind(&self) -> JobKind {
        match self {
            Self::Crawl(_) => JobKind::Crawl,
            Self::Batch(_) => JobKind::Batch,
            Self::Existing(kind, _) => *kind,
        }
    }
}

/// The result of a command whose job has pages with a status of 400 or above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorPagePolicy {
    /// They are pages as others.
    Accept,
    /// The command fails.
    Fail,
}

/// The state of a job without documents, and new documents.
#[derive(Debug)]
struct Part {
    state: JobStatusResponse,
    documents: Vec<JobDocument>,
}

/// A job of this process or of a server.
#[derive(Debug)]
enum Job {
    Local(Box<LocalJob>),
    Remote(Box<RemoteJob>),
}

impl Job {
    async fn start(context: &CommandContext, remote: &Remote, request: JobRequestKind) -> Result<Self> {
        Ok(match remote.server {
            Some(_) => Self::Remote(Box::new(RemoteJob::start(remote, request).await?)),
            None => Self::Local(Box::new(Box::pin(LocalJob::start(context, request)).await?)),
        })
    }

    fn id(&self) -> &str {
        match self {
            Self::Local(job) => job.id(),
            Self::Remote(job) => job.id(),
        }
    }

    /// Returns the given texts that are not valid URLs.
    fn invalid_urls(&self) -> &[String] {
        match self {
            Self::Local(job) => &job.invalid_urls,
            Self::Remote(job) => &job.invalid_urls,
        }
    }

    /// Waits for new documents or a new state. Returns `None` when the job has ended and all documents were returned.
    async fn next_part(&mut self) -> Result<Option<Part>> {
        match self {
            Self::Local(job) => job.next_part().await,
            Self::Remote(job) => job.next_part().await,
        }
    }

    async fn errors(&self) -> Result<JobErrorsResponse> {
        match self {
            Self::Local(job) => job.errors().await,
            Self::Remote(job) => job.errors().await,
        }
    }

    /// Detaches from a running job and returns its state.
    async fn stop(&mut self) -> Result<DetachReason> {
        match self {
            Self::Local(job) => {
                job.pause().await;
                Ok(DetachReason::Resumable)
            }
            Self::Remote(job) => job.stop().await,
        }
    }

    async fn close(self) -> Result<()> {
        match self {
            Self::Local(job) => job.close().await,
            Self::Remote(_) => Ok(()),
        }
    }
}

/// Runs a job until its end or a stop signal.
pub(super) async fn run(
    context: &CommandContext,
    remote: &Remote,
    output_args: &OutputArgs,
    error_pages: ErrorPagePolicy,
    request: JobRequestKind,
) -> Result<()> {
    let kind = request.kind();
    // The outputs are opened first, so that no page is scraped if they cannot be written.
    let mut writer = PageWriter::open(output_args)?;
    let stop = stop_signal()?;
    let mut job = Job::start(context, remote, request).await?;
    let resume_command = outcome::resume_command(kind, job.id(), remote, &context.common);
    output::note(&format!("{} {}", outcome::name(kind), job.id()));
    let result = tokio::select! {
        result = write_pages(kind, &mut job, &mut writer) => Some(result),
        () = stop => None,
    };
    let outcome = match result {
        None => {
            let reason = job.stop().await.context(resume_command.clone())?;
            JobOutcome::Interrupted(reason)
        }
        Some(Ok(state)) => JobOutcome::Ended(Box::new(state)),
        // The pages have no reader any more: the same as after Ctrl-C.
        Some(Err(error)) if StdoutClosed::is_cause(&error) => {
            job.stop().await?;
            job.close().await?;
            return Err(error);
        }
        Some(Err(error)) => {
            writer.finish()?;
            return Err(error.context(resume_command));
        }
    };
    writer.finish()?;
    let errors = job.errors().await.context(resume_command.clone())?;
    let invalid = job.invalid_urls().to_vec();
    let id = job.id().to_owned();
    job.close().await?;
    let summary = outcome::JobSummary { kind, id, outcome, errors, invalid, error_pages, resume_command };
    outcome::report(&summary, &writer, output_args)
}

/// Writes the pages of a job as they arrive and returns its final state.
async fn write_pages(kind: JobKind, job: &mut Job, writer: &mut PageWriter) -> Result<JobStatusResponse> {
    let mut progress = Progress::start(outcome::name(kind));
    let (mut state, mut failed, mut errors_checked) = (None, 0, Instant::now());
    let mut warned = None;
    while let Some(Part { state: current, documents }) = job.next_part().await? {
        for document in documents {
            progress.suspend(|| writer.write_page(document))?;
        }
        if warned != current.warning {
            warned.clone_from(&current.warning);
            progress.suspend(|| output::warn(warned.as_deref().unwrap_or_default()));
        }
        if errors_checked.elapsed() >= ERRORS_INTERVAL {
            errors_checked = Instant::now();
            failed = job.errors().await?.errors.len() as u64;
        }
        progress.set(current.completed, current.total, failed);
        state = Some(current);
    }
    progress.finish();
    let state = state.context("the job has no state")?;
    ensure!(state.status != JobStatus::Scraping, "the job is still running");
    Ok(state)
}
