//! Jobs: work that continues after its request was answered, with each URL completed exactly once.
//!
//! A job is a list of URLs that may grow. A URL is queued, then leased to a worker, then completed: with a document,
//! with an error, or as out of scope. An expired lease may be granted again, so the next process completes the work of
//! one that died. One transaction completes a URL: its state, its document, the URLs found on it and its charge. So
//! each URL is completed and charged once, whenever a process dies. The work on a leased URL begins with a record of its
//! own, so that a URL may be found to be what ends the processes, and those that were only leased are not.

mod completion;
mod create;
mod credentials;
mod lease;
mod overview;
mod owner;
mod read;
mod row;
mod sweep;

use std::time::Duration;

pub use completion::CompressedCompletion;
pub(crate) use credentials::run_without_secrets;
pub use lease::NewHosts;
pub use overview::JobOverview;
pub(crate) use owner::return_leases_of;
pub use owner::{OwnedJobs, TeamShare};

use crate::api_version::ApiVersion;
use crate::key::KeyId;
use crate::ledger::{CreditHold, Usage};
use crate::page_snapshot::PreparedSnapshot;
use crate::webhook::{NewWebhook, WebhookSource};

/// Limits of one job, and of all jobs of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobLimits {
    /// Maximum of URLs of one job. URLs found beyond it are skipped and counted.
    pub max_urls: u64,
    /// Maximum of bytes of the documents of one job, before compression. A job that exceeds it fails.
    pub max_bytes: u64,
    /// Maximum of bytes of the documents of all jobs of all teams, compressed. When it is reached, no job can be
    /// created, and a job that has another document fails.
    pub max_total_bytes: u64,
    /// Maximum of running jobs of one team.
    pub max_running: u64,
    /// Maximum of stored jobs of one team, including the running ones.
    pub max_stored: u64,
    /// How long a job may run, and how long it is stored after its end.
    pub retention: Duration,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            max_urls: 100_000,
            max_bytes: 1024 * 1024 * 1024,
            max_total_bytes: 20 * 1024 * 1024 * 1024,
            max_running: 100,
            max_stored: 1_000,
            retention: Duration::from_secs(24 * 3_600),
        }
    }
}

/// The kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Scrapes the pages of a list.
    Batch,
    /// Scrapes the pages of a site.
    Crawl,
}

impl JobKind {
    /// Returns the kind of work that events of such a job report.
    pub(crate) fn webhook_source(self) -> WebhookSource {
        match self {
            Self::Batch => WebhookSource::Batch,
            Self::Crawl => WebhookSource::Crawl,
        }
    }
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobState {
    /// URLs are queued or leased.
    Running,
    /// All URLs are completed.
    Completed,
    /// The team cancelled it.
    Cancelled,
    /// It could not continue, for the reason in [`JobRecord::error`].
    Failed,
}

/// A job to be created.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Identifier on the wire, unique among all jobs.
    pub id: String,
    /// Team that owns the job.
    pub team: String,
    /// API key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Kind of the job.
    pub kind: JobKind,
    /// Version of the API that the client called.
    pub api_version: ApiVersion,
    /// Request as JSON, opaque to the store.
    pub request: String,
    /// Idempotency key of the request. A second job of the team with the same key is not created.
    pub idempotency_key: Option<String>,
    /// Number of documents after which the job is complete; `None` sets no limit.
    pub page_limit: Option<u64>,
    /// The first URLs.
    pub urls: Vec<JobUrl>,
    /// Length of the list of a batch as sent, including URLs that are not in `urls`; 0 for a crawl.
    pub list_len: u64,
    /// Webhook for the events, if there is one.
    pub webhook: Option<NewWebhook>,
}

/// A URL of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobUrl {
    /// URL to fetch.
    pub url: String,
    /// Deduplication key: a URL with a known key is not added again.
    pub key: String,
    /// Number of links from the start URL.
    pub depth: u32,
    /// The entry in the list of a batch; `None` in a crawl. An entry whose key the job already has becomes a copy of
    /// the page with that key.
    pub entry: Option<ListEntry>,
}

/// An entry of the list of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// The URL as it was sent, without user and password.
    pub original_url: String,
    /// Index in the list as sent, from 0. The indexes of a list that is added later continue after those of the list
    /// before.
    pub index: u64,
}

/// Outcome of creating a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateJobOutcome {
    /// The job runs.
    Created {
        /// Number of its URLs.
        urls: u64,
    },
    /// The team already has a job with this idempotency key.
    IdempotencyKeyUsed,
    /// The job exceeds [`JobLimits::max_urls`].
    TooManyUrls,
    /// The team has [`JobLimits::max_running`] running jobs.
    TooManyRunning,
    /// The team has [`JobLimits::max_stored`] stored jobs.
    TooManyStored,
    /// The documents of all jobs have [`JobLimits::max_total_bytes`].
    StorageFull,
}

