//! Reads of monitors.

use super::row::{MONITOR_COLUMNS, monitor_by_number, monitor_record};
use super::types::{MonitorMetrics, MonitorRecord};
use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

impl Store {
    /// Returns a monitor of any team.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn monitor_by_id(&self, id: &str) -> Result<Option<MonitorRecord>, StoreError> {
        let sql = format!("SELECT {MONITOR_COLUMNS} FROM monitors WHERE id = ?1 AND deleted_at IS NULL");
        self.database().read(|connection| connection.query_optional(&sql, params![id], monitor_record))
    }

    /// Returns a monitor of a team.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn monitor(&self, team: &str, id: &str) -> Result<Option<MonitorRecord>, StoreError> {
        let sql = format!(
            "SELECT {MONITOR_COLUMNS} FROM monitors WHERE id = ?2 AND team = ?1 AND deleted_at IS NULL"
        );
        self.database().read(|connection| connection.query_optional(&sql, params![team, id], monitor_record))
    }

    /// Returns a monitor by its number.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn monitor_by_number(&self, number: i64) -> Result<Option<MonitorRecord>, StoreError> {
        self.database().read(|connection| monitor_by_number(connection, number))
    }

    /// Returns up to `max` monitors of a team after the first `skip`, the newest first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn monitors(&self, team: &str, skip: u64, max: u64) -> Result<Vec<MonitorRecord>, StoreError> {
        let sql = format!(
            "SELECT {MONITOR_COLUMNS} FROM monitors WHERE team = ?1 AND deleted_at IS NULL \
             ORDER BY number DESC LIMIT ?3 OFFSET ?2"
        );
        let (skip, max) = (skip.min(i64::MAX as u64), max.min(i64::MAX as u64));
        self.database().read(|connection| connection.query(&sql, params![team, skip, max], monitor_record))
    }

    /// Returns the numbers of monitors and checks of all teams at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn monitor_metrics(&self, now_ms: u64) -> Result<MonitorMetrics, StoreError> {
        // Each count reads an index only.
        let sql = "SELECT (SELECT count(*) FROM monitors WHERE status = 'active' AND deleted_at IS NULL), \
                   (SELECT count(*) FROM monitors WHERE status = 'paused' AND deleted_at IS NULL), \
                   (SELECT count(*) FROM monitors WHERE status = 'active' AND deleted_at IS NULL \
                   AND next_run_at <= ?1), (SELECT count(*) FROM monitor_checks WHERE finished_at IS NULL), \
                   (SELECT count(*) FROM monitor_messages)";
        self.database().read(|connection| {
            connection.query_row(sql, params![now_ms], |row| {
                Ok(MonitorMetrics {
                    active: row.get(0)?,
                    paused: row.get(1)?,
                    due: row.get(2)?,
                    running: row.get(3)?,
                    messages: row.get(4)?,
                })
            })
        })
    }
}
