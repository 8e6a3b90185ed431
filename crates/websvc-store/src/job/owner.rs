//! The replicas that work on a running job: its owner, and those that help with it.

use std::collections::HashMap;

use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::owned_work::{ClaimAmount, MIN_SHARE, WorkCounts};
use crate::pending_work::WorkTable;
use crate::sql::{self, Connection, params};
use crate::store::Store;

/// Number of URLs left in a job from which on other replicas begin to help with it.
const MIN_OPEN: u64 = 64;

/// Maximum of jobs of others that a replica helps with.
const MAX_HELPED: u64 = 64;

/// The running jobs of a replica.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedJobs {
    /// Number of the replica. Another number than before means that the replica has joined again: it owned nothing in
    /// the meantime.
    pub replica: i64,
    /// The numbers and teams of the jobs, the oldest first.
    pub jobs: Vec<(i64, String)>,
    /// The numbers and teams of the jobs of others that it may help with, the oldest first.
    pub helped: Vec<(i64, String)>,
    /// The shares of this replica in the limits of the teams of running jobs. Those that it does not share are not here.
    pub team_shares: HashMap<String, TeamShare>,
    /// Number of these jobs that should be [handed over](Store::hand_over_job), because other replicas have fewer.
    pub surplus: usize,
}

/// The part of a replica in the limit of a team whose jobs several replicas work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamShare {
    /// Number of these replicas.
    replicas: u32,
    /// Number of those that come before this one.
    rank: u32,
}

impl Default for TeamShare {
    fn default() -> Self {
        Self { replicas: 1, rank: 0 }
    }
}

impl TeamShare {
    /// Returns the part of this replica in a limit. The parts of all are the limit together, but each is at least 1, so
    /// that no job stands still.
    #[must_use]
    pub fn part_of(self, limit: u32) -> u32 {
        let replicas = self.replicas.max(1);
        (limit / replicas + u32::from(self.rank < limit % replicas)).max(1)
    }
}

impl Store {
    /// Takes over running jobs without an owner, up to the share of this replica, and returns all that it owns and all
    /// that it may help with. With `only`, takes over this job alone.
    ///
    /// # Errors
    /// Failures of the database, also if this replica has not joined or was deleted in the meantime.
    pub fn claim_jobs(&self, only: Option<i64>) -> Result<OwnedJobs, StoreError> {
        let replica = self.membership().id().unwrap_or_default();
        let amount = only.map_or(ClaimAmount::Share(u64::MAX), ClaimAmount::Only);
        let WorkCounts { all, share } = self.claim_work(WorkTable::JOBS, replica, amount)?;
        let jobs: Vec<(i64, String)> = self.database().read(|connection| {
            let sql =
                "SELECT number, team FROM jobs WHERE replica = ?1 AND state = 'running' ORDER BY number";
            connection.query(sql, params![replica], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        let may_help = only.is_none() && self.is_shared() && !self.membership().is_leaving();
        let helped = if may_help && all > jobs.len() as u64 {
            self.database().read(|connection| jobs_to_help(connection, replica))?
        } else {
            Vec::new()
        };
        let team_shares = match may_help && self.workers() > 1 && all > 0 {
            true => self.database().read(|connection| team_shares(connection, replica))?,
            false => HashMap::new(),
        };
        let surplus = surplus(jobs.len() as u64, share);
        Ok(OwnedJobs { replica, jobs, helped, team_shares, surplus })
    }

    /// Releases the leases of a job that are left over when this replica starts to work on it, and returns whether it may:
    /// because it owns the job, or helps with it. The work that had begun on their URLs was
    /// [interrupted](super::JobLease::interruptions). `may_spread` lets other replicas help with a job that this one owns.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn start_job(&self, job: i64, may_spread: bool) -> Result<bool, StoreError> {
        let replica = self.membership().id();
        let is_spread = may_spread && self.is_shared();
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            if is_owned(transaction, job, replica)? {
                let sql = "UPDATE jobs SET is_spread = ?2 WHERE number = ?1 AND is_spread <> ?2";
                transaction.execute(sql, params![job, is_spread])?;
            }
            let may_work = may_work(transaction, job, replica)?;
            if may_work && self.is_shared() && replica.is_some() {
                add_helper(transaction, job, replica)?;
            }
            if may_work {
                // The redundant condition makes SQLite use the partial index: most URLs are completed.
                let sql = "UPDATE job_urls SET state = 'waiting', leased_by = NULL \
                           WHERE job = ?1 AND state IN ('waiting', 'leased') AND state = 'leased' \
                           AND (leased_by IN (0, coalesce(?2, 0)) OR leased_by NOT IN (SELECT id FROM replicas))";
                transaction.execute(sql, params![job, replica])?;
            }
            Ok(may_work)
        })
    }

