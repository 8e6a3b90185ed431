//! Jobs of a running service, which are crawls and batches: start, state, documents, errors, cancellation.

use std::collections::VecDeque;
use std::time::Duration;

use websvc_types::job::{
    ActiveCrawls, BatchScrapeRequest, CancelJobResponse, CrawlRequest, JobDocument, JobErrorsResponse,
    JobStatus, JobStatusResponse, StartJobResponse,
};

use crate::call::{ApiCall, Idempotency};
use crate::client::Client;
use crate::error::ClientError;

/// Delay after a response with new documents. It doubles after every response without any.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum delay between two requests for new documents.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Kinds of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Scrapes the pages of a site: `/v2/crawl`.
    Crawl,
    /// Scrapes the pages of a list: `/v2/batch/scrape`.
    Batch,
}

impl JobKind {
    fn path(self) -> &'static str {
        match self {
            Self::Crawl => "v2/crawl",
            Self::Batch => "v2/batch/scrape",
        }
    }
}

/// Handle of a job of the service, created by [`Client::job`].
///
/// A handle is cheap to clone. Dropping it does not affect the job.
///
/// # Examples
///
/// ```no_run
/// use websvc::JobKind;
/// use websvc::types::job::BatchScrapeRequest;
///
/// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
/// let request = BatchScrapeRequest::new(["https://docs.example/a", "https://docs.example/b"]);
/// let started = client.start_batch(&request).await?;
///
/// let job = client.job(JobKind::Batch, started.id);
/// let state = job.status(0).await?;
/// println!("{} of {} pages", state.completed, state.total);
/// for failure in job.errors().await?.errors {
///     println!("{}: {}", failure.url, failure.error);
/// }
/// job.cancel().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Job {
    client: Client,
    kind: JobKind,
    id: String,
}

impl Client {
    /// Starts a crawl, which scrapes the pages of a site in the background: `POST /v2/crawl`.
    ///
    /// The request is sent as it is. It is repeated only if the service certainly did not process it, because every
    /// request starts a job.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::JobKind;
    /// use websvc::types::job::CrawlRequest;
    ///
    /// let request = CrawlRequest { limit: Some(100), ..CrawlRequest::new("https://docs.example") };
    /// let started = client.start_crawl(&request).await?;
    /// let mut pages = client.job(JobKind::Crawl, started.id).watch();
    /// while let Some(page) = pages.next().await? {
    ///     println!("{}", page.content.markdown.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_crawl(&self, request: &CrawlRequest) -> Result<StartJobResponse, ClientError> {
        let mut call = ApiCall::post(JobKind::Crawl.path(), request, self.timeout())?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Starts a batch, which scrapes a list of pages in the background, or adds pages to a running one:
    /// `POST /v2/batch/scrape`. The request is repeated as that of a crawl is.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::job::BatchScrapeRequest;
    ///
    /// let request = BatchScrapeRequest::new(["https://docs.example/a", "https://docs.example/b"]);
    /// println!("started {}", client.start_batch(&request).await?.id);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_batch(&self, request: &BatchScrapeRequest) -> Result<StartJobResponse, ClientError> {
        let mut call = ApiCall::post(JobKind::Batch.path(), request, self.timeout())?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Returns the running crawls of the team: `GET /v2/crawl/active`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn active_crawls(&self) -> Result<ActiveCrawls, ClientError> {
        self.transport.call(&ApiCall::get("v2/crawl/active", self.timeout())).await
    }

    /// Returns a handle of the job with this ID. Nothing is sent.
    pub fn job(&self, kind: JobKind, id: impl Into<String>) -> Job {
        Job { client: self.clone(), kind, id: id.into() }
    }
}

impl Job {
    /// Returns the ID of the job.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the state of the job, with its documents after the first `skip`: at most 100, and at most 10 MiB.
    ///
    /// # Errors
    /// Any [`ClientError`]. An unknown or expired job is a [`ClientError::Api`] with status 404.
    pub async fn status(&self, skip: u64) -> Result<JobStatusResponse, ClientError> {
        let call = ApiCall::get(self.path(""), self.client.timeout()).query(format!("skip={skip}"));
        self.client.transport.call(&call).await
    }

