//! Leases of the URLs of jobs.

use std::time::Duration;

use super::row::entry;
use super::{JobLease, JobUrl};
use crate::clock::add_ms;
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// Maximum of leased URLs that are counted against the page limit of a job. The count is exact as long as no more URLs
/// are leased concurrently; otherwise the last pages of the job may be scraped in vain.
const MAX_COUNTED_LEASES: u64 = 1_024;

impl Store {
    /// Leases up to `max` URLs of a job for `ttl` from `now_ms` on, in the order in which they were found. Leases none
    /// of a job that does not run or that another replica owns, and no more than its page limit permits.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn lease_job_urls(
        &self,
        job: i64,
        max: usize,
        now_ms: u64,
        ttl: Duration,
    ) -> Result<Vec<JobLease>, StoreError> {
        let replica = self.membership().id();
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            lease(transaction, (job, replica), max as u64, now_ms, ttl)
        })
    }

    /// Records that the work on a leased URL begins. If the process ends before it completes, releases or
    /// [pauses](Self::pause_job_url) the URL, the next lease counts an [interruption](JobLease::interruptions). Returns
    /// false if the lease had ended.
    ///
    /// # Errors
    /// Failures of the database, also while its [fault](Self::fault) is that nothing can be stored; then the work must not
    /// begin.
    pub fn begin_job_url(&self, lease: &JobLease) -> Result<bool, StoreError> {
        self.check_writable()?;
        self.set_started(lease, true)
    }

    /// Records that the work on a URL is suspended, while its lease continues. Returns false if the lease had ended.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn pause_job_url(&self, lease: &JobLease) -> Result<bool, StoreError> {
        self.set_started(lease, false)
    }

    fn set_started(&self, lease: &JobLease, is_started: bool) -> Result<bool, StoreError> {
        // It is one row, and each page has this transaction, so on a server it waits for no other.
        self.database().write_rows(Durability::Process, |transaction| {
            let sql = "UPDATE job_urls SET is_started = ?4 \
                       WHERE job = ?1 AND place = ?2 AND state = 'leased' AND attempts = ?3";
            let values = params![lease.job, lease.position, lease.number, is_started];
            Ok(transaction.last().execute(sql, values)? == 1)
        })
    }

    /// Releases the lease of a URL whose outcome could not be stored, so that it is queued again. Counts an
    /// [interruption](JobLease::interruptions) if the work had begun. Returns false if the lease had ended.
    ///
    /// # Errors
    /// Failures of the database; then the lease continues.
    pub fn release_job_url(&self, lease: &JobLease) -> Result<bool, StoreError> {
        self.release(lease, 0)
    }

    /// Releases a lease and counts a retry: see [`JobLease::retries`]. Returns false if the lease had ended.
    ///
    /// # Errors
    /// Failures of the database; then the lease continues.
    pub fn retry_job_url(&self, lease: &JobLease) -> Result<bool, StoreError> {
        self.release(lease, 1)
    }

    fn release(&self, lease: &JobLease, retries: u32) -> Result<bool, StoreError> {
        self.database().write_locked(Locked::Job(lease.job), Durability::Process, |transaction| {
            transaction
                .last()
                .execute(
                    "UPDATE job_urls SET state = 'waiting', lease_until = NULL, retries = retries + ?4, \
                     interruptions = CASE WHEN ?4 = 0 THEN interruptions + is_started ELSE interruptions END, \
                     is_started = 0 WHERE job = ?1 AND place = ?2 AND state = 'leased' AND attempts = ?3",
                    params![lease.job, lease.position, lease.number, retries],
                )
                .map(|rows| rows == 1)
        })
    }
}

fn lease(
    transaction: &Transaction<'_>,
    (job, replica): (i64, Option<i64>),
    max: u64,
    now_ms: u64,
    ttl: Duration,
) -> sql::Result<Vec<JobLease>> {
    // Leased URLs have lower positions than queued ones, so the first open URLs suffice.
    let leased = "(SELECT count(*) FROM (SELECT state, lease_until FROM job_urls \
                  WHERE job = ?1 AND state IN ('waiting', 'leased') AND waits_for IS NULL \
                  ORDER BY place LIMIT ?6) AS first WHERE state = 'leased' AND lease_until > ?3)";
    let count = format!(
        "SELECT CASE WHEN page_limit IS NULL OR page_limit - documents >= CAST(?4 AS BIGINT) + ?6 THEN ?4 \
         WHEN page_limit - documents - {leased} < 0 THEN 0 \
         WHEN page_limit - documents - {leased} < ?4 THEN page_limit - documents - {leased} ELSE ?4 END \
         FROM jobs WHERE number = ?1 AND state = 'running' AND coalesce(replica = ?5, ?5 IS NULL)"
    );
    let sql = format!(
        "UPDATE job_urls SET state = 'leased', lease_until = ?2, attempts = attempts + 1, \
         interruptions = interruptions + is_started, is_started = 0 \
         WHERE job = ?1 AND place IN (SELECT place FROM job_urls WHERE job = ?1 \
         AND state IN ('waiting', 'leased') AND (state = 'waiting' OR lease_until <= ?3) \
         AND waits_for IS NULL ORDER BY place LIMIT coalesce(({count}), 0)) \
         RETURNING place, attempts, url, key, depth, retries, copy_of, given, list_index, interruptions"
    );
    let values = params![job, add_ms(now_ms, ttl), now_ms, max, replica, MAX_COUNTED_LEASES];
    let mut leases: Vec<JobLease> = transaction.last().query(&sql, values, |row| {
        let url = JobUrl { url: row.get(2)?, key: row.get(3)?, depth: row.get(4)?, entry: entry(row, 7)? };
        let (position, lease_number) = (row.get(0)?, row.get(1)?);
        let (retries, copy_of, interruptions) = (row.get(5)?, row.get(6)?, row.get(9)?);
        Ok(JobLease { job, position, number: lease_number, retries, interruptions, copy_of, url })
    })?;
    leases.sort_by_key(|lease| lease.position);
    Ok(leases)
}
