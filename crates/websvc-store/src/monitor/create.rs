//! Creating, updating and deleting monitors.

use super::recipient::set_recipients;
use super::row::{MONITOR_COLUMNS, monitor_by_number, monitor_record};
use super::types::{CreateMonitorOutcome, MonitorLimits, MonitorRecord, MonitorUpdate, NewMonitor};
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::key::KeyId;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

impl Store {
    /// Creates a monitor at `now_ms` (milliseconds since the Unix epoch). It survives a power failure.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn create_monitor(
        &self,
        monitor: &NewMonitor,
        limits: &MonitorLimits,
        now_ms: u64,
    ) -> Result<CreateMonitorOutcome, StoreError> {
        let NewMonitor { id, team, key, definition, next_run_ms, status, recipients } = monitor;
        self.database().write_locked(Locked::Team(team), Durability::Power, |transaction| {
            let count = "SELECT count(*) FROM monitors WHERE team = ?1 AND deleted_at IS NULL";
            let stored: u64 = transaction.query_row(count, params![team], |row| row.get(0))?;
            if stored >= limits.max_monitors {
                return Ok(CreateMonitorOutcome::TooMany);
            }
            let sql = "INSERT INTO monitors \
                       (id, team, key, status, definition, next_run_at, created_at, updated_at) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) RETURNING number";
            let key = key.as_ref().map(KeyId::as_str);
            let values = params![id, team, key, status.as_str(), definition, next_run_ms, now_ms];
            let number: i64 = transaction.query_row(sql, values, |row| row.get(0))?;
            if let Some(recipients) = recipients {
                set_recipients(transaction, number, recipients, now_ms)?;
            }
            let sql = format!("SELECT {MONITOR_COLUMNS} FROM monitors WHERE number = ?1");
            transaction.query_row(&sql, params![number], monitor_record).map(CreateMonitorOutcome::Created)
        })
    }

    /// Updates a monitor whose last update has the number `revision`. Returns the updated monitor; `None` if there was
    /// another update in the meantime, or the monitor was deleted.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn update_monitor(
        &self,
        number: i64,
        revision: u64,
        update: &MonitorUpdate,
        now_ms: u64,
    ) -> Result<Option<MonitorRecord>, StoreError> {
        let MonitorUpdate { definition, status, next_run_ms, recipients } = update;
        self.database().write_locked(Locked::Monitor(number), Durability::Power, |transaction| {
            let sql = "UPDATE monitors SET definition = ?3, status = ?4, next_run_at = ?5, updated_at = ?6, \
                       revision = revision + 1 WHERE number = ?1 AND revision = ?2 AND deleted_at IS NULL";
            let values = params![number, revision, definition, status.as_str(), next_run_ms, now_ms];
            if transaction.execute(sql, values)? == 0 {
                return Ok(None);
            }
            if let Some(recipients) = recipients {
                set_recipients(transaction, number, recipients, now_ms)?;
            }
            monitor_by_number(transaction, number)
        })
    }

    /// Deletes a monitor of a team. It is hidden at once, its unfinished check ends, and the pending events of its checks
    /// are dropped. [`sweep_monitors`](Self::sweep_monitors) deletes the rows. Returns false if there is no such monitor.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn delete_monitor(&self, team: &str, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        self.database().write(Durability::Power, |transaction| {
            let sql = "UPDATE monitors SET deleted_at = ?3 WHERE id = ?2 AND team = ?1 AND deleted_at IS NULL \
                       RETURNING number";
            let number: Option<i64> =
                transaction.query_optional(sql, params![team, id, now_ms], |row| row.get(0))?;
            if let Some(number) = number {
                end_checks(transaction, number, now_ms)?;
            }
            Ok(number.is_some())
        })
    }
}

/// Ends the unfinished check of a deleted monitor, and abandons the pending events and messages of all its checks.
fn end_checks(transaction: &Transaction<'_>, monitor: i64, now_ms: u64) -> sql::Result<()> {
    transaction.execute("DELETE FROM monitor_messages WHERE monitor = ?1", params![monitor])?;
    let sql = "UPDATE monitor_checks SET status = 'failed', error = 'the monitor was deleted', finished_at = ?2, \
               expires_at = ?2, replica = NULL WHERE monitor = ?1 AND finished_at IS NULL";
    transaction.execute(sql, params![monitor, now_ms])?;
    let sql = "UPDATE webhooks SET dropped_at = ?2 WHERE waiting > 0 AND number IN (SELECT webhooks.number \
               FROM monitor_checks AS checks JOIN webhooks ON webhooks.monitor_check = checks.number \
               WHERE checks.monitor = ?1)";
    transaction.execute(sql, params![monitor, now_ms]).map(drop)
}
