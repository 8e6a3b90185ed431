//! Leases of the URLs of jobs.

use super::owner::MAY_WORK;
use super::row::entry;
use super::{JobLease, JobUrl};
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// Maximum of leased URLs that are counted against the page limit of a job. The count is exact as long as no more URLs
/// are leased concurrently; otherwise the last pages of the job may be scraped in vain.
const MAX_COUNTED_LEASES: u64 = 1_024;

/// True for a URL that is queued, or whose lease has ended with its replica.
const IS_FREE: &str =
    "(state = 'waiting' OR (leased_by <> 0 AND leased_by NOT IN (SELECT id FROM replicas)))";

/// Maximum of open URLs that a replica looks through for hosts that no other replica has.
const MAX_SCANNED: u64 = 16_384;

/// Maximum of the URLs with such hosts from which it chooses.
const MAX_CANDIDATES: u64 = 512;

/// Number of hosts that one lease takes at least if it can, and about which it takes at most.
const NEW_HOSTS: u64 = 4;

/// Which hosts a replica takes of the URLs that it leases, while others work on the same job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewHosts {
    /// None, as long as hosts that it has have URLs left: the others need some, too.
    IfNeeded,
    /// Some, because those that it has are not ready for requests.
    Wanted,
}

impl Store {
    /// Leases up to `max` URLs of a job in the order in which they were found: those that are queued, and those whose
    /// replica is lost. On a server it leases none whose host another replica has, and this replica has the hosts of
    /// those that it leases until it [releases](Self::release_hosts) them. `hosts` says which hosts it takes. Leases none
    /// of a job that does not run or that this replica may not work on, and no more than the page limit permits.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn lease_job_urls(&self, job: i64, max: usize, hosts: NewHosts) -> Result<Vec<JobLease>, StoreError> {
        let replica = self.membership().id();
        let hosts = Some(hosts).filter(|_| self.is_shared() && replica.is_some());
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            lease(transaction, (job, replica), max as u64, hosts)
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
                    "UPDATE job_urls SET state = 'waiting', leased_by = NULL, retries = retries + ?4, \
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
    hosts: Option<NewHosts>,
) -> sql::Result<Vec<JobLease>> {
    // Leased URLs have lower positions than queued ones, so the first open URLs suffice.
    let leased = "(SELECT count(*) FROM (SELECT state, leased_by FROM job_urls \
                  WHERE job = ?1 AND state IN ('waiting', 'leased') AND waits_for IS NULL \
                  ORDER BY place LIMIT ?4) AS first WHERE state = 'leased' AND NOT (IS_FREE))"
        .replace("IS_FREE", IS_FREE);
    let count = format!(
        "SELECT CASE WHEN page_limit IS NULL OR page_limit - documents >= CAST(?2 AS BIGINT) + ?4 THEN ?2 \
         WHEN page_limit - documents - {leased} < 0 THEN 0 \
         WHEN page_limit - documents - {leased} < ?2 THEN page_limit - documents - {leased} ELSE ?2 END \
         FROM jobs WHERE number = ?1 AND state = 'running' AND {MAY_WORK}"
    );
    let (with, places) = match hosts {
        // No other process works on jobs.
        None => without_hosts(&count),
        Some(new) => with_hosts(&some_hosts(&count, new)),
    };
    let sql = format!(
        "{with} UPDATE job_urls SET state = 'leased', leased_by = coalesce(CAST(?3 AS BIGINT), 0), \
         attempts = attempts + 1, interruptions = interruptions + is_started, is_started = 0 \
         WHERE job = ?1 AND place IN ({places}) \
         RETURNING place, attempts, url, key, depth, retries, copy_of, given, list_index, interruptions"
    );
    let values = params![job, max, replica, MAX_COUNTED_LEASES];
    let mut leases: Vec<JobLease> = transaction.last().query(&sql, values, |row| {
        let url = JobUrl { url: row.get(2)?, key: row.get(3)?, depth: row.get(4)?, entry: entry(row, 7)? };
        let (position, lease_number) = (row.get(0)?, row.get(1)?);
        let (retries, copy_of, interruptions) = (row.get(5)?, row.get(6)?, row.get(9)?);
        Ok(JobLease { job, position, number: lease_number, retries, interruptions, copy_of, url })
    })?;
    leases.sort_by_key(|lease| lease.position);
    Ok(leases)
}

/// Returns the places of the URLs to lease.
fn without_hosts(count: &str) -> (String, String) {
    let places = format!(
        "SELECT place FROM job_urls WHERE job = ?1 AND state IN ('waiting', 'leased') AND waits_for IS NULL \
         AND {IS_FREE} ORDER BY place LIMIT coalesce(({count}), 0)"
    );
    (String::new(), places)
}

/// Returns the places of the URLs to lease whose hosts no other replica has, and the part of the statement that takes
/// these hosts. `chosen` selects from these URLs. The URL of a copy is not requested, so it has no host. Another replica
/// that takes a host at the same time has all its URLs or none; both take hosts in the same order, so that they do not wait
/// for each other.
fn with_hosts(chosen: &str) -> (String, String) {
    let with = format!(
        "WITH owned AS (SELECT host FROM host_leases WHERE replica = ?3), \
         candidates AS (SELECT place, host, host IS NULL OR host IN (SELECT host FROM owned) AS is_owned FROM \
         (SELECT place, CASE WHEN copy_of IS NULL THEN host END AS host, state, leased_by FROM job_urls \
         WHERE job = ?1 AND state IN ('waiting', 'leased') AND waits_for IS NULL \
         ORDER BY place LIMIT {MAX_SCANNED}) AS open WHERE {IS_FREE} \
         AND NOT EXISTS (SELECT 1 FROM host_leases WHERE host_leases.host = open.host \
         AND host_leases.replica <> ?3) ORDER BY place LIMIT {MAX_CANDIDATES}), \
         chosen AS MATERIALIZED ({chosen}), \
         taken AS (INSERT INTO host_leases (host, replica) SELECT DISTINCT host, CAST(?3 AS BIGINT) FROM chosen \
         WHERE host IS NOT NULL AND host NOT IN (SELECT host FROM owned) ORDER BY host \
         ON CONFLICT DO NOTHING RETURNING host)"
    );
    let places = "SELECT place FROM chosen WHERE host IS NULL OR host IN (SELECT host FROM owned) \
                  OR host IN (SELECT host FROM taken)";
    (with, places.to_owned())
}

/// Returns the query that chooses from the candidates so that it takes few hosts, those of the first URLs.
fn some_hosts(count: &str, new: NewHosts) -> String {
    let order = match new {
        NewHosts::IfNeeded => "is_owned DESC, place",
        NewHosts::Wanted => "place",
    };
    format!(
        "SELECT place, host FROM (SELECT place, host, is_owned, dense_rank() OVER (ORDER BY is_owned DESC, \
         CASE WHEN is_owned THEN 0 ELSE first END) AS rank FROM (SELECT place, host, is_owned, \
         min(place) OVER (PARTITION BY host) AS first FROM candidates) AS found) AS ranked \
         WHERE is_owned OR rank <= {NEW_HOSTS} ORDER BY {order} LIMIT coalesce(({count}), 0)"
    )
}
