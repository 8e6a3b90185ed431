//! Jobs from the shell: begun or gone on with, here or at a server, their pages handed over as they come.

mod local;
mod outcome;
mod page_writer;
mod remote;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use websvc::JobKind;
use websvc::types::job::{
    BatchScrapeRequest, CrawlRequest, JobDocument, JobErrorsResponse, JobStatus, JobStatusResponse,
};

use crate::CommandContext;
use crate::args::{OutputArgs, Remote};
use crate::command::stop_signal;
use crate::output;
use crate::progress::Progress;
use local::LocalJob;
use outcome::{DetachReason, JobOutcome};
use page_writer::PageWriter;
use remote::RemoteJob;

/// How often is looked how many pages could not be had.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Kind of the requested job.
#[derive(Debug)]
pub(super) enum JobRequestKind {
    Crawl(Box<CrawlRequest>),
    /// The first begins the batch, the others add to it.
    Batch(Vec<BatchScrapeRequest>),
    /// A job that began before.
    Known(JobKind, String),
}

impl JobRequestKind {
    fn kind(&self) -> JobKind {
        match self {
            Self::Crawl(_) => JobKind::Crawl,
            Self::Batch(_) => JobKind::Batch,
            Self::Known(kind, _) => *kind,
        }
    }
}

/// How a job stands.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    status: JobStatus,
    completed: u64,
    total: u64,
    credits_used: u64,
    expires_at: String,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl State {
    fn of(answer: &JobStatusResponse) -> Self {
        let JobStatusResponse {
            success: _,
            status,
            completed,
            total,
            credits_used,
            expires_at,
            next: _,
            data: _,
            created_at,
            completed_at,
            duration: _,
            warning,
            error,
        } = answer;
        Self {
            status: *status,
            completed: *completed,
            total: *total,
            credits_used: *credits_used,
            expires_at: expires_at.clone(),
            created_at: created_at.clone(),
            completed_at: completed_at.clone(),
            warning: warning.clone(),
            error: error.clone(),
        }
    }
}

/// New state and documents of a job.
#[derive(Debug)]
struct Part {
    state: State,
    documents: Vec<JobDocument>,
}

/// Place where a job runs: this process or a server.
#[derive(Debug)]
enum Source {
    Here(Box<LocalJob>),
    There(Box<RemoteJob>),
}

impl Source {
    async fn begin(setting: &CommandContext, at: &Remote, asked: JobRequestKind) -> Result<Self> {
        Ok(match at.server {
            Some(_) => Self::There(Box::new(RemoteJob::begin(at, asked).await?)),
            None => Self::Here(Box::new(Box::pin(LocalJob::begin(setting, asked)).await?)),
        })
    }

    fn id(&self) -> &str {
        match self {
            Self::Here(local) => local.id(),
            Self::There(server) => server.id(),
        }
    }

    /// Returns what was given and is no address of a page.
    fn invalid_urls(&self) -> &[String] {
        match self {
            Self::Here(local) => &local.invalid_urls,
            Self::There(server) => &server.invalid_urls,
        }
    }

    /// Waits until there may be something new; `None` when the job has ended and all was returned.
    async fn next_part(&mut self) -> Result<Option<Part>> {
        match self {
            Self::Here(local) => local.next_part().await,
            Self::There(server) => server.next_part().await,
        }
    }

    async fn errors(&self) -> Result<JobErrorsResponse> {
        match self {
            Self::Here(local) => local.errors().await,
            Self::There(server) => server.errors().await,
        }
    }

    /// Ends the work on a job that goes on, and says what becomes of it.
    async fn stop(&mut self) -> Result<DetachReason> {
        match self {
            Self::Here(local) => {
                local.rest().await;
                Ok(DetachReason::Resumable)
            }
            Self::There(server) => server.stop().await,
        }
    }

    async fn close(self) -> Result<()> {
        match self {
            Self::Here(local) => local.close().await,
            Self::There(_) => Ok(()),
        }
    }
}

/// Does a job to its end, or until it is told to stop.
pub(super) async fn run(
    setting: &CommandContext,
    at: &Remote,
    handing: &OutputArgs,
    asked: JobRequestKind,
) -> Result<()> {
    let kind = asked.kind();
    // Before anything is begun: what cannot be handed over need not be got.
    let mut hand = PageWriter::open(handing)?;
    let stop = stop_signal()?;
    let mut source = Source::begin(setting, at, asked).await?;
    let how = outcome::how_to_go_on(kind, source.id(), at, &setting.common);
    output::note(&format!("{} {}", outcome::name(kind), source.id()));
    let handed = tokio::select! {
        handed = hand_over(kind, &mut source, &mut hand) => Some(handed),
        () = stop => None,
    };
    let ending = match handed {
        None => {
            let stop = source.stop().await.context(how.clone())?;
            JobOutcome::Stopped(stop)
        }
        Some(Ok(state)) => JobOutcome::Ended(state),
        Some(Err(error)) => {
            hand.finish()?;
            return Err(error.context(how));
        }
    };
    hand.finish()?;
    let errors = source.errors().await.context(how.clone())?;
    let invalid = source.invalid_urls().to_vec();
    let id = source.id().to_owned();
    source.close().await?;
    outcome::tell(&outcome::JobSummary { kind, id, ending, errors, invalid, how }, &hand, handing)
}

/// Hands over all pages of a job as they come, and returns how it stands at the end.
async fn hand_over(kind: JobKind, source: &mut Source, hand: &mut PageWriter) -> Result<State> {
    let mut progress = Progress::start(outcome::name(kind));
    let (mut state, mut failed, mut looked) = (None, 0, Instant::now());
    let mut warned = None;
    while let Some(Part { state: now, documents }) = source.next_part().await? {
        for document in documents {
            progress.beside(|| hand.take(document))?;
        }
        if warned != now.warning {
            warned.clone_from(&now.warning);
            progress.beside(|| output::note(&format!("warning: {}", warned.as_deref().unwrap_or_default())));
        }
        if looked.elapsed() >= LOOK_EVERY {
            looked = Instant::now();
            failed = source.errors().await?.errors.len() as u64;
        }
        progress.far(now.completed, now.total, failed);
        state = Some(now);
    }
    progress.finish();
    let state = state.context("the job was never asked for")?;
    ensure!(state.status != JobStatus::Scraping, "the job goes on and nobody waits for it");
    Ok(state)
}
