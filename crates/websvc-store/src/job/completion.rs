//! Completion of URLs: one transaction with all consequences.

use super::row::{COLUMNS, add_urls, end_job, record};
use super::{
    CompletionOutcome, JobKind, JobLease, JobLimits, JobRecord, JobState, UrlCompletion, UrlOutcome,
};
use crate::clock::add_ms;
use crate::database::Durability;
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{JobEvent, enqueue_of_job};

/// A completion with its document compressed, ready to be written.
#[derive(Debug)]
pub struct CompressedCompletion {
    completion: UrlCompletion,
    document: Vec<u8>,
}

impl UrlCompletion {
    /// Returns a completion without found URLs, without a snapshot and without a charge.
    #[must_use]
    pub fn new(lease: JobLease, outcome: UrlOutcome) -> Self {
        Self {
            lease,
            outcome,
            aliases: Vec::new(),
            start_redirect: None,
            found: Vec::new(),
            snapshot: None,
            charge: None,
        }
    }

    /// Compresses the document. This takes CPU time, so it is a step of its own, before the database is locked.
    ///
    /// # Panics
    /// Never: compressing into memory does not fail.
    #[must_use]
    pub fn compress(self) -> CompressedCompletion {
        let document = match &self.outcome {
            UrlOutcome::Document(json) => CompressedDocument::new(json).content,
            UrlOutcome::Failed { .. } | UrlOutcome::Blocked | UrlOutcome::OutOfScope => Vec::new(),
        };
        CompressedCompletion { completion: self, document }
    }
}

impl Store {
    /// Completes URLs in one transaction. It stores the outcome, the document and the found URLs of each, and charges
    /// for it. A job ends when no URL is left to do. Returns the outcomes in the order of the completions. If one
    /// fails, nothing of it is stored, and its lease continues.
    pub fn complete_job_urls(
        &self,
        mut completions: Vec<CompressedCompletion>,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Vec<Result<CompletionOutcome, StoreError>> {
        let outcomes = match self.write_completions(&mut completions, limits, now_ms) {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            Err(error) if completions.len() == 1 => vec![Err(error)],
            // One of them made the transaction fail. The others may succeed alone.
            Err(_) => completions
                .iter_mut()
                .map(|completion| {
                    let mut outcomes =
                        self.write_completions(std::slice::from_mut(completion), limits, now_ms)?;
                    Ok(outcomes.pop().expect("one outcome for one completion"))
                })
                .collect::<Vec<_>>(),
        };
        completions
            .into_iter()
            .zip(outcomes)
            .map(|(completion, outcome)| outcome.inspect(|outcome| finish_hold(completion, *outcome)))
            .collect()
    }

    fn write_completions(
        &self,
        completions: &mut [CompressedCompletion],
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<Vec<CompletionOutcome>, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            completions.iter_mut().map(|completion| write(transaction, completion, limits, now_ms)).collect()
        })
    }
}

/// Ends the hold of a page whose charge is committed.
fn finish_hold(completion: CompressedCompletion, outcome: CompletionOutcome) {
    if let (Some((hold, _)), CompletionOutcome::Recorded { charged, .. }) =
        (completion.completion.charge, outcome)
        && charged > 0
    {
        hold.finish_settlement(charged);
    }
}

/// Writes the completion of a URL.
fn write(
    transaction: &Transaction<'_>,
    completion: &mut CompressedCompletion,
    limits: &JobLimits,
    now_ms: u64,
) -> sql::Result<CompletionOutcome> {
    let CompressedCompletion {
        completion: UrlCompletion { lease, outcome, aliases, start_redirect, found, snapshot, charge },
        document,
    } = completion;
    let Some(leased) = leased_job(transaction, lease)? else { return Ok(CompletionOutcome::LeaseLost) };
    let job = &leased.record;
    let aliases = UrlAliases::read(transaction, lease, aliases)?;
    let outcome = if aliases.are_taken { &UrlOutcome::OutOfScope } else { &*outcome };
    if matches!(outcome, UrlOutcome::Document(_))
        && leased.stored_bytes.saturating_add(document.len() as u64) > limits.max_total_bytes
    {
        let state = fail_storage_full(transaction, job.number, limits, now_ms)?;
        return Ok(CompletionOutcome::Recorded { state, charged: 0, has_event: true });
    }
    record_outcome(transaction, lease, outcome, now_ms)?;
    if job.kind == JobKind::Batch {
        release_copies(transaction, lease)?;
    }
    if matches!(outcome, UrlOutcome::Document(_)) {
        // Before the found URLs, which may have these keys.
        aliases.store_aliases(transaction, lease)?;
        store_start_redirect(transaction, job.number, start_redirect.as_deref())?;
    }
    add_urls(transaction, job.number, found, limits.max_urls)?;
    let mut has_event = false;
    if let UrlOutcome::Document(json) = outcome {
        store_document(transaction, job, lease, json.len() as u64, document)?;
        if let Some(snapshot) = snapshot {
            snapshot.write(transaction)?;
        }
        if leased.has_webhook {
            has_event =
                enqueue_of_job(transaction, job.number, JobEvent::Page, Some(job.documents + 1), now_ms)?;
        }
    }
    let charged = match (outcome, charge) {
        (UrlOutcome::OutOfScope, _) | (_, None) => 0,
        (UrlOutcome::Document(_) | UrlOutcome::Failed { .. } | UrlOutcome::Blocked, Some((hold, usage))) => {
            hold.settle_in_transaction(transaction, usage.clone())?
        }
    };
    let state = match count(transaction, job.number, outcome, charged)? {
        Some(job) => end_if_done(transaction, &job, limits, now_ms)?,
        None => JobState::Cancelled,
    };
    has_event |= state != JobState::Running;
    Ok(CompletionOutcome::Recorded { state, charged, has_event })
}

