//! A job at a server.

use std::time::Duration;

use anyhow::{Context, Result};
use websvc::types::ErrorCode;
use websvc::types::job::{BatchScrapeRequest, JobErrorsResponse, StartJobResponse};
use websvc::{Client, Job, JobKind, JobStream, RetryPolicy};

use super::outcome::DetachReason;
use super::{JobRequestKind, Part, State};
use crate::args::Remote;
use crate::output;

/// A server that is started anew is waited for so long: 0.25, 0.5, 1 and so on, at most 10 seconds between two attempts.
const ATTEMPTS: u32 = 9;

#[derive(Debug)]
pub(super) struct RemoteJob {
    job: Job,
    watch: JobStream,
    /// True if this process started the job and has to cancel it.
    begun: StartedJob,
    pub(super) invalid_urls: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartedJob {
    Here,
    Before,
}

impl RemoteJob {
    pub(super) async fn begin(at: &Remote, asked: JobRequestKind) -> Result<Self> {
        let server = at.server.clone().context("no server was named")?;
        let retry =
            RetryPolicy { attempts: ATTEMPTS, max: Duration::from_secs(10), ..RetryPolicy::default() };
        let builder = Client::builder(server).retry(retry);
        let client = match at.key() {
            Some(key) => builder.key(key).build()?,
            None => builder.build()?,
        };
        let kind = asked.kind();
        let (id, begun, invalid_urls) = match asked {
            JobRequestKind::Known(_, id) => (id, StartedJob::Before, Vec::new()),
            JobRequestKind::Crawl(request) => {
                let started = client.start_crawl(&request).await?;
                (started.id, StartedJob::Here, Vec::new())
            }
            JobRequestKind::Batch(requests) => {
                let StartJobResponse { id, invalid_urls, .. } = begin_batch(&client, requests).await?;
                (id, StartedJob::Here, invalid_urls.unwrap_or_default())
            }
        };
        let job = client.job(kind, id);
        Ok(Self { watch: job.watch(), job, begun, invalid_urls })
    }

    pub(super) fn id(&self) -> &str {
        self.job.id()
    }

    pub(super) async fn next_part(&mut self) -> Result<Option<Part>> {
        let Some(documents) = self.watch.next_documents().await? else { return Ok(None) };
        let state = self.watch.state().context("the service said nothing of the job")?;
        Ok(Some(Part { state: State::of(state), documents }))
    }

    pub(super) async fn errors(&self) -> Result<JobErrorsResponse> {
        Ok(self.job.errors().await?)
    }

    /// Cancels what this process began; what others began goes on.
    pub(super) async fn stop(&self) -> Result<DetachReason> {
        if self.begun == StartedJob::Before {
            return Ok(DetachReason::GoesOn);
        }
        match self.job.cancel().await {
            Ok(_cancelled) => Ok(DetachReason::Cancelled),
            Err(error) if error.code() == Some(ErrorCode::JobEnded) => Ok(DetachReason::EndedMeanwhile),
            Err(error) => Err(error.into()),
        }
    }
}

/// Begins a batch with the first part of its pages, and adds the others.
async fn begin_batch(client: &Client, requests: Vec<BatchScrapeRequest>) -> Result<StartJobResponse> {
    let mut requests = requests.into_iter();
    let first = requests.next().context("no page was named")?;
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
                    format!("not all pages could be given to batch {}, which is cancelled", started.id)
                });
            }
        }
    }
    Ok(started)
}
