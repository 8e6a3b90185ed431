//! The end of a URL: one transaction with all that follows from it.

use rusqlite::{OptionalExtension, Transaction, params};

use super::create::add_ms;
use super::row::{add_urls, by_number, end, stored_bytes};
use super::{
    CompletionOutcome, JobKind, JobLease, JobLimits, JobRecord, JobState, UrlCompletion, UrlOutcome,
};
use crate::database::Durability;
use crate::error::StoreError;
use crate::ledger::{CreditHold, Usage};
use crate::store::Store;
use crate::webhook::{JobEvent, enqueue};

/// Documents are written once and read once or twice: a few percent are not worth much time.
const COMPRESSION_LEVEL: i32 = 3;

/// The end of a URL whose document is compressed, ready to be written.
#[derive(Debug)]
pub struct CompressedCompletion {
    finish: UrlCompletion,
    document: Vec<u8>,
}

impl UrlCompletion {
    /// Makes the end of a page that has nothing to it: nothing was found, nothing is charged.
    #[must_use]
    pub fn of(lease: JobLease, end: UrlOutcome) -> Self {
        Self { lease, end, aliases: Vec::new(), led_to: None, found: Vec::new(), charge: None }
    }

    /// Compresses the document. Takes some time of the CPU, which is better not spent while others wait to write.
    ///
    /// # Panics
    /// Never: compressing into memory does not fail.
    #[must_use]
    pub fn pack(self) -> CompressedCompletion {
        let document = match &self.end {
            UrlOutcome::Document(json) => {
                zstd::bulk::compress(json, COMPRESSION_LEVEL).expect("compressing into memory cannot fail")
            }
            UrlOutcome::Failed { .. } | UrlOutcome::Blocked | UrlOutcome::OutOfScope => Vec::new(),
        };
        CompressedCompletion { finish: self, document }
    }
}

impl Store {
    /// Ends the work on a URL: see [`finish_job_urls`](Self::finish_job_urls).
    ///
    /// # Errors
    /// Failures of the database; nothing was changed then, and the lease is as it was.
    ///
    /// # Panics
    /// Never: what is given one URL says what became of one.
    pub fn finish_job_url(
        &self,
        finish: UrlCompletion,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<CompletionOutcome, StoreError> {
        self.finish_job_urls(vec![finish.pack()], limits, now_ms).pop().expect("one for each")
    }

    /// Ends the work on URLs in one transaction. Of each it is noted how, its document is kept, what was found taken in,
    /// and it is charged for, all or nothing. A job ends when nothing is left to do. Returns what became of each, in
    /// their order; of those that failed nothing was changed, and the lease is as it was.
    pub fn finish_job_urls(
        &self,
        mut finishes: Vec<CompressedCompletion>,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Vec<Result<CompletionOutcome, StoreError>> {
        let together = self.write_finishes(&mut finishes, limits, now_ms);
        let ended = match together {
            Ok(ended) => ended.into_iter().map(Ok).collect(),
            Err(error) if finishes.len() == 1 => vec![Err(error)],
            // What one of them failed by need not be the fault of the others.
            Err(_) => finishes
                .iter_mut()
                .map(|finish| {
                    let mut alone = self.write_finishes(std::slice::from_mut(finish), limits, now_ms)?;
                    Ok(alone.pop().expect("one for each"))
                })
                .collect::<Vec<_>>(),
        };
        finishes
            .into_iter()
            .zip(ended)
            .map(|(finish, ended)| ended.map(|ended| settled(finish, ended)))
            .collect()
    }

    fn write_finishes(
        &self,
        finishes: &mut [CompressedCompletion],
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<Vec<CompletionOutcome>, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            finishes.iter_mut().map(|finish| write(transaction, finish, limits, now_ms)).collect()
        })
    }
}

/// Ends the hold of a page whose charge is committed.
fn settled(packed: CompressedCompletion, ended: CompletionOutcome) -> CompletionOutcome {
    let CompressedCompletion {
        finish: UrlCompletion { lease: _, end: _, aliases: _, led_to: _, found: _, charge },
        document: _,
    } = packed;
    if let (Some((hold, _)), CompletionOutcome::Recorded { charged, .. }) = (charge, ended)
        && charged > 0
    {
        hold.finish_settlement(charged);
    }
    ended
}

