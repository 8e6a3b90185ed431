//! The owners of running jobs: one replica at a time works on a job.

use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Connection, params};
use crate::store::Store;

/// Number of jobs that a replica may own even if that is more than its share: few jobs are better started where they
/// were created than moved.
const MIN_SHARE: u64 = 8;

/// The running jobs of a replica.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedJobs {
    /// Number of the replica. Another number than before means that the replica has joined again: it owned nothing in
    /// the meantime.
    pub replica: i64,
    /// The numbers and teams of the jobs, the oldest first.
    pub jobs: Vec<(i64, String)>,
    /// Number of these jobs that should be [handed over](Store::hand_over_job), because other replicas have fewer.
    pub surplus: usize,
}

/// Numbers of running jobs.
struct Counts {
    all: u64,
    without_owner: u64,
    owned: u64,
}

impl Store {
    /// Takes over running jobs without an owner, up to the share of this replica, and returns all that it owns. With
    /// `only`, takes over this job alone.
    ///
    /// # Errors
    /// Failures of the database, also if this replica has not joined or was deleted in the meantime.
    pub fn claim_jobs(&self, only: Option<i64>) -> Result<OwnedJobs, StoreError> {
        let replica = self.membership().id().unwrap_or_default();
        let counts = self.database().read(|connection| counts(connection, replica))?;
        let share = even_share(counts.all, self.workers());
        let max = match only {
            _ if self.membership().is_leaving() => 0,
            Some(_) => 1,
            None => share.saturating_sub(counts.owned),
        };
        if counts.without_owner > 0 && max > 0 {
            self.database().write_shared(Durability::Process, |transaction| {
                let sql = format!(
                    "UPDATE jobs SET replica = ?1 WHERE number IN (SELECT number FROM jobs \
                     WHERE state = 'running' AND replica IS NULL AND number = coalesce(?2, number) \
                     ORDER BY number LIMIT ?3{})",
                    transaction.skip_locked()
                );
                transaction.execute(&sql, params![replica, only, max])
            })?;
        }
        let jobs: Vec<(i64, String)> = self.database().read(|connection| {
            let sql =
                "SELECT number, team FROM jobs WHERE replica = ?1 AND state = 'running' ORDER BY number";
            connection.query(sql, params![replica], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        let surplus = surplus(jobs.len() as u64, share);
        Ok(OwnedJobs { replica, jobs, surplus })
    }

    /// Releases all leases of a job that this replica starts to work on, and returns whether it owns the job. The work
    /// that had begun on their URLs was [interrupted](super::JobLease::interruptions).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn start_job(&self, job: i64) -> Result<bool, StoreError> {
        let replica = self.membership().id();
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            let is_owned = is_owned(transaction, job, replica)?;
            if is_owned {
                // The redundant condition makes SQLite use the partial index: most URLs are completed.
                let sql = "UPDATE job_urls SET state = 'waiting', lease_until = NULL \
                           WHERE job = ?1 AND state IN ('waiting', 'leased') AND state = 'leased'";
                transaction.execute(sql, params![job])?;
            }
            Ok(is_owned)
        })
    }

    /// Returns the leases of all jobs of this replica, which stops. Their pages are not what ended it, so they are not
    /// [interrupted](super::JobLease::interruptions).
    ///
    /// # Errors
    /// Failures of the database; then the pages in flight are interrupted.
    pub fn return_leases(&self) -> Result<(), StoreError> {
        let Some(replica) = self.membership().id() else { return Ok(()) };
        self.database()
            .write_shared(Durability::Process, |transaction| return_leases_of(transaction, replica))
    }

    /// Hands a job over to the other replicas: it has no owner and no leases then.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn hand_over_job(&self, job: i64) -> Result<(), StoreError> {
        let replica = self.membership().id();
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            if is_owned(transaction, job, replica)? {
                return_leases(transaction, "(?1)", job)?;
                transaction.execute("UPDATE jobs SET replica = NULL WHERE number = ?1", params![job])?;
            }
            Ok(())
        })
    }
}

/// Returns whether a replica may work on a job. A process that has not joined may work on every job.
pub(super) fn is_owned(connection: &Connection, job: i64, replica: Option<i64>) -> sql::Result<bool> {
    let Some(replica) = replica else { return Ok(true) };
    connection.exists("SELECT 1 FROM jobs WHERE number = ?1 AND replica = ?2", params![job, replica])
}

/// Returns the leases of all jobs of a replica.
pub(crate) fn return_leases_of(connection: &Connection, replica: i64) -> sql::Result<()> {
    return_leases(connection, "(SELECT number FROM jobs WHERE replica = ?1 AND state = 'running')", replica)
}

/// Returns the leases of jobs, which are given as a list in SQL with one parameter.
fn return_leases(connection: &Connection, jobs: &str, parameter: i64) -> sql::Result<()> {
    // The redundant condition makes SQLite use the partial index: most URLs are completed.
    let sql = format!(
        "UPDATE job_urls SET state = 'waiting', lease_until = NULL, is_started = 0 \
         WHERE job IN {jobs} AND state IN ('waiting', 'leased') AND state = 'leased'"
    );
    connection.execute(&sql, params![parameter]).map(drop)
}

fn counts(connection: &Connection, replica: i64) -> sql::Result<Counts> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE replica IS NULL), count(*) FILTER (WHERE replica = ?1) \
               FROM jobs WHERE state = 'running'";
    connection.query_row(sql, params![replica], |row| {
        Ok(Counts { all: row.get(0)?, without_owner: row.get(1)?, owned: row.get(2)? })
    })
}

/// Returns how many of the running jobs, or of the unfinished checks of monitors, a replica may own.
pub(crate) fn even_share(jobs: u64, replicas: u32) -> u64 {
    jobs.div_ceil(u64::from(replicas)).max(MIN_SHARE)
}

/// Returns how many jobs a replica should hand over. A small excess is left, so that jobs are not moved back and forth.
fn surplus(owned: u64, share: u64) -> usize {
    let excess = owned.saturating_sub(share);
    let is_large = excess > MIN_SHARE && excess > share / 4;
    if is_large { usize::try_from(excess).unwrap_or(usize::MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_shared_evenly_but_few_jobs_stay_where_they_are() {
        assert_eq!((even_share(0, 1), even_share(3, 3), even_share(8, 1)), (8, 8, 8));
        assert_eq!((even_share(300, 3), even_share(301, 3), even_share(1_000, 1)), (100, 101, 1_000));
    }

    #[test]
    fn only_a_large_excess_is_handed_over() {
        assert_eq!((surplus(8, 8), surplus(16, 8), surplus(17, 8)), (0, 0, 9));
        assert_eq!((surplus(125, 100), surplus(126, 100), surplus(50, 100)), (0, 26, 0));
    }
}
