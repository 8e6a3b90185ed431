//! The schedule: which monitors are due, and when the next one is.

use super::row::{MONITOR_COLUMNS, monitor_record};
use super::types::MonitorRecord;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

const SELECT_NEXT: &str = "SELECT min(next_run_at) FROM monitors \
     WHERE status = 'active' AND deleted_at IS NULL AND next_run_at > ?1";

impl Store {
    /// Returns up to `max` active monitors that are due at `now_ms` (milliseconds since the Unix epoch), those that have
    /// been due for longest first. The cost depends on what is due, not on how many monitors exist.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn due_monitors(&self, now_ms: u64, max: u64) -> Result<Vec<MonitorRecord>, StoreError> {
        let sql = select_due();
        let max = max.min(i64::MAX as u64);
        self.database().read(|connection| connection.query(&sql, params![now_ms, max], monitor_record))
    }

    /// Returns the time of the next check of an active monitor after `after_ms`, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn next_monitor_due_ms(&self, after_ms: u64) -> Result<Option<u64>, StoreError> {
        self.database()
            .read(|connection| connection.query_row(SELECT_NEXT, params![after_ms], |row| row.get(0)))
    }

    /// Returns up to `max` active monitors in the order of the times of their next checks and of their numbers, after
    /// these. The cost of all calls depends on how many monitors exist.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn scheduled_monitors(
        &self,
        (after_ms, number): (u64, i64),
        max: u64,
    ) -> Result<Vec<MonitorRecord>, StoreError> {
        let sql = format!(
            "SELECT {MONITOR_COLUMNS} FROM monitors WHERE status = 'active' AND deleted_at IS NULL \
             AND (next_run_at, number) > (?1, ?2) ORDER BY next_run_at, number LIMIT ?3"
        );
        let max = max.min(i64::MAX as u64);
        let values = params![after_ms, number, max];
        self.database().read(|connection| connection.query(&sql, values, monitor_record))
    }

    /// Moves the next check of an active monitor to another time, unless it was moved meanwhile.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn bring_check_forward(&self, monitor: i64, from_ms: u64, to_ms: u64) -> Result<bool, StoreError> {
        let sql = "UPDATE monitors SET next_run_at = ?3 WHERE number = ?1 AND next_run_at = ?2 \
                   AND status = 'active' AND deleted_at IS NULL";
        self.database().write_rows(Durability::Power, |transaction| {
            transaction.execute(sql, params![monitor, from_ms, to_ms]).map(|rows| rows == 1)
        })
    }
}

fn select_due() -> String {
    format!(
        "SELECT {MONITOR_COLUMNS} FROM monitors \
         WHERE status = 'active' AND deleted_at IS NULL AND next_run_at <= ?1 \
         ORDER BY next_run_at, number LIMIT ?2"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_reads_only_the_index_of_due_monitors() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for sql in [select_due().replace("?2", "9"), SELECT_NEXT.to_owned()] {
            let explain = format!("EXPLAIN QUERY PLAN {sql}");
            let plan: Vec<String> = store
                .database()
                .read(|connection| connection.query(&explain, params![5_u64], |row| row.get(3)))
                .unwrap();
            let of_monitors: Vec<_> = plan.iter().filter(|step| step.contains("monitors ")).collect();
            assert_eq!(of_monitors.len(), 1, "{plan:?}");
            assert!(of_monitors[0].starts_with("SEARCH monitors USING"), "{plan:?}");
            assert!(of_monitors[0].contains("INDEX monitors_due (next_run_at"), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
    }
}