    /// Returns the pages without a document: failed pages, and those that robots.txt disallows.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn errors(&self) -> Result<JobErrorsResponse, ClientError> {
        self.client.transport.call(&ApiCall::get(self.path("/errors"), self.client.timeout())).await
    }

    /// Cancels the job. Its documents stay available.
    ///
    /// # Errors
    /// Any [`ClientError`]. A job that has ended is a [`ClientError::Api`] with status 409.
    pub async fn cancel(&self) -> Result<CancelJobResponse, ClientError> {
        self.client.transport.call(&ApiCall::delete(self.path(""), self.client.timeout())).await
    }

    /// Returns all documents of the job as they become available, from the first one.
    #[must_use]
    pub fn watch(&self) -> JobStream {
        JobStream {
            job: self.clone(),
            skip: 0,
            documents: VecDeque::new(),
            state: None,
            poll_interval: Duration::ZERO,
        }
    }

    fn path(&self, suffix: &str) -> String {
        // An ID with a slash must not change the path.
        let id: String = url::form_urlencoded::byte_serialize(self.id.as_bytes()).collect();
        format!("{}/{id}{suffix}", self.kind.path())
    }
}

/// Documents of a job in the order of their completion, each once, until the job ends. Created by [`Job::watch`].
///
/// The stream polls the state of the job: at once while further documents are available, otherwise after an interval
/// that grows up to two seconds. It can be dropped at any time; the job continues.
///
/// # Examples
///
/// ```no_run
/// # async fn example(job: websvc::Job) -> Result<(), websvc::ClientError> {
/// let mut documents = job.watch();
/// while let Some(document) = documents.next().await? {
///     println!("{:?}", document.content.metadata.and_then(|metadata| metadata.url));
/// }
/// if let Some(state) = documents.state() {
///     println!("{:?}: {} credits", state.status, state.credits_used);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct JobStream {
    job: Job,
    /// Number of received documents.
    skip: u64,
    /// Documents that were received and not returned yet.
    documents: VecDeque<JobDocument>,
    /// Last state of the job, without its documents.
    state: Option<JobStatusResponse>,
    /// Delay before the next request.
    poll_interval: Duration,
}

impl JobStream {
    /// Waits for the next document. Returns `None` if the job has ended and all documents were returned.
    ///
    /// # Errors
    /// Any [`ClientError`]. The next call tries again, and no document is lost.
    pub async fn next(&mut self) -> Result<Option<JobDocument>, ClientError> {
        loop {
            if let Some(document) = self.documents.pop_front() {
                return Ok(Some(document));
            }
            let Some(documents) = self.next_documents().await? else { return Ok(None) };
            self.documents.extend(documents);
        }
    }

    /// Waits for the poll interval, sends one request, and returns the new documents, which may be none. Returns `None` if
    /// the job has ended and all documents were returned.
    ///
    /// Use it instead of [`next`](Self::next) to show progress between documents.
    ///
    /// # Errors
    /// Any [`ClientError`]. The next call tries again, and no document is lost.
    pub async fn next_documents(&mut self) -> Result<Option<Vec<JobDocument>>, ClientError> {
        if !self.documents.is_empty() {
            return Ok(Some(self.documents.drain(..).collect()));
        }
        if self.is_complete() {
            return Ok(None);
        }
        tokio::time::sleep(self.poll_interval).await;
        let mut state = self.job.status(self.skip).await?;
        let documents = std::mem::take(&mut state.data);
        self.skip = self.skip.saturating_add(documents.len() as u64);
        self.poll_interval = match (&state.next, documents.is_empty()) {
            (Some(_), _) => Duration::ZERO,
            (None, false) => MIN_POLL_INTERVAL,
            (None, true) => (self.poll_interval * 2).clamp(MIN_POLL_INTERVAL, MAX_POLL_INTERVAL),
        };
        self.state = Some(state);
        Ok(Some(documents))
    }

    /// Returns the state of the job as of the last request, without documents. `None` before the first request.
    #[must_use]
    pub fn state(&self) -> Option<&JobStatusResponse> {
        self.state.as_ref()
    }

    /// Returns whether the job has ended and all its documents were received.
    fn is_complete(&self) -> bool {
        self.state.as_ref().is_some_and(|state| match state.status {
            JobStatus::Scraping => false,
            JobStatus::Completed | JobStatus::Failed | JobStatus::Cancelled => state.next.is_none(),
        })
    }
}
