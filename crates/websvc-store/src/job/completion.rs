//! Completion of URLs: one transaction with all consequences.

use super::row::{COLUMNS, STORED_BYTES, add_urls, end_job, record};
use super::{
    CompletionOutcome, JobKind, JobLease, JobLimits, JobRecord, JobState, UrlCompletion, UrlOutcome,
};
use crate::clock::add_ms;
use crate::database::{Durability, Locked};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::ledger::Charges;
use crate::sql::{self, Params, ToSql, Transaction, params};
use crate::store::Store;
use crate::webhook::{JobEvent, contains_event, enqueue_event};

/// A completion with its document compressed, ready to be written.
#[derive(Debug)]
pub struct CompressedCompletion {
    completion: UrlCompletion,
    document: Vec<u8>,
}

impl CompressedCompletion {
    /// Returns the number of the job.
    #[must_use]
    pub fn job(&self) -> i64 {
        self.completion.lease.job
    }
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
    /// Completes URLs in one transaction, on a server in one for each job. It stores the outcome, the document and the found
    /// URLs of each, and charges for it. A job ends when no URL is left to do. Returns the outcomes in the order of the
    /// completions. If one fails, nothing of it is stored, and its lease continues.
    pub fn complete_job_urls(
        &self,
        mut completions: Vec<CompressedCompletion>,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Vec<Result<CompletionOutcome, StoreError>> {
        let mut outcomes = Vec::with_capacity(completions.len());
        // A server locks one job at a time.
        let is_same =
            |a: &CompressedCompletion, b: &CompressedCompletion| !self.is_shared() || a.job() == b.job();
        for completions in completions.chunk_by_mut(is_same) {
            match self.write_completions(completions, limits, now_ms) {
                Ok(written) => outcomes.extend(written.into_iter().map(Ok)),
                Err(error) if completions.len() == 1 => outcomes.push(Err(error)),
                // One of them made the transaction fail. The others may succeed alone.
                Err(_) => outcomes.extend(completions.iter_mut().map(|completion| {
                    let mut written =
                        self.write_completions(std::slice::from_mut(completion), limits, now_ms)?;
                    Ok(written.pop().expect("one outcome for one completion"))
                })),
            }
        }
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
        let Some(job) = completions.first().map(CompressedCompletion::job) else {
            return Ok(Vec::new());
        };
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            let mut charges = Charges::default();
            let outcomes = completions
                .iter_mut()
                .map(|completion| write(transaction, completion, &mut charges, limits, now_ms))
                .collect::<sql::Result<_>>()?;
            charges.write(transaction, self)?;
            Ok(outcomes)
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
    charges: &mut Charges,
    limits: &JobLimits,
    now_ms: u64,
) -> sql::Result<CompletionOutcome> {
    let CompressedCompletion {
        completion: UrlCompletion { lease, outcome, aliases, start_redirect, found, snapshot, charge },
        document,
    } = completion;
    let aliases = UrlAliases::read(transaction, lease, aliases)?;
    let outcome = if aliases.are_taken { &UrlOutcome::OutOfScope } else { &*outcome };
    let charge = match outcome {
        UrlOutcome::OutOfScope => None,
        UrlOutcome::Document(_) | UrlOutcome::Failed { .. } | UrlOutcome::Blocked => charge.as_mut(),
    };
    let charge = charge.map(|(hold, usage)| (hold.reserve(usage.price()), hold, usage));
    let charged = charge.as_ref().map_or(0, |(charged, ..)| *charged);
    let Some(counted) = count(transaction, lease, outcome, document.len(), charged, limits)? else {
        if !is_leased(transaction, lease)? {
            return Ok(CompletionOutcome::LeaseLost);
        }
        let state = fail_storage_full(transaction, lease.job, limits, now_ms)?;
        return Ok(CompletionOutcome::Recorded { state, charged: 0, has_event: true });
    };
    let job = &counted.job;
    record_outcome(transaction, lease, outcome, now_ms)?;
    if job.kind == JobKind::Batch {
        release_copies(transaction, lease)?;
    }
    if matches!(outcome, UrlOutcome::Document(_)) {
        // Before the found URLs, which may have these keys.
        aliases.store_aliases(transaction, lease)?;
        store_start_redirect(transaction, job.number, start_redirect.as_deref())?;
    }
    let added = add_urls(transaction, job.number, found, limits.max_urls)?;
    let mut has_event = false;
    if let UrlOutcome::Document(json) = outcome {
        store_document(transaction, job, lease, json.len() as u64, document)?;
        if let Some(snapshot) = snapshot {
            snapshot.write(transaction)?;
        }
        if let Some(webhook) = counted.webhook {
            enqueue_event(transaction, webhook, JobEvent::Page, Some(job.documents), now_ms)?;
            has_event = true;
        }
    }
    if let Some((charged, hold, usage)) = charge {
        hold.charge_in_transaction(charges, charged, usage.clone());
    }
    let state = end_if_done(transaction, job, counted.is_open || added > 0, limits, now_ms)?;
    has_event |= state != JobState::Running;
    Ok(CompletionOutcome::Recorded { state, charged, has_event })
}

/// Returns whether a lease is valid and its job runs.
fn is_leased(transaction: &Transaction<'_>, lease: &JobLease) -> sql::Result<bool> {
    let sql = format!("SELECT 1 FROM jobs WHERE {IS_LEASED}");
    transaction.exists(&sql, params![lease.job, lease.position, lease.number])
}

/// True for the running job of a lease that is valid.
const IS_LEASED: &str = "number = ?1 AND state = 'running' AND EXISTS (SELECT 1 FROM job_urls AS leased \
     WHERE leased.job = ?1 AND leased.place = ?2 AND leased.state = 'leased' AND leased.attempts = ?3)";

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
        let keys: Vec<&String> = keys.iter().filter(|key| **key != lease.url.key).collect();
        if keys.is_empty() {
            return Ok(aliases);
        }
        let sql = "SELECT state FROM job_urls WHERE job = ?1 AND key = ?2";
        let values: Vec<[&dyn ToSql; 2]> = keys.iter().map(|key| [&lease.job as &dyn ToSql, *key]).collect();
        let values: Vec<Params<'_>> = values.iter().map(|values| &values[..]).collect();
        let states: Vec<Option<String>> = transaction.query_each(sql, &values, |row| row.get(0))?;
        for (key, state) in keys.into_iter().zip(states) {
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
            transaction.enqueue(sql, params![lease.job, key, lease.url.url])?;
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
    transaction.enqueue("UPDATE jobs SET led_to = ?2 WHERE number = ?1", params![job, start_redirect])
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
    transaction.enqueue(
        "UPDATE job_urls SET state = ?3, leased_by = NULL, ended_at = ?4, code = ?5, error = ?6 \
             WHERE job = ?1 AND place = ?2",
        params![lease.job, lease.position, state, now_ms, code, error],
    )
}

/// A job after the count of a completed URL.
struct CountedJob {
    job: JobRecord,
    /// True if other URLs are left to complete.
    is_open: bool,
    /// The webhook that receives events of pages.
    webhook: Option<i64>,
}

/// Counts a completed URL in the row of its job; `None` if its lease is lost, or there is no space for its document. A
/// server answers each statement with a round trip, so one statement does all of it.
fn count(
    transaction: &Transaction<'_>,
    lease: &JobLease,
    outcome: &UrlOutcome,
    stored_bytes: usize,
    credits: u64,
    limits: &JobLimits,
) -> sql::Result<Option<CountedJob>> {
    let is_excluded = matches!(outcome, UrlOutcome::Blocked | UrlOutcome::OutOfScope);
    let (bytes, stored_bytes) = match outcome {
        UrlOutcome::Document(json) => (Some(json.len() as u64), stored_bytes),
        UrlOutcome::Failed { .. } | UrlOutcome::Blocked | UrlOutcome::OutOfScope => (None, 0),
    };
    let sql = format!(
        "UPDATE jobs SET open = open - 1, urls = urls - ?4, blocked = blocked + ?5, documents = documents + ?6, \
         bytes = bytes + ?7, credits = credits + ?8 \
         WHERE {IS_LEASED} AND (?9 = 0 OR {STORED_BYTES} + ?9 <= ?10) RETURNING {COLUMNS}, EXISTS \
         (SELECT 1 FROM job_urls WHERE job = ?1 AND job_urls.state IN ('waiting', 'leased') AND place <> ?2), \
         (SELECT webhooks.number FROM webhooks WHERE webhooks.job = ?1), \
         (SELECT webhooks.events FROM webhooks WHERE webhooks.job = ?1)"
    );
    let values = params![
        lease.job,
        lease.position,
        lease.number,
        is_excluded,
        matches!(outcome, UrlOutcome::Blocked),
        bytes.is_some(),
        bytes.unwrap_or_default(),
        credits,
        stored_bytes,
        limits.max_total_bytes.min(i64::MAX as u64),
    ];
    transaction.query_optional(&sql, values, |row| {
        let after = COLUMNS.split(',').count();
        let events: Option<String> = row.get(after + 2)?;
        let has_event = events.is_some_and(|events| contains_event(&events, JobEvent::Page));
        let webhook = row.get::<Option<i64>>(after + 1)?.filter(|_| has_event);
        Ok(CountedJob { job: record(row)?, is_open: row.get(after)?, webhook })
    })
}

/// Makes the copies of this URL ready to be leased.
fn release_copies(transaction: &Transaction<'_>, lease: &JobLease) -> sql::Result<()> {
    transaction.enqueue(
        // The condition on the state makes SQLite use the partial index.
        "UPDATE job_urls SET waits_for = NULL \
         WHERE job = ?1 AND waits_for = ?2 AND state IN ('waiting', 'leased')",
        params![lease.job, lease.position],
    )
}

fn store_document(
    transaction: &Transaction<'_>,
    job: &JobRecord,
    lease: &JobLease,
    bytes: u64,
    compressed: &[u8],
) -> sql::Result<()> {
    transaction.execute_at_commit(
        "INSERT INTO job_documents (job, position, place, bytes, document) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![job.number, job.documents, lease.position, bytes, compressed],
    )
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
    is_open: bool,
    limits: &JobLimits,
    now_ms: u64,
) -> sql::Result<JobState> {
    let number = job.number;
    let is_full = job.page_limit.is_some_and(|limit| job.documents >= limit);
    let expires_at_ms = add_ms(now_ms, limits.retention);
    if job.bytes > limits.max_bytes {
        let error = format!("the documents exceed {} bytes, the maximum of a job", limits.max_bytes);
        end_job(transaction, number, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
        return Ok(JobState::Failed);
    }
    if is_full || !is_open {
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
