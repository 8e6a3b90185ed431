//! Reads of checks, and their progress.

use super::row::{check_by_number, checks, is_workable};
use super::types::{CheckDeliveries, CheckRecord, CheckStatus};
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

impl Store {
    /// Returns up to `max` checks of a monitor after the first `skip`, the newest first, with one status or with all.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn checks(
        &self,
        monitor: i64,
        status: Option<CheckStatus>,
        skip: u64,
        max: u64,
    ) -> Result<Vec<CheckRecord>, StoreError> {
        let condition = "checks.monitor = ?1 AND (checks.status = ?2 OR ?2 IS NULL) \
                         ORDER BY checks.number DESC LIMIT ?4 OFFSET ?3";
        let (skip, max) = (skip.min(i64::MAX as u64), max.min(i64::MAX as u64));
        let status = status.map(CheckStatus::as_str);
        self.database().read(|connection| checks(connection, condition, params![monitor, status, skip, max]))
    }

    /// Returns a check of a monitor.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn check(&self, monitor: i64, id: &str) -> Result<Option<CheckRecord>, StoreError> {
        let condition = "checks.id = ?2 AND checks.monitor = ?1";
        let found = self.database().read(|connection| checks(connection, condition, params![monitor, id]))?;
        Ok(found.into_iter().next())
    }

    /// Returns a check by its number.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn check_by_number(&self, number: i64) -> Result<Option<CheckRecord>, StoreError> {
        self.database().read(|connection| check_by_number(connection, number))
    }

    /// Stores the progress of a check, as JSON. `status` is [`CheckStatus::Queued`] or [`CheckStatus::Running`]. Returns
    /// false if the check has ended or was deleted, or another replica owns it.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn set_check_progress(
        &self,
        check: i64,
        status: CheckStatus,
        progress: &str,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let replica = self.membership().id();
        let started_at_ms = match status {
            CheckStatus::Running => Some(now_ms),
            CheckStatus::Queued
            | CheckStatus::Completed
            | CheckStatus::Partial
            | CheckStatus::Failed
            | CheckStatus::SkippedOverlap
            | CheckStatus::SkippedNoCredits => None,
        };
        self.database().write_locked(Locked::Check(check), Durability::Process, |transaction| {
            if !is_workable(transaction, check, replica)? {
                return Ok(false);
            }
            let sql = "UPDATE monitor_checks SET status = ?2, started_at = coalesce(started_at, ?3), progress = ?4, \
                       updated_at = ?5 WHERE number = ?1";
            transaction.execute(sql, params![check, status.as_str(), started_at_ms, progress, now_ms])?;
            Ok(true)
        })
    }

    /// Stores the deliveries of the notifications of a check, as JSON, also after its end. Returns false if the check was
    /// deleted.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn set_check_notifications(
        &self,
        check: i64,
        notifications: &str,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE monitor_checks SET notifications = ?2, updated_at = ?3 WHERE number = ?1 \
                   AND EXISTS (SELECT 1 FROM monitors WHERE monitors.number = monitor_checks.monitor \
                   AND monitors.deleted_at IS NULL)";
        self.database().write_locked(Locked::Check(check), Durability::Process, |transaction| {
            Ok(transaction.execute(sql, params![check, notifications, now_ms])? == 1)
        })
    }

    /// Returns the events of a check that are not delivered. All are zero if the check has no webhook, or all its events
    /// were delivered.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn check_deliveries(&self, check: i64) -> Result<CheckDeliveries, StoreError> {
        let events = "FROM webhooks JOIN webhook_events AS events ON events.webhook = webhooks.number \
                      WHERE webhooks.monitor_check = ?1";
        self.database().read(|connection| {
            let sql = format!(
                "SELECT count(*) FILTER (WHERE events.forget_at IS NULL), \
                 count(*) FILTER (WHERE events.forget_at IS NOT NULL) {events}"
            );
            let (pending, dead_letters) =
                connection.query_row(&sql, params![check], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let sql = format!(
                "SELECT events.status, events.error {events} AND events.error IS NOT NULL \
                 ORDER BY events.tried_at DESC, events.number DESC LIMIT 1"
            );
            let last: Option<(Option<u16>, Option<String>)> =
                connection.query_optional(&sql, params![check], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let (status, error) = last.unwrap_or_default();
            Ok(CheckDeliveries { pending, dead_letters, status, error })
        })
    }
}
