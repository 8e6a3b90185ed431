//! Removal of checks that expired or exceed the storage, and of deleted monitors.

use super::message_types::CONFIRMATION_RETENTION_MS;
use super::types::MonitorLimits;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{WebhookOwner, delete_delivered, has_no_events};

/// Maximum of rows that one transaction deletes, so that other writers do not wait for long.
const MAX_ROWS: u64 = 500;

impl Store {
    /// Deletes a part of what is no longer needed at `now_ms` (milliseconds since the Unix epoch): checks that expired or
    /// exceed [`MonitorLimits::max_check_bytes`], with their pages, and deleted monitors with everything that belongs to
    /// them. Returns whether there may be more to delete.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn sweep_monitors(&self, limits: &MonitorLimits, now_ms: u64) -> Result<bool, StoreError> {
        let _class = StatementClass::Background.enter();
        self.database().write_shared(Durability::Process, |transaction| {
            delete_delivered(transaction, WebhookOwner::CHECK)?;
            delete_old_confirmations(transaction, now_ms)?;
            if let Some(monitor) = deleted_monitor(transaction)? {
                return delete_monitor_part(transaction, monitor).map(|()| true);
            }
            let check = match expired_check(transaction, now_ms)? {
                Some(check) => Some(check),
                None => oldest_beyond_limit(transaction, limits)?,
            };
            match check {
                Some(check) => delete_check_part(transaction, check).map(|()| true),
                None => Ok(false),
            }
        })
    }
}

/// Deletes the records of emails that no limit counts any more.
fn delete_old_confirmations(transaction: &Transaction<'_>, now_ms: u64) -> sql::Result<u64> {
    let sql = "DELETE FROM monitor_confirmations WHERE number IN \
               (SELECT number FROM monitor_confirmations WHERE sent_at <= ?1 LIMIT ?2)";
    transaction.execute(sql, params![now_ms.saturating_sub(CONFIRMATION_RETENTION_MS), MAX_ROWS])
}

fn deleted_monitor(transaction: &Transaction<'_>) -> sql::Result<Option<i64>> {
    let sql = "SELECT number FROM monitors WHERE deleted_at IS NOT NULL ORDER BY number LIMIT 1";
    transaction.query_optional(sql, params![], |row| row.get(0))
}

/// Deletes a part of a deleted monitor: pages of a check, or the check without pages, or baselines, or the monitor.
fn delete_monitor_part(transaction: &Transaction<'_>, monitor: i64) -> sql::Result<()> {
    let sql = "SELECT number FROM monitor_checks WHERE monitor = ?1 ORDER BY number LIMIT 1";
    if let Some(check) = transaction.query_optional(sql, params![monitor], |row| row.get(0))? {
        return delete_check_part(transaction, check);
    }
    let sql = "DELETE FROM monitor_baselines WHERE monitor = ?1 AND (target, hash) IN \
               (SELECT target, hash FROM monitor_baselines WHERE monitor = ?1 LIMIT ?2)";
    if transaction.execute(sql, params![monitor, MAX_ROWS])? == 0 {
        transaction.execute("DELETE FROM monitors WHERE number = ?1", params![monitor])?;
    }
    Ok(())
}

fn expired_check(transaction: &Transaction<'_>, now_ms: u64) -> sql::Result<Option<i64>> {
    let has_no_events = has_no_events(WebhookOwner::CHECK);
    let sql = format!(
        "SELECT number FROM monitor_checks WHERE expires_at IS NOT NULL AND expires_at <= ?1 \
         AND {has_no_events} ORDER BY expires_at LIMIT 1"
    );
    transaction.query_optional(&sql, params![now_ms], |row| row.get(0))
}

/// Returns the oldest finished check, if the checks need more space than they may.
fn oldest_beyond_limit(transaction: &Transaction<'_>, limits: &MonitorLimits) -> sql::Result<Option<i64>> {
    let stored: u64 = transaction.query_row(
        "SELECT CAST(sum(check_bytes) AS BIGINT) FROM monitor_storage",
        params![],
        |row| row.get(0),
    )?;
    if stored <= limits.max_check_bytes {
        return Ok(None);
    }
    let has_no_events = has_no_events(WebhookOwner::CHECK);
    let sql = format!(
        "SELECT number FROM monitor_checks WHERE finished_at IS NOT NULL AND {has_no_events} \
         ORDER BY number LIMIT 1"
    );
    transaction.query_optional(&sql, params![], |row| row.get(0))
}

/// Deletes pages of a check, or the check if it has none.
fn delete_check_part(transaction: &Transaction<'_>, check: i64) -> sql::Result<()> {
    let sql = "DELETE FROM monitor_pages WHERE monitor_check = ?1 AND position IN \
               (SELECT position FROM monitor_pages WHERE monitor_check = ?1 LIMIT ?2)";
    if transaction.execute(sql, params![check, MAX_ROWS])? == 0 {
        transaction.execute("DELETE FROM monitor_checks WHERE number = ?1", params![check])?;
    }
    Ok(())
}
