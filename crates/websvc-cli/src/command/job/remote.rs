//! A job on a server.

use std::time::Duration;

use anyhow::{Context, Result};
use websvc::types::ErrorCode;
use websvc::types::job::{BatchScrapeRequest, JobErrorsResponse, StartJobResponse};
use websvc::{Client, Job, JobKind, JobStream, RetryPolicy};

use super::outcome::DetachReason;
use super::{JobRequestKind, Part};
use crate::args::Remote;
use crate::output;

/// Number of attempts to reach a restarting server. The delay between two attempts doubles from 0.25 to 10 seconds.
const ATTEMPTS: u32 = 9;

#[derive(Debug)]
pub(super) struct RemoteJob {
    job: Job,
    watch: JobStream,
    /// A job that this process has started is cancelled when the command is interrupted.
    is_started_here: bool,
    pub(super) invalid_urls: Vec<String>,
}

impl RemoteJob {
    pub(super) async fn start(remote: &Remote, request_kind: JobRequestKind) -> Result<Self> {
        let client = patient_client(remote).await?;
        let kind = request_kind.kind();
        let (id, is_started_here, invalid_urls) = match request_kind {
            JobRequestKind::Existing(_, id) => (id, false, Vec::new()),
            JobRequestKind::Crawl(request) => {
                let started = client.start_crawl(&request).await?;
                (started.id, true, Vec::new())
            }
            JobRequestKind::Batch(requests) => {
                let StartJobResponse { id, invalid_urls, .. } = start_batch(&client, requests).await?;
                (id, true, invalid_urls.unwrap_or_default())
            }
        };
        let job = client.job(kind, id);
        Ok(Self { watch: job.watch(), job, is_started_here, invalid_urls })
    }

    pub(super) fn id(&self) -> &str {
        self.job.id()
    }

    pub(super) async fn next_part(&mut self) -> Result<Option<Part>> {
        let Some(documents) = self.watch.next_documents().await? else { return Ok(None) };
        let state = self.watch.state().context("the server sent no status of the job")?.clone();
        Ok(Some(Part { state, documents }))
    }

    pub(super) async fn errors(&self) -> Result<JobErrorsResponse> {
        Ok(self.job.errors().await?)
    }

    /// Cancels the job if this process started it. Otherwise the job continues.
    pub(super) async fn stop(&self) -> Result<DetachReason> {
        if !self.is_started_here {
            return Ok(DetachReason::Continues);
        }
        match self.job.cancel().await {
            Ok(_cancelled) => Ok(DetachReason::Cancelled),
            Err(error) if error.code() == Some(ErrorCode::JobEnded) => Ok(DetachReason::Ended),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns a client of the given server that waits while the server restarts.
///
/// # Errors
/// The server cannot be reached now: only one that was there is worth a long wait.
pub(crate) async fn patient_client(remote: &Remote) -> Result<Client> {
    let server = remote.server.clone().context("no server was given")?;
    let retry = RetryPolicy { attempts: ATTEMPTS, max: Duration::from_secs(10), ..RetryPolicy::default() };
    let builder = Client::builder(server).retry(retry);
    let client = builder.key(remote.key().unwrap_or_default()).build()?;
    // Any response is one: a proxy may not forward this path.
    match client.health().await {
        Err(error) if error.is_connect() => Err(error.into()),
        Ok(_) | Err(_) => Ok(client),
    }
}

/// Starts a batch with the first request and adds the URLs of the others to it.
async fn start_batch(client: &Client, requests: Vec<BatchScrapeRequest>) -> Result<StartJobResponse> {
    let mut requests = requests.into_iter();
    let first = requests.next().context("no URLs were given")?;
    let mut started = client.start_batch(&first).await?;
    for request in requests {
        let more = BatchScrapeRequest { append_to_id: Some(started.id.clone()), ..request };
        match client.start_batch(&more).await {
            Ok(added) => {
                let invalid = started.invalid_urls.get_or_insert_default();
                invalid.extend(added.invalid_urls.unwrap_or_default());
            }
            Err(error) => {
                let job = client.job(JobKind::Batch, started.id.clone());
                if let Err(error) = job.cancel().await {
                    output::note(&format!("batch {} could not be cancelled: {error}", started.id));
                }
                return Err(error).with_context(|| {
                    format!("cannot add all URLs to batch {}, which was cancelled", started.id)
                });
            }
        }
    }
    Ok(started)
}
