//! Reads of the rows of monitors and checks.

use sha2::{Digest, Sha256};

use super::message_types::RecipientRecord;
use super::types::{CheckRecord, CheckSummary, MonitorRecord};
use crate::key::KeyId;
use crate::sql::{self, Connection, Row, params};

/// Columns of the table `monitors`, and the identifier of the unfinished check.
pub(super) const MONITOR_COLUMNS: &str = "monitors.number, monitors.id, monitors.team, monitors.key, \
     monitors.status, monitors.definition, monitors.revision, monitors.next_run_at, monitors.last_run_at, \
     (SELECT current.id FROM monitor_checks AS current \
     WHERE current.monitor = monitors.number AND current.finished_at IS NULL), \
     monitors.last_pages, monitors.last_same, monitors.last_changed, monitors.last_added, monitors.last_removed, \
     monitors.last_failed, monitors.created_at, monitors.updated_at";

pub(super) fn monitor_record(row: &Row<'_>) -> sql::Result<MonitorRecord> {
    let has_summary = row.get::<Option<u64>>(10)?.is_some();
    Ok(MonitorRecord {
        number: row.get(0)?,
        id: row.get(1)?,
        team: row.get(2)?,
        key: row.get::<Option<String>>(3)?.map(KeyId::new),
        status: row.get(4)?,
        definition: row.get(5)?,
        revision: row.get(6)?,
        next_run_ms: row.get(7)?,
        last_run_ms: row.get(8)?,
        current_check: row.get(9)?,
        last_summary: if has_summary { Some(summary(row, 10)?) } else { None },
        created_at_ms: row.get(16)?,
        updated_at_ms: row.get(17)?,
    })
}

/// Returns a monitor that is not deleted.
pub(super) fn monitor_by_number(connection: &Connection, number: i64) -> sql::Result<Option<MonitorRecord>> {
    let sql = format!("SELECT {MONITOR_COLUMNS} FROM monitors WHERE number = ?1 AND deleted_at IS NULL");
    connection.query_optional(&sql, params![number], monitor_record)
}

const CHECK_COLUMNS: &str = "checks.number, checks.id, checks.monitor, monitors.id, monitors.team, \
     monitors.key, checks.status, checks.cause, checks.definition, checks.scheduled_for, checks.started_at, \
     checks.finished_at, checks.estimated_credits, checks.reserved_credits, checks.actual_credits, checks.billing, \
     checks.pages, checks.same, checks.changed, checks.added, checks.removed, checks.failed, checks.progress, \
     checks.notifications, checks.error, checks.created_at, checks.updated_at";

/// Returns the checks of monitors that are not deleted, for which `condition` holds. It may end with an order and a
/// limit.
pub(super) fn checks(
    connection: &Connection,
    condition: &str,
    values: sql::Params<'_>,
) -> sql::Result<Vec<CheckRecord>> {
    let sql = format!(
        "SELECT {CHECK_COLUMNS} FROM monitor_checks AS checks JOIN monitors ON monitors.number = checks.monitor \
         WHERE monitors.deleted_at IS NULL AND {condition}"
    );
    connection.query(&sql, values, check_record)
}

/// Returns a check of a monitor that is not deleted.
pub(super) fn check_by_number(connection: &Connection, number: i64) -> sql::Result<Option<CheckRecord>> {
    Ok(checks(connection, "checks.number = ?1", params![number])?.pop())
}

fn check_record(row: &Row<'_>) -> sql::Result<CheckRecord> {
    Ok(CheckRecord {
        number: row.get(0)?,
        id: row.get(1)?,
        monitor: row.get(2)?,
        monitor_id: row.get(3)?,
        team: row.get(4)?,
        key: row.get::<Option<String>>(5)?.map(KeyId::new),
        status: row.get(6)?,
        trigger: row.get(7)?,
        definition: row.get(8)?,
        scheduled_for_ms: row.get(9)?,
        started_at_ms: row.get(10)?,
        finished_at_ms: row.get(11)?,
        estimated_credits: row.get(12)?,
        reserved_credits: row.get(13)?,
        actual_credits: row.get(14)?,
        billing: row.get(15)?,
        summary: summary(row, 16)?,
        progress: row.get(22)?,
        notifications: row.get(23)?,
        error: row.get(24)?,
        created_at_ms: row.get(25)?,
        updated_at_ms: row.get(26)?,
    })
}

/// Reads a summary from six columns, the first of which is `column`.
fn summary(row: &Row<'_>, column: usize) -> sql::Result<CheckSummary> {
    Ok(CheckSummary {
        total: row.get(column)?,
        same: row.get(column + 1)?,
        changed: row.get(column + 2)?,
        new: row.get(column + 3)?,
        removed: row.get(column + 4)?,
        error: row.get(column + 5)?,
    })
}

/// Returns whether a replica may work on a check that is unfinished. A process that has not joined may work on every
/// check.
pub(super) fn is_workable(connection: &Connection, check: i64, replica: Option<i64>) -> sql::Result<bool> {
    let sql = "SELECT 1 FROM monitor_checks WHERE number = ?1 AND finished_at IS NULL \
               AND (replica = ?2 OR ?2 IS NULL)";
    connection.exists(sql, params![check, replica])
}

/// Returns the hash that identifies a page: URLs can be longer than the entries of an index.
pub(super) fn page_hash(target: &str, url: &str) -> [u8; 32] {
    let length = target.len() as u64;
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    hash.update(target);
    hash.update(url);
    hash.finalize().into()
}

/// Columns of the table `monitor_recipients`, which is `recipients` in the statement.
pub(super) const RECIPIENT_COLUMNS: &str = "recipients.number, recipients.id, recipients.monitor, \
     recipients.address, recipients.status, recipients.source, recipients.is_confirmation_sent";

/// Reads a recipient from columns, the first of which is `column`.
pub(super) fn recipient_record(row: &Row<'_>, column: usize) -> sql::Result<RecipientRecord> {
    Ok(RecipientRecord {
        number: row.get(column)?,
        id: row.get(column + 1)?,
        monitor: row.get(column + 2)?,
        address: row.get(column + 3)?,
        status: row.get(column + 4)?,
        source: row.get(column + 5)?,
        is_confirmation_sent: row.get(column + 6)?,
    })
}
