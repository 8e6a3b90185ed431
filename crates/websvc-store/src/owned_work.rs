//! Unfinished work that replicas share: jobs, checks of monitors, agent runs. One replica at a time owns a row.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::database::Durability;
use crate::error::StoreError;
use crate::pending_work::{WorkKind, WorkTable};
use crate::sql::params;
use crate::store::Store;

/// Number of rows of a table that a replica may own even if that is more than its share: a few are better worked on where
/// they were created than moved.
pub(crate) const MIN_SHARE: u64 = 8;

/// Minimum interval at which a scheduler looks whether there is work.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// How often a scheduler reads the database although it has no work: schedulers also delete what has expired.
const MAX_QUIET: Duration = Duration::from_secs(60);

/// The rows that a claim takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimAmount {
    /// This row, although it may be more than the share of the replica.
    Only(i64),
    /// Up to so many, the oldest first, as far as the share of the replica goes.
    Share(u64),
}

/// The unfinished rows of a table at a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkCounts {
    pub(crate) all: u64,
    /// The number of them that each replica may own.
    pub(crate) share: u64,
}

impl Store {
    /// Returns whether other processes may have left work of this kind: false if the last heartbeat, about a second ago
    /// at most, found none. In a file, where no other process works, always true.
    #[must_use]
    pub fn may_have_work(&self, kind: WorkKind) -> bool {
        self.shared().pending_work.has(kind)
    }

    /// Waits for `interval`, and on until there [may be work](Self::may_have_work) of this kind, a minute at most.
    pub async fn poll_for_work(&self, kind: WorkKind, interval: Duration) {
        let begun = Instant::now();
        sleep(interval).await;
        while !self.may_have_work(kind) && begun.elapsed() < MAX_QUIET {
            sleep(interval.max(MIN_INTERVAL)).await;
        }
    }

    /// Takes over unfinished work without an owner for a replica. One that is leaving takes over none.
    pub(crate) fn claim_work(
        &self,
        table: WorkTable,
        replica: i64,
        amount: ClaimAmount,
    ) -> Result<WorkCounts, StoreError> {
        let WorkTable { name, is_unfinished } = table;
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE replica IS NULL), count(*) FILTER (WHERE replica = ?1) \
             FROM {name} WHERE {is_unfinished}"
        );
        let (all, without_owner, owned): (u64, u64, u64) = self.database().read(|connection| {
            connection.query_row(&sql, params![replica], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        })?;
        let share = even_share(all, self.workers());
        let (only, max) = match amount {
            ClaimAmount::Only(number) => (Some(number), 1),
            ClaimAmount::Share(max) => (None, share.saturating_sub(owned).min(max)),
        };
        if without_owner > 0 && max > 0 && !self.membership().is_leaving() {
            self.database().write_shared(Durability::Process, |transaction| {
                let claim = format!(
                    "UPDATE {name} SET replica = ?1 WHERE number IN (SELECT number FROM {name} \
                     WHERE {is_unfinished} AND replica IS NULL AND number = coalesce(?2, number) \
                     ORDER BY number LIMIT ?3{})",
                    transaction.skip_locked()
                );
                transaction.execute(&claim, params![replica, only, max])
            })?;
        }
        Ok(WorkCounts { all, share })
    }
}

/// Returns how many rows of so many a replica may own.
fn even_share(rows: u64, replicas: u32) -> u64 {
    rows.div_ceil(u64::from(replicas)).max(MIN_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_shared_evenly_but_a_little_stays_where_it_is() {
        assert_eq!((even_share(0, 1), even_share(3, 3), even_share(8, 1)), (8, 8, 8));
        assert_eq!((even_share(300, 3), even_share(301, 3), even_share(1_000, 1)), (100, 101, 1_000));
    }
}
