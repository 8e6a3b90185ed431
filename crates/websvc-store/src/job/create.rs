//! Beginning jobs, adding to them, and cancelling them.

use std::time::Duration;

use rusqlite::{Transaction, params};

use super::row::{add_list, end, find, stored_bytes};
use super::{CancelJobOutcome, CreateJobOutcome, JobKind, JobLimits, JobState, JobUrl, NewJob};
use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;
use crate::webhook::{abandon, begin};

impl Store {
    /// Begins a job at `now_ms` (milliseconds since the Unix epoch). What it is told survives a power failure.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn create_job(
        &self,
        job: &NewJob,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<CreateJobOutcome, StoreError> {
        self.database().write(Durability::Power, |transaction| create(transaction, job, limits, now_ms))
    }

    /// Adds URLs to a job of a team that runs, of a list of `listed` URLs as sent, and returns how many were added; `None`
    /// when it does not run, or is not there.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn extend_job(
        &self,
        team: &str,
        id: &str,
        urls: &[JobUrl],
        listed: u64,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<Option<u64>, StoreError> {
        self.database().write(Durability::Power, |transaction| match find(transaction, team, id, now_ms)? {
            Some(job) if job.state == JobState::Running => {
                add_list(transaction, job.number, urls, listed, limits.urls).map(Some)
            }
            Some(_) | None => Ok(None),
        })
    }

    /// Cancels a job of a team. What it has is kept; what is worked on is not charged, and of its events those that wait
    /// are dropped by [`sweep_webhooks`](Self::sweep_webhooks).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn cancel_job(
        &self,
        team: &str,
        kind: JobKind,
        id: &str,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<CancelJobOutcome, StoreError> {
        self.database().write(Durability::Power, |transaction| {
            let job = find(transaction, team, id, now_ms)?.filter(|job| job.kind == kind);
            let Some(job) = job else { return Ok(CancelJobOutcome::Unknown) };
            let expires_at_ms = add_ms(now_ms, limits.keep);
            Ok(match end(transaction, job.number, (JobState::Cancelled, None), now_ms, expires_at_ms)? {
                true => {
                    abandon(transaction, job.number, now_ms)?;
                    CancelJobOutcome::Cancelled
                }
                false => CancelJobOutcome::Ended(job.state),
            })
        })
    }

    /// Ends a job that runs and cannot go on, for a reason that its owner is told.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn fail_job(&self, job: i64, error: &str, limits: &JobLimits, now_ms: u64) -> Result<(), StoreError> {
        self.database().write(Durability::Process, |transaction| {
            end(transaction, job, (JobState::Failed, Some(error)), now_ms, add_ms(now_ms, limits.keep))
                .map(drop)
        })
    }
}

fn create(
    transaction: &Transaction<'_>,
    job: &NewJob,
    limits: &JobLimits,
    now_ms: u64,
) -> rusqlite::Result<CreateJobOutcome> {
    let NewJob { id, team, key, kind, request, idempotency, page_limit, urls, listed, webhook } = job;
    if let Some(word) = idempotency {
        // What is no longer kept is forgotten, also before it is swept.
        transaction.execute(
            "UPDATE jobs SET idempotency = NULL \
             WHERE team = ?1 AND idempotency = ?2 AND state <> 'running' AND expires_at <= ?3",
            params![team, word, now_ms],
        )?;
        let mut used =
            transaction.prepare_cached("SELECT 1 FROM jobs WHERE team = ?1 AND idempotency = ?2")?;
        if used.exists([team, word])? {
            return Ok(CreateJobOutcome::KeyUsed);
        }
    }
    let (running, kept): (u64, u64) = transaction
        .prepare_cached("SELECT ifnull(sum(state = 'running'), 0), count(*) FROM jobs WHERE team = ?1")?
        .query_row([team], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if running >= limits.running {
        return Ok(CreateJobOutcome::TooManyRunning);
    }
    if kept >= limits.kept {
        return Ok(CreateJobOutcome::TooManyKept);
    }
    if urls.len() as u64 > limits.urls {
        return Ok(CreateJobOutcome::TooManyUrls);
    }
    if stored_bytes(transaction)? >= limits.total_bytes {
        return Ok(CreateJobOutcome::NoRoom);
    }
    transaction
        .prepare_cached(
            "INSERT INTO jobs (id, team, key, kind, state, request, idempotency, page_limit, created_at, \
             expires_at) VALUES (?1, ?2, ?3, ?4, 'running', ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            id,
            team,
            key.as_ref().map(crate::key::KeyId::as_str),
            kind.as_str(),
            request,
            idempotency,
            page_limit,
            now_ms,
            add_ms(now_ms, limits.keep),
        ])?;
    let number = transaction.last_insert_rowid();
    let urls = add_list(transaction, number, urls, *listed, limits.urls)?;
    if let Some(webhook) = webhook {
        begin(transaction, number, webhook, now_ms)?;
    }
    Ok(CreateJobOutcome::Created { urls })
}

/// Returns a time, within what the database counts.
pub(super) fn add_ms(now_ms: u64, by: Duration) -> u64 {
    let by_ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
    now_ms.saturating_add(by_ms).min(i64::MAX as u64)
}