    /// Moves a job whose next URL has a host of another replica to that replica. Returns whether it moved.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn move_job_to_host(&self, job: i64) -> Result<bool, StoreError> {
        let Some(replica) = self.membership().id().filter(|_| self.is_shared()) else { return Ok(false) };
        self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
            let sql = "UPDATE jobs SET replica = other.id FROM replicas AS other \
                       WHERE jobs.number = ?1 AND jobs.replica = ?2 AND jobs.state = 'running' \
                       AND other.id <> ?2 AND other.is_worker = 1 AND other.id = \
                       (SELECT host_leases.replica FROM (SELECT host FROM job_urls WHERE job = ?1 \
                       AND state IN ('waiting', 'leased') AND state = 'waiting' AND waits_for IS NULL \
                       ORDER BY place LIMIT 1) AS next JOIN host_leases ON host_leases.host = next.host)";
            Ok(transaction.execute(sql, params![job, replica])? == 1)
        })
    }

    /// Lets other replicas request URLs of hosts of which this one has no leases.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn release_hosts(&self, hosts: &[String]) -> Result<(), StoreError> {
        let Some(replica) = self.membership().id().filter(|_| self.is_shared()) else { return Ok(()) };
        self.database().write_rows(Durability::Process, |transaction| {
            for host in hosts {
                let sql = "DELETE FROM host_leases WHERE host = ?1 AND replica = ?2";
                transaction.enqueue(sql, params![host, replica])?;
            }
            Ok(())
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
                return_leases(transaction, "(?2)", params![replica, job])?;
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

/// True for a job that a replica may work on, which is `?3`: its own, one that all may help with, or every one if the
/// process has not joined.
pub(super) const MAY_WORK: &str = "(coalesce(jobs.replica = ?3, ?3 IS NULL) OR (jobs.is_spread = 1 \
     AND EXISTS (SELECT 1 FROM replicas WHERE replicas.id = ?3 AND replicas.is_worker = 1)))";

/// Returns whether a replica may work on a job.
pub(super) fn may_work(connection: &Connection, job: i64, replica: Option<i64>) -> sql::Result<bool> {
    let sql = format!("SELECT 1 FROM jobs WHERE number = ?1 AND state = ?2 AND {MAY_WORK}");
    connection.exists(&sql, params![job, "running", replica])
}

/// Returns the jobs of other replicas that a replica may help with: first those that it helps with already, because it has
/// leases of their URLs, and then those with many URLs left.
fn jobs_to_help(connection: &Connection, replica: i64) -> sql::Result<Vec<(i64, String)>> {
    let sql = format!(
        "SELECT number, team FROM (SELECT number, team, open, EXISTS (SELECT 1 FROM job_helpers \
         WHERE job_helpers.job = jobs.number AND job_helpers.replica = ?1) AS is_helped FROM jobs \
         WHERE state = 'running' AND is_spread = 1 AND replica IS DISTINCT FROM ?1) AS others \
         WHERE is_helped OR open >= {MIN_OPEN} ORDER BY is_helped DESC, number LIMIT {MAX_HELPED}"
    );
    connection.query(&sql, params![replica], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Records that a replica helps with a job, if it is not its owner.
fn add_helper(connection: &Connection, job: i64, replica: Option<i64>) -> sql::Result<()> {
    let sql = "INSERT INTO job_helpers (job, replica) SELECT number, CAST(?2 AS BIGINT) FROM jobs \
               WHERE number = ?1 AND replica IS DISTINCT FROM ?2 ON CONFLICT DO NOTHING";
    connection.execute(sql, params![job, replica]).map(drop)
}

/// Returns the shares of a replica in the limits of the teams on whose jobs it works.
fn team_shares(connection: &Connection, replica: i64) -> sql::Result<HashMap<String, TeamShare>> {
    let sql = "SELECT team, count(DISTINCT replica), count(DISTINCT replica) FILTER (WHERE replica < ?1) FROM \
               (SELECT team, replica FROM jobs WHERE state = 'running' UNION ALL \
               SELECT jobs.team, job_helpers.replica FROM job_helpers JOIN jobs ON jobs.number = job_helpers.job \
               WHERE jobs.state = 'running') AS workers GROUP BY team \
               HAVING count(*) FILTER (WHERE replica = ?1) > 0";
    let rows = connection.query(sql, params![replica], |row| {
        Ok((row.get(0)?, TeamShare { replicas: row.get(1)?, rank: row.get(2)? }))
    })?;
    Ok(rows.into_iter().collect())
}

/// Returns the leases of all jobs of a replica.
pub(crate) fn return_leases_of(connection: &Connection, replica: i64) -> sql::Result<()> {
    let jobs = "(SELECT number FROM jobs WHERE state = 'running' AND (replica = ?1 OR is_spread = 1))";
    return_leases(connection, jobs, params![replica])
}

/// Returns the leases of jobs that the replica `?1` has. The jobs are a list in SQL.
fn return_leases(connection: &Connection, jobs: &str, values: sql::Params<'_>) -> sql::Result<()> {
    // The redundant condition makes SQLite use the partial index: most URLs are completed.
    let sql = format!(
        "UPDATE job_urls SET state = 'waiting', leased_by = NULL, is_started = 0 \
         WHERE job IN {jobs} AND state IN ('waiting', 'leased') AND state = 'leased' \
         AND leased_by = coalesce(?1, 0)"
    );
    connection.execute(&sql, values).map(drop)
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
    fn limit_of_a_team_is_divided_without_a_rest() {
        let parts = |limit| [0, 1, 2].map(|rank| TeamShare { replicas: 3, rank }.part_of(limit));
        assert_eq!((parts(8), parts(9), parts(3)), ([3, 3, 2], [3, 3, 3], [1, 1, 1]));
        assert_eq!((parts(1), TeamShare::default().part_of(7)), ([1, 1, 1], 7));
    }

    #[test]
    fn only_a_large_excess_is_handed_over() {
        assert_eq!((surplus(8, 8), surplus(16, 8), surplus(17, 8)), (0, 0, 9));
        assert_eq!((surplus(125, 100), surplus(126, 100), surplus(50, 100)), (0, 26, 0));
    }
}
