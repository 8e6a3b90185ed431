//! Writing of recorded usage to the database. A batch counts once, however often it is written.

use serde_json::{Value, json};

use super::grant;
use super::usage::{DAY_MS, DailySum, LogRow, Pending, SumKey, Usage, UsageItem, UsageStage};
use crate::feedback;
use crate::key::KeyId;
use crate::sql::{self, Transaction, params};

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

/// Writes a batch, unless it was written before.
pub(super) fn write(
    transaction: &Transaction<'_>,
    journal: &str,
    batch: &Batch,
    limits: UsageLimits,
) -> sql::Result<()> {
    let is_new = transaction.execute(
        "INSERT INTO spenders (journal, batch, applied) VALUES (?1, ?2, ?3) \
             ON CONFLICT (journal) DO UPDATE SET batch = excluded.batch, applied = excluded.applied \
             WHERE spenders.batch < excluded.batch",
        params![journal, batch.number, batch.last_charge],
    )?;
    if is_new == 0 {
        return Ok(());
    }
    write_pending(transaction, &batch.pending, limits)
}

/// Writes recorded usage.
pub(super) fn write_pending(
    transaction: &Transaction<'_>,
    pending: &Pending,
    limits: UsageLimits,
) -> sql::Result<()> {
    let Pending { sums, log_rows, spent, returned } = pending;
    for (lease, credits) in spent {
        grant::spend(transaction, *lease, *credits)?;
    }
    for lease in returned {
        grant::return_lease(transaction, *lease)?;
    }
    for (key, sum) in sums {
        add_to_sum(transaction, key, sum)?;
    }
    let count = usize::try_from(limits.log_rows).unwrap_or(usize::MAX).min(log_rows.len());
    for row in &log_rows[log_rows.len() - count..] {
        insert_log_row(transaction, row)?;
    }
    if count > 0 {
        transaction.execute(
            "DELETE FROM usage_log WHERE id <= (SELECT max(id) FROM usage_log) - ?1",
            params![i64::try_from(limits.log_rows).unwrap_or(i64::MAX)],
        )?;
    }
    Ok(())
}

/// Deletes usage that exceeds the limits.
pub(super) fn trim(transaction: &Transaction<'_>, limits: UsageLimits, now_ms: u64) -> sql::Result<()> {
    let oldest_ms = now_ms.saturating_sub(limits.log_days.saturating_mul(DAY_MS));
    transaction.execute("DELETE FROM usage_log WHERE at < ?1", params![oldest_ms])?;
    transaction.execute(
        "DELETE FROM usage_log WHERE id <= (SELECT max(id) FROM usage_log) - ?1",
        params![i64::try_from(limits.log_rows).unwrap_or(i64::MAX)],
    )?;
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
    transaction.execute(sql, values).map(drop)
}

fn insert_log_row(transaction: &Transaction<'_>, row: &LogRow) -> sql::Result<()> {
    let LogRow { at_ms, team, charged, usage } = row;
    let Usage {
        key,
        request,
        result,
        operation,
        api_version,
        status,
        elapsed,
        items,
        stages,
        query,
        retention,
    } = usage;
    let micros = |elapsed: &std::time::Duration| u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    let items: Value =
        items.iter().map(|UsageItem { item, count, credits }| json!([item, count, credits])).collect();
    let stages: Value =
        stages.iter().map(|UsageStage { stage, elapsed }| json!([stage, micros(elapsed)])).collect();
    let sql = "INSERT INTO usage_log (at, team, key, request, operation, status, took_us, credits, forgiven, \
               items, stages, retention, query, result, api_version) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    transaction.execute(
        sql,
        params![
            at_ms,
            team.as_deref(),
            key.as_ref().map(KeyId::as_str),
            (!request.is_empty()).then_some(request),
            operation,
            status,
            micros(elapsed),
            charged,
            usage.price().saturating_sub(*charged),
            items.to_string(),
            stages.to_string(),
            retention.as_str(),
            query,
            result.as_deref().map(feedback::result_digest),
            api_version.as_str(),
        ],
    )?;
    Ok(())
}