/// A stored job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// Number in the store.
    pub number: i64,
    /// Identifier on the wire.
    pub id: String,
    /// Team that owns the job.
    pub team: String,
    /// API key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Kind of the job.
    pub kind: JobKind,
    /// Version of the API that the client called.
    pub api_version: ApiVersion,
    /// State of the job.
    pub state: JobState,
    /// Request as JSON.
    pub request: String,
    /// Number of documents after which the job is complete.
    pub page_limit: Option<u64>,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Time of its end, in milliseconds since the Unix epoch.
    pub finished_at_ms: Option<u64>,
    /// Time of its deletion, in milliseconds since the Unix epoch. A job that runs until then fails.
    pub expires_at_ms: u64,
    /// The reason why it failed.
    pub error: Option<String>,
    /// Number of URLs, without those that were blocked or out of scope. Once the job is complete, URLs that were not
    /// scraped do not count either.
    pub urls: u64,
    /// Number of documents.
    pub documents: u64,
    /// Bytes of the documents, before compression.
    pub bytes: u64,
    /// Credits charged so far.
    pub credits: u64,
    /// Number of found URLs that exceeded [`JobLimits::max_urls`].
    pub skipped: u64,
    /// Number of URLs that robots.txt disallows.
    pub blocked: u64,
    /// Final URL of the start page, if it was redirected to a site that belongs to the crawl too.
    pub start_redirect: Option<String>,
}

/// The right to work on a URL of a job, until it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLease {
    pub(crate) job: i64,
    pub(crate) position: i64,
    /// Number of leases of the URL so far, which identifies this one.
    pub(crate) number: u32,
    pub(crate) retries: u32,
    pub(crate) interruptions: u32,
    pub(crate) copy_of: Option<i64>,
    /// The URL.
    pub url: JobUrl,
}

impl JobLease {
    /// Returns the number of the job.
    #[must_use]
    pub fn job(&self) -> i64 {
        self.job
    }

    /// Returns how often a process ended, lost its job, or could not store the outcome during the work on the URL: after
    /// [`Store::begin_job_url`](crate::Store::begin_job_url), and before the end of the lease.
    #[must_use]
    pub fn interruptions(&self) -> u32 {
        self.interruptions
    }

    /// Returns whether the URL repeats another URL of the job, which is completed: see
    /// [`Store::original_outcome`](crate::Store::original_outcome).
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.copy_of.is_some()
    }

    /// Returns how often the URL was returned for a retry.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }
}

/// Outcome of the work on a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlOutcome {
    /// A document, as JSON.
    Document(Vec<u8>),
    /// There is no document.
    Failed {
        /// Error code.
        code: String,
        /// Error message.
        error: String,
    },
    /// Its robots.txt disallows it.
    Blocked,
    /// It does not belong to the job after all.
    OutOfScope,
}

/// The completion of a URL, to be stored.
#[derive(Debug)]
pub struct UrlCompletion {
    /// The lease of the URL.
    pub lease: JobLease,
    /// Outcome of the work.
    pub outcome: UrlOutcome,
    /// Other keys of the same page. If another URL of the job has one of them, and is or may still become a document,
    /// this URL is out of scope and costs nothing. If two URLs redirect to each other, the one that is completed last
    /// has the document.
    pub aliases: Vec<String>,
    /// Final URL of the start page, if it was redirected to a site that belongs to the job too.
    pub start_redirect: Option<String>,
    /// URLs found on the page.
    pub found: Vec<JobUrl>,
    /// The version of the page that later scrapes are compared with. It is stored only with a document.
    pub snapshot: Option<Box<PreparedSnapshot>>,
    /// Credit hold of the page, and its usage.
    pub charge: Option<(CreditHold, Usage)>,
}

/// Outcome of completing a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionOutcome {
    /// It is stored.
    Recorded {
        /// State of the job after it.
        state: JobState,
        /// Credits that were charged.
        charged: u64,
        /// True if there may be a new event to deliver.
        has_event: bool,
    },
    /// The lease has ended: nothing was stored, and nothing charged.
    LeaseLost,
}

/// Outcome of cancelling a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelJobOutcome {
    /// It is cancelled.
    Cancelled,
    /// It had ended before, in this state.
    AlreadyEnded(JobState),
    /// The team has no such job.
    NotFound,
}

/// A page of the documents of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobDocumentPage {
    /// The documents as JSON, in the order of their completion.
    pub documents: Vec<Vec<u8>>,
    /// The number of documents to skip for the next page, if there are more by now.
    pub next: Option<u64>,
}

/// A URL that was completed without a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    /// Position of the URL in the job.
    pub position: i64,
    /// The URL.
    pub url: String,
    /// Time of its completion, in milliseconds since the Unix epoch.
    pub ended_at_ms: u64,
    /// True if robots.txt disallows the URL. Then code and error are empty.
    pub is_blocked: bool,
    /// Error code.
    pub code: String,
    /// Error message.
    pub error: String,
}