/// Writes the end of a URL.
fn write(
    transaction: &Transaction<'_>,
    packed: &mut CompressedCompletion,
    limits: &JobLimits,
    now_ms: u64,
) -> rusqlite::Result<CompletionOutcome> {
    let CompressedCompletion {
        finish: UrlCompletion { lease, end, aliases, led_to, found, charge },
        document,
    } = packed;
    let Some(job) = leased_job(transaction, lease)? else { return Ok(CompletionOutcome::LeaseLost) };
    let aliases = UrlAliases::of(transaction, lease, aliases)?;
    let end = if aliases.are_taken { &UrlOutcome::OutOfScope } else { &*end };
    if matches!(end, UrlOutcome::Document(_))
        && stored_bytes(transaction)?.saturating_add(document.len() as u64) > limits.total_bytes
    {
        let state = fail_for_room(transaction, job.number, limits, now_ms)?;
        return Ok(CompletionOutcome::Recorded { state, charged: 0, has_event: true });
    }
    record_outcome(transaction, lease, end, now_ms)?;
    if job.kind == JobKind::Batch {
        release_copies(transaction, lease)?;
    }
    if matches!(end, UrlOutcome::Document(_)) {
        // Before what was found, which may name them.
        aliases.store_aliases(transaction, lease)?;
        note_site(transaction, job.number, led_to.as_deref())?;
    }
    add_urls(transaction, job.number, found, limits.urls)?;
    let mut has_event = false;
    if let UrlOutcome::Document(json) = end {
        keep(transaction, &job, lease, json.len() as u64, document)?;
        has_event = enqueue(transaction, job.number, JobEvent::Page, Some(job.documents + 1), now_ms)?;
    }
    let charged = match end {
        UrlOutcome::OutOfScope => None,
        UrlOutcome::Document(_) | UrlOutcome::Failed { .. } | UrlOutcome::Blocked => {
            charge_page(transaction, job.number, charge)?
        }
    };
    let state = settle(transaction, job.number, limits, now_ms)?;
    has_event |= state != JobState::Running;
    Ok(CompletionOutcome::Recorded { state, charged: charged.unwrap_or_default(), has_event })
}

/// Returns the job of a lease, if both are still as they were.
fn leased_job(transaction: &Transaction<'_>, lease: &JobLease) -> rusqlite::Result<Option<JobRecord>> {
    let is_held = transaction
        .prepare_cached(
            "SELECT 1 FROM job_urls WHERE job = ?1 AND place = ?2 AND state = 'leased' AND attempts = ?3",
        )?
        .exists(params![lease.job, lease.place, lease.attempt])?;
    if !is_held {
        return Ok(None);
    }
    Ok(by_number(transaction, lease.job)?.filter(|job| job.state == JobState::Running))
}

/// The other keys of a page, as the job knows them.
struct UrlAliases<'a> {
    /// Another URL has one of them, and is a document or may still become one.
    are_taken: bool,
    /// Those that nobody has.
    new: Vec<&'a str>,
}

impl<'a> UrlAliases<'a> {
    fn of(transaction: &Transaction<'_>, lease: &JobLease, keys: &'a [String]) -> rusqlite::Result<Self> {
        let mut aliases = Self { are_taken: false, new: Vec::new() };
        let mut known =
            transaction.prepare_cached("SELECT state FROM job_urls WHERE job = ?1 AND key = ?2")?;
        for key in keys.iter().filter(|key| **key != lease.url.key) {
            let state: Option<String> =
                known.query_row(params![lease.job, key], |row| row.get(0)).optional()?;
            match state.as_deref() {
                None => aliases.new.push(key),
                // One that was dropped may have been dropped for the sake of this one.
                Some("failed" | "blocked" | "dropped") => {}
                Some(_) => aliases.are_taken = true,
            }
        }
        Ok(aliases)
    }

    /// Notes that those that nobody has belong to the page of this lease from now on.
    fn store_aliases(&self, transaction: &Transaction<'_>, lease: &JobLease) -> rusqlite::Result<()> {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO job_urls (job, place, key, url, state) \
             SELECT ?1, max(place) + 1, ?2, ?3, 'alias' FROM job_urls WHERE job = ?1",
        )?;
        for key in &self.new {
            insert.execute(params![lease.job, key, lease.url.url])?;
        }
        Ok(())
    }
}

fn note_site(transaction: &Transaction<'_>, job: i64, led_to: Option<&str>) -> rusqlite::Result<()> {
    let Some(led_to) = led_to else { return Ok(()) };
    transaction
        .prepare_cached("UPDATE jobs SET led_to = ?2 WHERE number = ?1")?
        .execute(params![job, led_to])
        .map(drop)
}

fn record_outcome(
    transaction: &Transaction<'_>,
    lease: &JobLease,
    end: &UrlOutcome,
    now_ms: u64,
) -> rusqlite::Result<()> {
    let (state, code, error) = match end {
        UrlOutcome::Document(_) => ("document", None, None),
        UrlOutcome::Failed { code, error } => ("failed", Some(code), Some(error)),
        UrlOutcome::Blocked => ("blocked", None, None),
        UrlOutcome::OutOfScope => ("dropped", None, None),
    };
    transaction
        .prepare_cached(
            "UPDATE job_urls SET state = ?3, lease_until = NULL, ended_at = ?4, code = ?5, error = ?6 \
             WHERE job = ?1 AND place = ?2",
        )?
        .execute(params![lease.job, lease.place, state, now_ms, code, error])?;
    let is_left_out = matches!(end, UrlOutcome::Blocked | UrlOutcome::OutOfScope);
    transaction
        .prepare_cached(
            "UPDATE jobs SET open = open - 1, urls = urls - ?2, blocked = blocked + ?3 WHERE number = ?1",
        )?
        .execute(params![lease.job, is_left_out, matches!(end, UrlOutcome::Blocked)])
        .map(drop)
}

