//! Removal of events that are no longer delivered: those of cancelled jobs, and those that were pending for too long.

use std::time::Duration;

use crate::clock::add_ms;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// Maximum of rows that one transaction changes, so that other writers do not wait for long.
const MAX_ROWS: u64 = 500;

/// Counts of the events that a sweep removed from the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookSweepReport {
    /// Events of cancelled jobs that were dropped.
    pub dropped: u64,
    /// Events that became dead letters.
    pub expired: u64,
}

impl WebhookSweepReport {
    /// Returns whether another sweep may remove more.
    #[must_use]
    pub fn has_more(self) -> bool {
        self.dropped >= MAX_ROWS || self.expired >= MAX_ROWS
    }
}

/// A table whose rows own webhooks, and the column of `webhooks` that refers to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WebhookOwner {
    column: &'static str,
    table: &'static str,
}

impl WebhookOwner {
    pub(crate) const JOB: Self = Self { column: "job", table: "jobs" };
    pub(crate) const CHECK: Self = Self { column: "monitor_check", table: "monitor_checks" };
    pub(crate) const RUN: Self = Self { column: "agent_run", table: "agent_runs" };
}

impl Store {
    /// Drops the abandoned events of cancelled jobs, and makes dead letters of events that are pending for longer than
    /// `retention` at `now_ms` (milliseconds since the Unix epoch). Dead letters are stored for the same time again.
    /// Sweeps a part of the events.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn sweep_webhooks(&self, retention: Duration, now_ms: u64) -> Result<WebhookSweepReport, StoreError> {
        let _class = StatementClass::Background.enter();
        self.database().write_shared(Durability::Process, |transaction| {
            Ok(WebhookSweepReport {
                dropped: drop_abandoned(transaction)?,
                expired: expire(transaction, retention, now_ms)?,
            })
        })
    }
}

/// Returns the condition for a row of `owner` without pending events and dead letters of its webhook, which refer to it.
pub(crate) fn has_no_events(owner: WebhookOwner) -> String {
    let WebhookOwner { column, table } = owner;
    format!(
        "NOT EXISTS (SELECT 1 FROM webhooks JOIN webhook_events AS events ON events.webhook = webhooks.number \
         WHERE webhooks.{column} = {table}.number)"
    )
}

/// Deletes webhooks of finished rows of `owner` whose events are all delivered: they contain headers of the team, which
/// need not be stored as long as the row.
pub(crate) fn delete_delivered(transaction: &Transaction<'_>, owner: WebhookOwner) -> sql::Result<u64> {
    let WebhookOwner { column, table } = owner;
    let sql = format!(
        "DELETE FROM webhooks WHERE number IN (SELECT webhooks.number FROM webhooks \
         JOIN {table} ON {table}.number = webhooks.{column} \
         WHERE webhooks.{column} IS NOT NULL AND {table}.finished_at IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM webhook_events AS events WHERE events.webhook = webhooks.number) LIMIT ?1)"
    );
    transaction.execute(&sql, params![MAX_ROWS])
}

fn drop_abandoned(transaction: &Transaction<'_>) -> sql::Result<u64> {
    transaction.execute(
        "DELETE FROM webhook_events WHERE number IN (SELECT events.number FROM webhooks \
             JOIN webhook_events AS events ON events.webhook = webhooks.number AND events.forget_at IS NULL \
             AND events.since <= webhooks.dropped_at WHERE webhooks.waiting > 0 LIMIT ?1)",
        params![MAX_ROWS],
    )
}

fn expire(transaction: &Transaction<'_>, retention: Duration, now_ms: u64) -> sql::Result<u64> {
    let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let Some(oldest_ms) = now_ms.checked_sub(retention_ms) else { return Ok(0) };
    let expires_at_ms = add_ms(now_ms, retention);
    // Only for events without an attempt: the error of the last attempt is more useful.
    let error = format!("not delivered within {} hours", retention.as_secs() / 3_600);
    transaction.execute(
        "UPDATE webhook_events SET forget_at = ?2, error = coalesce(error, ?3) WHERE number IN \
             (SELECT number FROM webhook_events WHERE forget_at IS NULL AND since <= ?1 LIMIT ?4)",
        params![oldest_ms, expires_at_ms, error, MAX_ROWS],
    )
}
