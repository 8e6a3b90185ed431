//! The end of a check.

use serde::Serialize;

use super::message::enqueue_check_message;
use super::row::{check_by_number, is_workable, monitor_by_number};
use super::types::{CheckRecord, CheckStatus, CheckSummary, FinishedCheck, MonitorRecord};
use crate::database::{Durability, Locked};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{DataEvent, JobEvent, enqueue_data, subscribed_webhook};

/// Data of the event [`JobEvent::MonitorCheckCompleted`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompletedData<'a> {
    monitor_id: &'a str,
    check_id: &'a str,
    status: &'a str,
    summary: SummaryData,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryData {
    total_pages: u64,
    same: u64,
    changed: u64,
    new: u64,
    removed: u64,
    error: u64,
}

impl Store {
    /// Ends a check at `now_ms` (milliseconds since the Unix epoch), which is stored until `retention_until_ms`. Enqueues
    /// an event for its webhook, unless it was skipped. Returns its monitor; `None` if the check had ended or was
    /// deleted, or another replica owns it.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn finish_check(
        &self,
        check: i64,
        finished: &FinishedCheck,
        retention_until_ms: u64,
        now_ms: u64,
    ) -> Result<Option<MonitorRecord>, StoreError> {
        let replica = self.membership().id();
        self.database().write_locked(Locked::Check(check), Durability::Power, |transaction| {
            if !finished.status.is_finished() || !is_workable(transaction, check, replica)? {
                return Ok(None);
            }
            end(transaction, check, finished, retention_until_ms, now_ms)?;
            let Some(record) = check_by_number(transaction, check)? else { return Ok(None) };
            if !record.status.is_skipped() {
                set_last_check(transaction, &record, now_ms)?;
                enqueue_completed(transaction, &record, now_ms)?;
            }
            if finished.has_messages {
                enqueue_check_message(transaction, &record, now_ms)?;
            }
            monitor_by_number(transaction, record.monitor)
        })
    }
}

fn end(
    transaction: &Transaction<'_>,
    check: i64,
    finished: &FinishedCheck,
    retention_until_ms: u64,
    now_ms: u64,
) -> sql::Result<()> {
    let FinishedCheck { status, error, actual_credits, billing, notifications, has_messages: _ } = finished;
    let sql = "UPDATE monitor_checks SET status = ?2, error = ?3, actual_credits = ?4, billing = ?5, \
               notifications = ?6, finished_at = ?7, updated_at = ?7, expires_at = ?8, replica = NULL \
               WHERE number = ?1";
    let (status, billing) = (status.as_str(), billing.as_str());
    let values =
        params![check, status, error, actual_credits, billing, notifications, now_ms, retention_until_ms];
    transaction.execute(sql, values).map(drop)
}

fn set_last_check(transaction: &Transaction<'_>, check: &CheckRecord, now_ms: u64) -> sql::Result<()> {
    let CheckSummary { total, same, changed, new, removed, error } = check.summary;
    let sql = "UPDATE monitors SET last_run_at = ?2, last_pages = ?3, last_same = ?4, last_changed = ?5, \
               last_added = ?6, last_removed = ?7, last_failed = ?8 WHERE number = ?1";
    let values = params![check.monitor, now_ms, total, same, changed, new, removed, error];
    transaction.execute(sql, values).map(drop)
}

fn enqueue_completed(transaction: &Transaction<'_>, check: &CheckRecord, now_ms: u64) -> sql::Result<()> {
    let event = JobEvent::MonitorCheckCompleted;
    let Some(webhook) = subscribed_webhook(transaction, check.number, event)? else { return Ok(()) };
    let CheckSummary { total, same, changed, new, removed, error } = check.summary;
    let data = CompletedData {
        monitor_id: &check.monitor_id,
        check_id: &check.id,
        status: check.status.as_str(),
        summary: SummaryData { total_pages: total, same, changed, new, removed, error },
    };
    let data =
        CompressedDocument::new(&serde_json::to_vec(&data).expect("texts and numbers can be serialized"));
    let is_success = check.status == CheckStatus::Completed;
    enqueue_data(transaction, webhook, &DataEvent { event, data: &data, is_success }, now_ms)
}
