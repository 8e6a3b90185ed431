//! Creating, extending, cancelling and failing jobs.

use super::owner::may_work;
use super::row::{add_list, by_number, end_job, find, stored_bytes};
use super::{CancelJobOutcome, CreateJobOutcome, JobKind, JobLimits, JobRecord, JobState, JobUrl, NewJob};
use crate::clock::add_ms;
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{WebhookSubject, abandon, register};

impl Store {
    /// Creates a job at `now_ms` (milliseconds since the Unix epoch). The job survives a power failure. This replica owns
    /// it, if it has [joined](Self::join_replicas).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn create_job(
        &self,
        job: &NewJob,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<CreateJobOutcome, StoreError> {
        let replica = self.membership().owner_of_new();
        self.database().write_locked(Locked::Team(&job.team), Durability::Power, |transaction| {
            create(transaction, job, replica, limits, now_ms)
        })
    }

    /// Adds URLs to a running job of a team, from a list that has `list_len` URLs as sent. Returns how many were added;
    /// `None` if no such job runs.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn extend_job(
        &self,
        team: &str,
        id: &str,
        urls: &[JobUrl],
        list_len: u64,
        limits: &JobLimits,
        now_ms: u64,
    ) -> Result<Option<u64>, StoreError> {
        let found = self.database().read(|connection| find(connection, team, id, now_ms))?;
        let Some(JobRecord { number, .. }) = found else { return Ok(None) };
        self.database().write_locked(Locked::Job(number), Durability::Power, |transaction| {
            match by_number(transaction, number)? {
                Some(job) if job.state == JobState::Running => {
                    add_list(transaction, number, urls, list_len, limits.max_urls).map(Some)
                }
                Some(_) | None => Ok(None),
            }
        })
    }

    /// Cancels a job of a team. Its documents stay stored. Pages in flight are not charged, and its pending events are
    /// dropped by [`sweep_webhooks`](Self::sweep_webhooks).
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
        let found = self.database().read(|connection| find(connection, team, id, now_ms))?;
        let Some(JobRecord { number, .. }) = found.filter(|job| job.kind == kind) else {
            return Ok(CancelJobOutcome::NotFound);
        };
        self.database().write_locked(Locked::Job(number), Durability::Power, |transaction| {
            let Some(job) = by_number(transaction, number)? else { return Ok(CancelJobOutcome::NotFound) };
            let expires_at_ms = add_ms(now_ms, limits.retention);
            Ok(match end_job(transaction, job.number, (JobState::Cancelled, None), now_ms, expires_at_ms)? {
                true => {
                    abandon(transaction, job.number, now_ms)?;
                    CancelJobOutcome::Cancelled
                }
                false => CancelJobOutcome::AlreadyEnded(job.state),
            })
        })
    }

    /// Lets the next sweeps delete an ended job. Its documents stay readable by its number until then.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn expire_job(&self, job: i64, now_ms: u64) -> Result<(), StoreError> {
        let sql =
            "UPDATE jobs SET expires_at = ?2 WHERE number = ?1 AND state <> 'running' AND expires_at > ?2";
        self.database().write_rows(Durability::Process, |transaction| {
            transaction.execute(sql, params![job, now_ms]).map(drop)
        })
    }

    /// Fails a running job that this replica [may work](Self::start_job) on. Its status shows `error`.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn fail_job(&self, job: i64, error: &str, limits: &JobLimits, now_ms: u64) -> Result<(), StoreError> {
        let replica = self.membership().id();
        let expires_at_ms = add_ms(now_ms, limits.retention);
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            if may_work(transaction, job, replica)? {
                end_job(transaction, job, (JobState::Failed, Some(error)), now_ms, expires_at_ms)?;
            }
            Ok(())
        })
    }
}

fn create(
    transaction: &Transaction<'_>,
    job: &NewJob,
    replica: Option<i64>,
    limits: &JobLimits,
    now_ms: u64,
) -> sql::Result<CreateJobOutcome> {
    let NewJob {
        id,
        team,
        key,
        kind,
        api_version,
        request,
        idempotency_key,
        page_limit,
        urls,
        list_len,
        webhook,
    } = job;
    if let Some(idempotency_key) = idempotency_key {
        // The key of an expired job is free again, even before the job is swept.
        transaction.execute(
            "UPDATE jobs SET idempotency = NULL \
             WHERE team = ?1 AND idempotency = ?2 AND state <> 'running' AND expires_at <= ?3",
            params![team, idempotency_key, now_ms],
        )?;
        let used = "SELECT 1 FROM jobs WHERE team = ?1 AND idempotency = ?2";
        if transaction.exists(used, params![team, idempotency_key])? {
            return Ok(CreateJobOutcome::IdempotencyKeyUsed);
        }
    }
    let (running, stored): (u64, u64) = transaction.query_row(
        "SELECT count(*) FILTER (WHERE state = 'running'), count(*) FROM jobs WHERE team = ?1",
        params![team],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if running >= limits.max_running {
        return Ok(CreateJobOutcome::TooManyRunning);
    }
    if stored >= limits.max_stored {
        return Ok(CreateJobOutcome::TooManyStored);
    }
    if urls.len() as u64 > limits.max_urls {
        return Ok(CreateJobOutcome::TooManyUrls);
    }
    if stored_bytes(transaction)? >= limits.max_total_bytes {
        return Ok(CreateJobOutcome::StorageFull);
    }
    let number: i64 = transaction.query_row(
        // Without an owner, if the replica was deleted because it was silent for too long.
        "INSERT INTO jobs (id, team, key, kind, state, request, idempotency, page_limit, created_at, \
             expires_at, replica, api_version) VALUES (?1, ?2, ?3, ?4, 'running', ?5, ?6, ?7, ?8, ?9, \
             (SELECT replicas.id FROM replicas WHERE replicas.id = ?10), ?11) RETURNING number",
        params![
            id,
            team,
            key.as_ref().map(crate::key::KeyId::as_str),
            kind.as_str(),
            request,
            idempotency_key,
            page_limit,
            now_ms,
            add_ms(now_ms, limits.retention),
            replica,
            api_version.as_str(),
        ],
        |row| row.get(0),
    )?;
    let urls = add_list(transaction, number, urls, *list_len, limits.max_urls)?;
    if let Some(webhook) = webhook {
        let subject = WebhookSubject { number, source: kind.webhook_source(), id, team };
        register(transaction, subject, webhook, now_ms)?;
    }
    Ok(CreateJobOutcome::Created { urls })
}