/// Lets the URLs go on that waited for the end of this one, whose page they have.
fn release_copies(transaction: &Transaction<'_>, lease: &JobLease) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            // The condition on the state is that of the index.
            "UPDATE job_urls SET waits_for = NULL \
             WHERE job = ?1 AND waits_for = ?2 AND state IN ('waiting', 'leased')",
        )?
        .execute(params![lease.job, lease.place])
        .map(drop)
}

fn keep(
    transaction: &Transaction<'_>,
    job: &JobRecord,
    lease: &JobLease,
    bytes: u64,
    packed: &[u8],
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO job_documents (job, position, place, bytes, document) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![job.number, job.documents + 1, lease.place, bytes, packed])?;
    transaction
        .prepare_cached("UPDATE jobs SET documents = documents + 1, bytes = bytes + ?2 WHERE number = ?1")?
        .execute(params![job.number, bytes])?;
    Ok(())
}

/// Charges for a page, and returns what was charged.
fn charge_page(
    transaction: &Transaction<'_>,
    job: i64,
    charge: &mut Option<(CreditHold, Usage)>,
) -> rusqlite::Result<Option<u64>> {
    let Some((hold, usage)) = charge else { return Ok(None) };
    let charged = hold.settle_in_transaction(transaction, usage.clone())?;
    transaction
        .prepare_cached("UPDATE jobs SET credits = credits + ?2 WHERE number = ?1")?
        .execute(params![job, charged])?;
    Ok(Some(charged))
}

/// Ends a job whose next document finds no room. The page is not kept and costs nothing.
fn fail_for_room(
    transaction: &Transaction<'_>,
    number: i64,
    limits: &JobLimits,
    now_ms: u64,
) -> rusqlite::Result<JobState> {
    let error = format!(
        "there is no room for further documents: those of all jobs may take {} bytes on the disk",
        limits.total_bytes
    );
    let expires_at_ms = add_ms(now_ms, limits.keep);
    end(transaction, number, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
    Ok(JobState::Failed)
}

/// Ends a job that has nothing left to do, or more than it may have; returns how it stands.
pub(super) fn settle(
    transaction: &Transaction<'_>,
    number: i64,
    limits: &JobLimits,
    now_ms: u64,
) -> rusqlite::Result<JobState> {
    let Some(job) = by_number(transaction, number)? else { return Ok(JobState::Cancelled) };
    let is_full = job.page_limit.is_some_and(|limit| job.documents >= limit);
    let is_open = || {
        transaction
            .prepare_cached(
                "SELECT 1 FROM job_urls WHERE job = ?1 AND state IN ('waiting', 'leased') LIMIT 1",
            )?
            .exists([number])
    };
    let expires_at_ms = add_ms(now_ms, limits.keep);
    if job.bytes > limits.bytes {
        let error =
            format!("the documents are larger than {} bytes together, the most of a job", limits.bytes);
        end(transaction, number, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
        return Ok(JobState::Failed);
    }
    if is_full || !is_open()? {
        if job.documents == 0
            && let Some(error) = reason_for_nothing(transaction, &job)?
        {
            end(transaction, number, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
            return Ok(JobState::Failed);
        }
        end(transaction, number, (JobState::Completed, None), now_ms, expires_at_ms)?;
        return Ok(JobState::Completed);
    }
    Ok(job.state)
}

/// Returns why a job without a single document has none: the error of the start of a crawl, else of the first page that
/// failed. There is no reason where robots.txt forbids everything: then the job did what it may.
fn reason_for_nothing(transaction: &Transaction<'_>, job: &JobRecord) -> rusqlite::Result<Option<String>> {
    let first: Option<(u32, String)> = transaction
        .prepare_cached(
            "SELECT depth, error FROM job_urls WHERE job = ?1 AND state = 'failed' ORDER BY place LIMIT 1",
        )?
        .query_row([job.number], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(first.map(|(depth, error)| match job.kind {
        JobKind::Crawl if depth == 0 => format!("the crawl could not start: {error}"),
        JobKind::Batch if job.urls == 1 => error,
        JobKind::Batch | JobKind::Crawl => {
            format!("none of the {} pages could be had; the first: {error}", job.urls)
        }
    }))
}
