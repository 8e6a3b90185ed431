//! The start of a check.

use super::row::{check_by_number, monitor_by_number};
use super::types::{
    BillingStatus, CheckRecord, CheckStatus, CheckTrigger, MonitorRecord, MonitorStatus, NewCheck,
    StartCheckOutcome,
};
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{WebhookSource, WebhookSubject, register};

impl Store {
    /// Starts a check at `now_ms` (milliseconds since the Unix epoch): it is queued, and this replica owns it, if it has
    /// [joined](Self::join_replicas). A scheduled check starts only while the monitor is still due at the same time, so
    /// that of several replicas exactly one starts it. The check survives a power failure.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn start_check(&self, check: &NewCheck, now_ms: u64) -> Result<StartCheckOutcome, StoreError> {
        let replica = self.membership().owner_of_new();
        self.database().write_locked(Locked::Monitor(check.monitor), Durability::Power, |transaction| {
            start(transaction, check, replica, now_ms)
        })
    }
}

fn start(
    transaction: &Transaction<'_>,
    check: &NewCheck,
    replica: Option<i64>,
    now_ms: u64,
) -> sql::Result<StartCheckOutcome> {
    let Some(monitor) = monitor_by_number(transaction, check.monitor)? else {
        return Ok(StartCheckOutcome::NotFound);
    };
    match monitor.status {
        MonitorStatus::Active => {}
        MonitorStatus::Paused => return Ok(StartCheckOutcome::Paused),
    }
    let is_scheduled = match check.trigger {
        CheckTrigger::Scheduled if check.scheduled_for_ms.is_none() => {
            return Ok(StartCheckOutcome::NotFound);
        }
        CheckTrigger::Scheduled if monitor.next_run_ms != check.scheduled_for_ms => {
            return Ok(StartCheckOutcome::NotFound);
        }
        CheckTrigger::Scheduled => true,
        CheckTrigger::Manual => false,
    };
    if is_scheduled {
        let sql = "UPDATE monitors SET next_run_at = ?2 WHERE number = ?1";
        transaction.execute(sql, params![monitor.number, check.next_run_ms])?;
    }
    if let Some(current) = monitor.current_check.clone() {
        if is_scheduled {
            skip(transaction, check, &monitor, &current, now_ms)?;
        }
        return Ok(StartCheckOutcome::Overlap { current });
    }
    let number = insert(transaction, check, &monitor, CheckStatus::Queued, replica, now_ms)?;
    if let Some(webhook) = &check.webhook {
        let (id, team) = (check.id.as_str(), monitor.team.as_str());
        let subject = WebhookSubject { number, source: WebhookSource::Monitor, id, team };
        register(transaction, subject, webhook, now_ms)?;
    }
    let record: Option<CheckRecord> = check_by_number(transaction, number)?;
    Ok(record.map_or(StartCheckOutcome::NotFound, StartCheckOutcome::Started))
}

/// Stores the record of a check that was due while the check `current` ran.
fn skip(
    transaction: &Transaction<'_>,
    check: &NewCheck,
    monitor: &MonitorRecord,
    current: &str,
    now_ms: u64,
) -> sql::Result<()> {
    let skipped = NewCheck { billing: BillingStatus::NotApplicable, ..check.clone() };
    let number = insert(transaction, &skipped, monitor, CheckStatus::SkippedOverlap, None, now_ms)?;
    let error = format!("check {current} had not ended when this one was due");
    transaction
        .execute("UPDATE monitor_checks SET error = ?2 WHERE number = ?1", params![number, error])
        .map(drop)
}

/// Inserts a check, and returns its number.
fn insert(
    transaction: &Transaction<'_>,
    check: &NewCheck,
    monitor: &MonitorRecord,
    status: CheckStatus,
    replica: Option<i64>,
    now_ms: u64,
) -> sql::Result<i64> {
    let NewCheck {
        id,
        monitor: _,
        trigger,
        scheduled_for_ms,
        next_run_ms: _,
        estimated_credits,
        billing,
        webhook: _,
        retention_until_ms,
    } = check;
    let reserved = match billing {
        BillingStatus::Reserved => *estimated_credits,
        BillingStatus::NotApplicable
        | BillingStatus::Confirmed
        | BillingStatus::Released
        | BillingStatus::Failed => 0,
    };
    let finished_at_ms = status.is_finished().then_some(now_ms);
    let expires_at_ms = status.is_finished().then_some(*retention_until_ms);
    transaction.query_row(
        // Without an owner, if the replica was deleted because it was silent for too long.
        "INSERT INTO monitor_checks (id, monitor, status, cause, definition, scheduled_for, finished_at, expires_at, \
             estimated_credits, reserved_credits, billing, bytes, created_at, updated_at, replica) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13, \
             (SELECT replicas.id FROM replicas WHERE replicas.id = ?14)) RETURNING number",
        params![
            id,
            monitor.number,
            status.as_str(),
            trigger.as_str(),
            monitor.definition,
            scheduled_for_ms,
            finished_at_ms,
            expires_at_ms,
            estimated_credits,
            reserved,
            billing.as_str(),
            monitor.definition.len(),
            now_ms,
            replica,
        ],
        |row| row.get(0),
    )
}