/// A running job of a lease, with what its completion depends on. A server answers each statement with a round trip, so
/// one statement reads all of it.
struct LeasedJob {
    record: JobRecord,
    /// Size of the documents of all jobs on disk, in bytes.
    stored_bytes: u64,
    has_webhook: bool,
}

/// Returns the job of a lease, if the lease is valid and the job runs.
fn leased_job(transaction: &Transaction<'_>, lease: &JobLease) -> sql::Result<Option<LeasedJob>> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT job_storage.bytes FROM job_storage), \
         EXISTS (SELECT 1 FROM webhooks WHERE webhooks.job = jobs.number) FROM jobs \
         WHERE number = ?1 AND state = 'running' AND EXISTS (SELECT 1 FROM job_urls AS leased \
         WHERE leased.job = ?1 AND leased.place = ?2 AND leased.state = 'leased' AND leased.attempts = ?3)"
    );
    transaction.query_optional(&sql, params![lease.job, lease.position, lease.number], |row| {
        let after = COLUMNS.split(',').count();
        Ok(LeasedJob {
            record: record(row)?,
            stored_bytes: row.get(after)?,
            has_webhook: row.get(after + 1)?,
        })
    })
}

/// The other keys of a page, compared with those of the job.
struct UrlAliases<'a> {
    /// True if another URL has one of them, and is or may still become a document.
    are_taken: bool,
    /// The keys that no URL of the job has.
    new: Vec<&'a str>,
}

impl<'a> UrlAliases<'a> {
    fn read(transaction: &Transaction<'_>, lease: &JobLease, keys: &'a [String]) -> sql::Result<Self> {
        let mut aliases = Self { are_taken: false, new: Vec::new() };
        let sql = "SELECT state FROM job_urls WHERE job = ?1 AND key = ?2";
        for key in keys.iter().filter(|key| **key != lease.url.key) {
            let state: Option<String> =
                transaction.query_optional(sql, params![lease.job, key], |row| row.get(0))?;
            match state.as_deref() {
                None => aliases.new.push(key),
                // A dropped URL may have been dropped in favor of this one.
                Some("failed" | "blocked" | "dropped") => {}
                Some(_) => aliases.are_taken = true,
            }
        }
        Ok(aliases)
    }

    /// Stores the new keys as aliases of the page of this lease.
    fn store_aliases(&self, transaction: &Transaction<'_>, lease: &JobLease) -> sql::Result<()> {
        let sql = "INSERT INTO job_urls (job, place, key, url, state) \
                   SELECT ?1, max(place) + 1, ?2, ?3, 'alias' FROM job_urls WHERE job = ?1";
        for key in &self.new {
            transaction.execute(sql, params![lease.job, key, lease.url.url])?;
        }
        Ok(())
    }
}

fn store_start_redirect(
    transaction: &Transaction<'_>,
    job: i64,
    start_redirect: Option<&str>,
) -> sql::Result<()> {
    let Some(start_redirect) = start_redirect else { return Ok(()) };
    transaction
        .execute("UPDATE jobs SET led_to = ?2 WHERE number = ?1", params![job, start_redirect])
        .map(drop)
}

fn record_outcome(
    transaction: &Transaction<'_>,
    lease: &JobLease,
    outcome: &UrlOutcome,
    now_ms: u64,
) -> sql::Result<()> {
    let (state, code, error) = match outcome {
        UrlOutcome::Document(_) => ("document", None, None),
        UrlOutcome::Failed { code, error } => ("failed", Some(code), Some(error)),
        UrlOutcome::Blocked => ("blocked", None, None),
        UrlOutcome::OutOfScope => ("dropped", None, None),
    };
    transaction.execute(
        "UPDATE job_urls SET state = ?3, lease_until = NULL, ended_at = ?4, code = ?5, error = ?6 \
             WHERE job = ?1 AND place = ?2",
        params![lease.job, lease.position, state, now_ms, code, error],
    )?;
    Ok(())
}

