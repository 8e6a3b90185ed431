//! Jobs of a running service: crawls and batches, their state, their documents.

use std::collections::VecDeque;
use std::time::Duration;

use websvc_types::job::{
    ActiveCrawls, BatchScrapeRequest, CancelJobResponse, CrawlRequest, JobDocument, JobErrorsResponse,
    JobStatus, JobStatusResponse, StartJobResponse,
};

use crate::call::{ApiCall, Idempotency};
use crate::client::Client;
use crate::error::ClientError;

/// The first pause before a job is asked for again; it doubles while nothing is new.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Kinds of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// It gets the pages of a site: `/v2/crawl`.
    Crawl,
    /// It gets the pages of a list: `/v2/batch/scrape`.
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

/// A job of the service. Cheap to clone; what is done with it concerns the same job.
#[derive(Debug, Clone)]
pub struct Job {
    client: Client,
    kind: JobKind,
    id: String,
}

impl Client {
    /// Begins to get the pages of a site: `POST /v2/crawl`. The request is sent as it is. It is repeated only when it
    /// certainly was not worked on: each begins a job.
    ///
    /// # Errors
    /// [`ClientError`]
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::JobKind;
    /// use websvc::types::job::CrawlRequest;
    ///
    /// let request = CrawlRequest { url: "https://docs.example".to_owned(), limit: Some(100), ..Default::default() };
    /// let started = client.start_crawl(&request).await?;
    /// let mut pages = client.job(JobKind::Crawl, started.id).watch();
    /// while let Some(page) = pages.next().await? {
    ///     println!("{}", page.content.markdown.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_crawl(&self, request: &CrawlRequest) -> Result<StartJobResponse, ClientError> {
        let mut call = ApiCall::post(JobKind::Crawl.path(), request, self.time())?;
        call.repetition = Idempotency::NotIdempotent;
        self.line.call(&call).await
    }

    /// Begins to get the pages of a list, or adds to one that runs: `POST /v2/batch/scrape`. Repeated as a crawl is.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn start_batch(&self, request: &BatchScrapeRequest) -> Result<StartJobResponse, ClientError> {
        let mut call = ApiCall::post(JobKind::Batch.path(), request, self.time())?;
        call.repetition = Idempotency::NotIdempotent;
        self.line.call(&call).await
    }

    /// Returns the crawls of the team that run: `GET /v2/crawl/active`.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn active_crawls(&self) -> Result<ActiveCrawls, ClientError> {
        self.line.call(&ApiCall::get("v2/crawl/active", self.time())).await
    }

    /// Returns a job by its identifier. Nothing is sent.
    pub fn job(&self, kind: JobKind, id: impl Into<String>) -> Job {
        Job { client: self.clone(), kind, id: id.into() }
    }
}

impl Job {
    /// Returns the identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns how the job stands, with the documents after the first `skip`: as many as the service puts into one
    /// answer.
    ///
    /// # Errors
    /// [`ClientError`]; a job that is not known, or not kept any more, is refused with 404.
    pub async fn status(&self, skip: u64) -> Result<JobStatusResponse, ClientError> {
        let call = ApiCall::get(self.path(""), self.client.time()).query(format!("skip={skip}"));
        self.client.line.call(&call).await
    }

    /// Returns the pages of which there is no document.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn errors(&self) -> Result<JobErrorsResponse, ClientError> {
        self.client.line.call(&ApiCall::get(self.path("/errors"), self.client.time())).await
    }

    /// Cancels the job; what it has is kept.
    ///
    /// # Errors
    /// [`ClientError`]; a job that has ended is refused with 409.
    pub async fn cancel(&self) -> Result<CancelJobResponse, ClientError> {
        self.client.line.call(&ApiCall::delete(self.path(""), self.client.time())).await
    }

    /// Follows the job from its first document to its end.
    #[must_use]
    pub fn watch(&self) -> JobStream {
        JobStream {
            job: self.clone(),
            skip: 0,
            documents: VecDeque::new(),
            state: None,
            pause: Duration::ZERO,
        }
    }

    fn path(&self, after: &str) -> String {
        // An identifier is no place to put a path.
        let id: String = url::form_urlencoded::byte_serialize(self.id.as_bytes()).collect();
        format!("{}/{id}{after}", self.kind.path())
    }
}

/// A job as it goes on: its documents in the order of their completion, each once, then its end.
///
/// The service is asked when there is something to know: at once for what is there, after a growing pause of at most two
/// seconds for what is to come. It may be dropped at any time; the job goes on.
#[derive(Debug)]
pub struct JobStream {
    job: Job,
    skip: u64,
    documents: VecDeque<JobDocument>,
    /// The last answer, without its documents.
    state: Option<JobStatusResponse>,
    pause: Duration,
}

impl JobStream {
    /// Waits for the next document; `None` when the job has ended and all were returned.
    ///
    /// # Errors
    /// [`ClientError`]; it may be asked again then.
    pub async fn next(&mut self) -> Result<Option<JobDocument>, ClientError> {
        loop {
            if let Some(document) = self.documents.pop_front() {
                return Ok(Some(document));
            }
            let Some(part) = self.next_part().await? else { return Ok(None) };
            self.documents.extend(part);
        }
    }

    /// Asks once, after the pause that is due, and returns the documents that are new: perhaps none. `None` when the job
    /// has ended and all were returned.
    ///
    /// # Errors
    /// [`ClientError`]; it may be asked again then.
    pub async fn next_part(&mut self) -> Result<Option<Vec<JobDocument>>, ClientError> {
        if !self.documents.is_empty() {
            return Ok(Some(self.documents.drain(..).collect()));
        }
        if self.is_over() {
            return Ok(None);
        }
        tokio::time::sleep(self.pause).await;
        let mut state = self.job.status(self.skip).await?;
        let documents = std::mem::take(&mut state.data);
        self.skip = self.skip.saturating_add(documents.len() as u64);
        self.pause = match (&state.next, documents.is_empty()) {
            (Some(_), _) => Duration::ZERO,
            (None, false) => FIRST_PAUSE,
            (None, true) => (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE),
        };
        self.state = Some(state);
        Ok(Some(documents))
    }

    /// Returns how the job stood when it was last asked for, without documents.
    #[must_use]
    pub fn state(&self) -> Option<&JobStatusResponse> {
        self.state.as_ref()
    }

    /// A job that has ended gets no further documents, and its last answer says whether there are more to read.
    fn is_over(&self) -> bool {
        self.state.as_ref().is_some_and(|state| match state.status {
            JobStatus::Scraping => false,
            JobStatus::Completed | JobStatus::Failed | JobStatus::Cancelled => state.next.is_none(),
        })
    }
}
