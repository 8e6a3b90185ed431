//! Jobs: work that goes on after its request was answered, each of its URLs once.
//!
//! A job is a list of URLs that may grow. A URL waits, is leased to who works on it, and ends: with a document, with an
//! error, or left out. A lease that is not ended in its time is given anew, so that the work of a process that died is
//! done by the next. The end of a URL is one transaction: its state, its document, the URLs that were found on it, and
//! what it costs; therefore each is done and charged once, whenever the process dies.

mod completion;
mod create;
mod credentials;
mod lease;
mod overview;
mod read;
mod row;
mod sweep;

use std::time::Duration;

pub use completion::CompressedCompletion;
pub use overview::JobOverview;

use crate::key::KeyId;
use crate::ledger::{CreditHold, Usage};
use crate::webhook::NewWebhook;

/// The most of one job, and of all jobs of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobLimits {
    /// URLs of one job; what is found beyond is left out and counted.
    pub urls: u64,
    /// Bytes of the documents of one job, before compression; a job with more fails.
    pub bytes: u64,
    /// Bytes of the documents of all jobs of all teams, compressed: what they take on the disk. Beyond it no job begins,
    /// and one that has a further document fails.
    pub total_bytes: u64,
    /// Jobs of one team that run.
    pub running: u64,
    /// Jobs of one team that are kept, those that run among them.
    pub kept: u64,
    /// How long a job may run, and how long it is kept after its end.
    pub keep: Duration,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            urls: 100_000,
            bytes: 1024 * 1024 * 1024,
            total_bytes: 20 * 1024 * 1024 * 1024,
            running: 100,
            kept: 1_000,
            keep: Duration::from_secs(24 * 3_600),
        }
    }
}

/// Kinds of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// It gets the pages of a list.
    Batch,
    /// It gets the pages of a site.
    Crawl,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobState {
    /// URLs of it wait or are worked on.
    Running,
    /// All of it is done.
    Completed,
    /// Its owner ended it.
    Cancelled,
    /// It broke a bound; [`JobRecord::error`] says which.
    Failed,
}

/// A job that is to begin.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its name, unique among all jobs.
    pub id: String,
    /// Whose it is.
    pub team: String,
    /// The key it was asked for with.
    pub key: Option<KeyId>,
    /// Kind of the job.
    pub kind: JobKind,
    /// Request as JSON, opaque to the store.
    pub request: String,
    /// A word of the caller's, by which the same request is known when it is sent again.
    pub idempotency: Option<String>,
    /// Documents after which it is complete; `None` is all there are.
    pub page_limit: Option<u64>,
    /// Its first URLs.
    pub urls: Vec<JobUrl>,
    /// How many URLs the list of a batch has as sent, those that are left out among them; 0 for a crawl.
    pub listed: u64,
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
    /// Links from the start.
    pub depth: u32,
    /// Its entry in the list of a batch; `None` in a crawl. Entries with a key that was met before are kept as copies of
    /// the page that has it.
    pub entry: Option<ListEntry>,
}

/// An entry of the list of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// The URL as it was sent, without user and password.
    pub given: String,
    /// Its index in the list as sent, from 0; entries of a list that is added later count on from the end of the one before.
    pub index: u64,
}

/// Outcome of creating a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateJobOutcome {
    /// It runs; so many of its URLs are its own, each once.
    Created {
        /// How many.
        urls: u64,
    },
    /// The caller's word was used before.
    KeyUsed,
    /// It has more URLs than a job may have.
    TooManyUrls,
    /// So many jobs of the team run, and no more may.
    TooManyRunning,
    /// So many jobs of the team are kept, and no more may be.
    TooManyKept,
    /// The documents of all jobs take as much as they may.
    NoRoom,
}

/// A job as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// Its number in the store.
    pub number: i64,
    /// Its name.
    pub id: String,
    /// Whose it is.
    pub team: String,
    /// The key it was asked for with.
    pub key: Option<KeyId>,
    /// Kind of the job.
    pub kind: JobKind,
    /// How it stands.
    pub state: JobState,
    /// Request as JSON.
    pub request: String,
    /// Documents after which it is complete.
    pub page_limit: Option<u64>,
    /// When it began, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// When it ended, in milliseconds since the Unix epoch.
    pub finished_at_ms: Option<u64>,
    /// When it is forgotten, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
    /// Why it failed.
    pub error: Option<String>,
    /// Its URLs, those that were left out afterwards not among them. Once it is complete, those that were asked for.
    pub urls: u64,
    /// Its documents.
    pub documents: u64,
    /// The bytes of its documents, before compression.
    pub bytes: u64,
    /// Credits charged so far.
    pub credits: u64,
    /// URLs that were found and had no room.
    pub left_out: u64,
    /// URLs that robots.txt forbids.
    pub blocked: u64,
    /// Final URL of the first page, if its site belongs to the crawl too.
    pub led_to: Option<String>,
}

/// The right to work on a URL of a job, for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLease {
    pub(crate) job: i64,
    pub(crate) place: i64,
    pub(crate) attempt: u32,
    pub(crate) retries: u32,
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

    /// Returns how often it was leased, this time included; also by processes that ended before they began with it.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns whether the URL has the page of another one of the job, which has ended: see
    /// [`Store::end_of_original`](crate::Store::end_of_original).
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.copy_of.is_some()
    }

    /// Returns how often it was given back to be tried again.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }
}

/// How the work on a URL ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlOutcome {
    /// With a document, as JSON.
    Document(Vec<u8>),
    /// There is none.
    Failed {
        /// Why, for a program.
        code: String,
        /// Why, for a person.
        error: String,
    },
    /// Its robots.txt does not allow it.
    Blocked,
    /// It is none of the job's after all.
    OutOfScope,
}

/// The end of the work on a URL.
#[derive(Debug)]
pub struct UrlCompletion {
    /// The right to end it.
    pub lease: JobLease,
    /// How it ended.
    pub end: UrlOutcome,
    /// Other keys under which the page is known now. When another URL of the job has one of them, and is a document or may
    /// still become one, this one is dropped and nothing is charged. Of two that lead to each other the later one stays.
    pub aliases: Vec<String>,
    /// Final URL of the first page, if its site belongs to the job too.
    pub led_to: Option<String>,
    /// URLs found on the page.
    pub found: Vec<JobUrl>,
    /// Credit hold of the page, and its usage.
    pub charge: Option<(CreditHold, Usage)>,
}

/// Outcome of completing a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionOutcome {
    /// It is noted.
    Recorded {
        /// How the job stands now.
        state: JobState,
        /// The credits that were charged.
        charged: u64,
        /// True if there may be a new event to deliver.
        has_event: bool,
    },
    /// It was not this one's to end any more: nothing was changed, nothing charged.
    LeaseLost,
}

/// Outcome of cancelling a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelJobOutcome {
    /// It is.
    Cancelled,
    /// It had ended before, so.
    Ended(JobState),
    /// There is none.
    Unknown,
}

/// Documents of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobDocumentPage {
    /// The documents as JSON, in the order of their completion.
    pub documents: Vec<Vec<u8>>,
    /// The position after which the next page begins, if there are more by now.
    pub next: Option<u64>,
}

/// A URL of which there is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    /// Its place in the job.
    pub place: i64,
    /// The URL.
    pub url: String,
    /// When it ended, in milliseconds since the Unix epoch.
    pub ended_at_ms: u64,
    /// True if robots.txt forbids the URL; then there is neither code nor error.
    pub is_blocked: bool,
    /// Why, for a program.
    pub code: String,
    /// Why, for a person.
    pub error: String,
}