/// Counts a completed URL in the row of its job, and returns the row; `None` if the job was deleted.
fn count(
    transaction: &Transaction<'_>,
    job: i64,
    outcome: &UrlOutcome,
    credits: u64,
) -> sql::Result<Option<JobRecord>> {
    let is_excluded = matches!(outcome, UrlOutcome::Blocked | UrlOutcome::OutOfScope);
    let document_bytes = match outcome {
        UrlOutcome::Document(json) => Some(json.len() as u64),
        UrlOutcome::Failed { .. } | UrlOutcome::Blocked | UrlOutcome::OutOfScope => None,
    };
    let sql = format!(
        "UPDATE jobs SET open = open - 1, urls = urls - ?2, blocked = blocked + ?3, documents = documents + ?4, \
         bytes = bytes + ?5, credits = credits + ?6 WHERE number = ?1 RETURNING {COLUMNS}"
    );
    let values = params![
        job,
        is_excluded,
        matches!(outcome, UrlOutcome::Blocked),
        document_bytes.is_some(),
        document_bytes.unwrap_or_default(),
        credits,
    ];
    transaction.query_optional(&sql, values, record)
}

/// Makes the copies of this URL ready to be leased.
fn release_copies(transaction: &Transaction<'_>, lease: &JobLease) -> sql::Result<()> {
    transaction
        .execute(
            // The condition on the state makes SQLite use the partial index.
            "UPDATE job_urls SET waits_for = NULL \
             WHERE job = ?1 AND waits_for = ?2 AND state IN ('waiting', 'leased')",
            params![lease.job, lease.position],
        )
        .map(drop)
}

fn store_document(
    transaction: &Transaction<'_>,
    job: &JobRecord,
    lease: &JobLease,
    bytes: u64,
    compressed: &[u8],
) -> sql::Result<()> {
    transaction
        .execute(
            "INSERT INTO job_documents (job, position, place, bytes, document) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![job.number, job.documents + 1, lease.position, bytes, compressed],
        )
        .map(drop)
}

/// Fails a job because the storage for documents is full. The document is not stored and costs nothing.
fn fail_storage_full(
    transaction: &Transaction<'_>,
    number: i64,
    limits: &JobLimits,
    now_ms: u64,
) -> sql::Result<JobState> {
    let error = format!(
        "no space for more documents: those of all jobs may use at most {} bytes on disk",
        limits.max_total_bytes
    );
    let expires_at_ms = add_ms(now_ms, limits.retention);
    end_job(transaction, number, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
    Ok(JobState::Failed)
}

/// Ends a job that has no more URLs to complete, or exceeds a limit. Returns its state.
fn end_if_done(
    transaction: &Transaction<'_>,
    job: &JobRecord,
    limits: &JobLimits,
    now_ms: u64,
) -> sql::Result<JobState> {
    let number = job.number;
    let is_full = job.page_limit.is_some_and(|limit| job.documents >= limit);
    let is_open = || {
        let sql = "SELECT 1 FROM job_urls WHERE job = ?1 AND state IN ('waiting', 'leased') LIMIT 1";
        transaction.exists(sql, params![number])
    };
    let expires_at_ms = add_ms(now_ms, limits.retention);
    if job.bytes > limits.max_bytes {
        let error = format!("the documents exceed {} bytes, the maximum of a job", limits.max_bytes);
        end_job(transaction, number, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
        return Ok(JobState::Failed);
    }
    if is_full || !is_open()? {
        if job.documents == 0
            && let Some(error) = no_documents_error(transaction, job)?
        {
            end_job(transaction, number, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
            return Ok(JobState::Failed);
        }
        end_job(transaction, number, (JobState::Completed, None), now_ms, expires_at_ms)?;
        return Ok(JobState::Completed);
    }
    Ok(job.state)
}

/// Returns the error of a job without documents: that of the start page of a crawl, or of the first page that failed.
/// `None` if robots.txt disallows all pages: then the job succeeded.
fn no_documents_error(transaction: &Transaction<'_>, job: &JobRecord) -> sql::Result<Option<String>> {
    let first_failure: Option<(u32, String)> = transaction.query_optional(
        "SELECT depth, error FROM job_urls WHERE job = ?1 AND state = 'failed' ORDER BY place LIMIT 1",
        params![job.number],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(first_failure.map(|(depth, error)| match job.kind {
        JobKind::Crawl if depth == 0 => format!("the crawl could not start: {error}"),
        JobKind::Batch | JobKind::Crawl if job.urls == 1 => error,
        JobKind::Batch | JobKind::Crawl => {
            format!("none of the {} pages could be scraped; first error: {error}", job.urls)
        }
    }))
}
