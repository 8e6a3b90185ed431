//! Writing of recorded usage to the database. A batch counts once, however often it is written.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::grant;
use super::usage::{DAY_MS, DailySum, LogRow, Pending, SumKey, UsageItem, UsageStage};
use crate::feedback;
use crate::key::KeyId;
use crate::sql::{self, SqlValues, Transaction, insert_rows, params, sql_values};

/// Maximum of rows of the log that one transaction deletes.
const TRIMMED_ROWS: u64 = 5_000;

/// Limits of stored usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageLimits {
    /// Maximum of requests in the log; 0 disables the log.
    pub log_rows: u64,
    /// Number of days for which a request stays in the log.
    pub log_days: u64,
    /// Number of days for which daily sums are stored.
    pub daily_days: u64,
    /// Number of days for which feedback is stored.
    pub feedback_days: u64,
}

impl Default for UsageLimits {
    fn default() -> Self {
        Self { log_rows: 100_000, log_days: 30, daily_days: 400, feedback_days: 365 }
    }
}

/// Usage that one transaction writes.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: u64,
    /// Number of the last charge in the journal that the batch contains.
    pub(super) last_charge: u64,
    pub(super) pending: Pending,
}

/// Records that a batch is written. Returns false if it was written before.
pub(super) fn begin_batch(transaction: &Transaction<'_>, journal: &str, batch: &Batch) -> sql::Result<bool> {
    let is_new = transaction.execute(
        "INSERT INTO spenders (journal, batch, applied) VALUES (?1, ?2, ?3) \
             ON CONFLICT (journal) DO UPDATE SET batch = excluded.batch, applied = excluded.applied \
             WHERE spenders.batch < excluded.batch",
        params![journal, batch.number, batch.last_charge],
    )?;
    Ok(is_new > 0)
}

/// Writes recorded usage with the commit of a transaction. Returns the number of its rows in the log.
pub(super) fn write_pending(
    transaction: &Transaction<'_>,
    pending: &Pending,
    max_log_rows: u64,
) -> sql::Result<u64> {
    let Pending { sums, log_rows, spent, returned } = pending;
    let count = usize::try_from(max_log_rows).unwrap_or(usize::MAX).min(log_rows.len());
    let rows: Vec<SqlValues<'_>> = log_rows[log_rows.len() - count..].iter().map(log_values).collect();
    insert_rows(transaction, LOG, &rows)?;
    // Rows that other transactions change follow last, always in the same order.
    for lease in spent.keys().chain(returned).collect::<BTreeSet<_>>() {
        if let Some(credits) = spent.get(lease) {
            grant::spend(transaction, lease.lease, *credits)?;
        }
        if returned.contains(lease) {
            grant::return_lease(transaction, lease.lease)?;
        }
    }
    for (key, sum) in sums {
        add_to_sum(transaction, key, sum)?;
    }
    Ok(count as u64)
}

/// Deletes rows of the log beyond its limit. Returns whether there may be more.
pub(super) fn trim_log(transaction: &Transaction<'_>, max_rows: u64) -> sql::Result<bool> {
    let sql = format!(
        "DELETE FROM usage_log WHERE id IN (SELECT id FROM usage_log \
         WHERE id <= (SELECT max(id) FROM usage_log) - ?1 ORDER BY id LIMIT ?2{})",
        transaction.skip_locked()
    );
    let max_rows = i64::try_from(max_rows).unwrap_or(i64::MAX);
    Ok(transaction.execute(&sql, params![max_rows, TRIMMED_ROWS])? == TRIMMED_ROWS)
}

/// Deletes usage that exceeds the limits.
pub(super) fn trim(transaction: &Transaction<'_>, limits: UsageLimits, now_ms: u64) -> sql::Result<()> {
    let oldest_ms = now_ms.saturating_sub(limits.log_days.saturating_mul(DAY_MS));
    transaction.execute("DELETE FROM usage_log WHERE at < ?1", params![oldest_ms])?;
    let oldest_day = (now_ms / DAY_MS).saturating_sub(limits.daily_days);
    transaction.execute("DELETE FROM usage_daily WHERE day < ?1", params![oldest_day])?;
    feedback::trim(transaction, now_ms.saturating_sub(limits.feedback_days.saturating_mul(DAY_MS)))
}

/// Adds to a daily sum.
pub(super) fn add_to_sum(transaction: &Transaction<'_>, key: &SumKey, sum: &DailySum) -> sql::Result<()> {
    let SumKey { day, team, key, operation } = key;
    let DailySum { requests, failed, credits, last_success_ms } = sum;
    let sql = "INSERT INTO usage_daily (day, team, key, operation, requests, failed, credits, last_success_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (team, day, key, operation) DO UPDATE SET \
               requests = usage_daily.requests + excluded.requests, failed = usage_daily.failed + excluded.failed, \
               credits = usage_daily.credits + excluded.credits, \
               last_success_at = CASE WHEN usage_daily.last_success_at > coalesce(excluded.last_success_at, 0) \
               THEN usage_daily.last_success_at ELSE excluded.last_success_at END";
    let key = key.as_ref().map_or("", KeyId::as_str);
    let values = params![day, &**team, key, operation, requests, failed, credits, last_success_ms];
    transaction.execute_at_commit(sql, values)
}

const LOG: &str = "usage_log (at, team, key, request, operation, status, took_us, credits, forgiven, \
                   items, stages, retention, query, result, api_version)";

fn log_values(row: &LogRow) -> SqlValues<'_> {
    let LogRow { at_ms, team, charged, usage } = row;
    let micros = |elapsed: &std::time::Duration| u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    let items: Value =
        usage.items.iter().map(|UsageItem { item, count, credits }| json!([item, count, credits])).collect();
    let stages: Value =
        usage.stages.iter().map(|UsageStage { stage, elapsed }| json!([stage, micros(elapsed)])).collect();
    sql_values![
        at_ms,
        team.as_deref(),
        usage.key.as_ref().map(KeyId::as_str),
        (!usage.request.is_empty()).then_some(&usage.request),
        usage.operation,
        usage.status,
        micros(&usage.elapsed),
        charged,
        usage.price().saturating_sub(*charged),
        items.to_string(),
        stages.to_string(),
        usage.retention.as_str(),
        &usage.query,
        usage.result.as_deref().map(feedback::result_digest),
        usage.api_version.as_str(),
    ]
}
