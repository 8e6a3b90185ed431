//! The URLs of jobs, lent to who works on them.

use std::time::Duration;

use rusqlite::{Transaction, params};

use super::create::add_ms;
use super::row::{by_number, entry};
use super::{JobLease, JobState, JobUrl};
use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;

/// So many URLs of a job at most are lent at one time, as far as its limit is concerned: were there more, some pages would
/// be got for nothing at its end.
const LENT: u64 = 1_024;

impl Store {
    /// Leases up to `most` URLs of a job from `now_ms` on for `life`, in the order in which they were met; none of a job
    /// that does not run, and no more than its limit of documents leaves room for.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn lease_job_urls(
        &self,
        job: i64,
        most: usize,
        now_ms: u64,
        life: Duration,
    ) -> Result<Vec<JobLease>, StoreError> {
        self.database()
            .write(Durability::Process, |transaction| lease(transaction, job, most as u64, now_ms, life))
    }

    /// Gives a lease back: the URL waits again. Tells whether it was still there to give.
    ///
    /// # Errors
    /// Failures of the database; the lease is as it was.
    pub fn release_job_url(&self, lease: &JobLease) -> Result<bool, StoreError> {
        self.give_back(lease, 0)
    }

    /// Gives a lease back for another try, which is counted: see [`JobLease::retries`]. Tells whether it was still there
    /// to give.
    ///
    /// # Errors
    /// As [`release_job_url`](Self::release_job_url).
    pub fn retry_job_url(&self, lease: &JobLease) -> Result<bool, StoreError> {
        self.give_back(lease, 1)
    }

    fn give_back(&self, lease: &JobLease, retries: u32) -> Result<bool, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction
                .prepare_cached(
                    "UPDATE job_urls SET state = 'waiting', lease_until = NULL, retries = retries + ?4 \
                     WHERE job = ?1 AND place = ?2 AND state = 'leased' AND attempts = ?3",
                )?
                .execute(params![lease.job, lease.place, lease.attempt, retries])
                .map(|rows| rows == 1)
        })
    }

    /// Ends the leases of a job, for who begins to work on it and knows that nobody else does.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn end_leases_of_job(&self, job: i64) -> Result<u64, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction
                .execute(
                    // The second condition is that of the index: URLs that are done are many.
                    "UPDATE job_urls SET state = 'waiting', lease_until = NULL \
                     WHERE job = ?1 AND state IN ('waiting', 'leased') AND state = 'leased'",
                    [job],
                )
                .map(|rows| rows as u64)
        })
    }

    /// Ends all leases, for who knows that nobody is left to hold one: the only process that works, when it starts.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn end_job_leases(&self) -> Result<u64, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction
                .execute(
                    // The first condition is that of the index: URLs that are done are many.
                    "UPDATE job_urls SET state = 'waiting', lease_until = NULL \
                     WHERE state IN ('waiting', 'leased') AND state = 'leased'",
                    [],
                )
                .map(|rows| rows as u64)
        })
    }
}

fn lease(
    transaction: &Transaction<'_>,
    number: i64,
    most: u64,
    now_ms: u64,
    life: Duration,
) -> rusqlite::Result<Vec<JobLease>> {
    let job = by_number(transaction, number)?.filter(|job| job.state == JobState::Running);
    let Some(job) = job else { return Ok(Vec::new()) };
    let room = match job.page_limit {
        None => most,
        Some(limit) if limit.saturating_sub(job.documents) >= most + LENT => most,
        Some(limit) => {
            // The first of what is open: what is lent was met before what waits. The condition is that of the index.
            let leased: u64 = transaction
                .prepare_cached(
                    "SELECT count(*) FROM (SELECT state, lease_until FROM job_urls \
                     WHERE job = ?1 AND state IN ('waiting', 'leased') AND waits_for IS NULL \
                     ORDER BY place LIMIT ?3) \
                     WHERE state = 'leased' AND lease_until > ?2",
                )?
                .query_row(params![number, now_ms, LENT], |row| row.get(0))?;
            most.min(limit.saturating_sub(job.documents + leased))
        }
    };
    let mut leases: Vec<JobLease> = transaction
        .prepare_cached(
            "UPDATE job_urls SET state = 'leased', lease_until = ?2, attempts = attempts + 1 \
             WHERE job = ?1 AND place IN (SELECT place FROM job_urls WHERE job = ?1 \
             AND state IN ('waiting', 'leased') AND (state = 'waiting' OR lease_until <= ?3) \
             AND waits_for IS NULL ORDER BY place LIMIT ?4) \
             RETURNING place, attempts, url, key, depth, retries, copy_of, given, list_index",
        )?
        .query_map(params![number, add_ms(now_ms, life), now_ms, room], |row| {
            let url =
                JobUrl { url: row.get(2)?, key: row.get(3)?, depth: row.get(4)?, entry: entry(row, 7)? };
            let (place, attempt, retries, copy_of) = (row.get(0)?, row.get(1)?, row.get(5)?, row.get(6)?);
            Ok(JobLease { job: number, place, attempt, retries, copy_of, url })
        })?
        .collect::<rusqlite::Result<_>>()?;
    leases.sort_by_key(|lease| lease.place);
    Ok(leases)
}
