//! Writes recorded usage as rows: one transaction per batch, which counts once however often it is tried.

use rusqlite::{Transaction, params};
use serde_json::{Value, json};

use super::grant;
use super::usage::{DailySum, LogRow, Pending, SumKey, Usage, UsageItem, UsageStage};
use crate::key::KeyId;

/// How much of the usage is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageLimits {
    /// Requests in the log; with 0 there is no log.
    pub log_rows: u64,
    /// Days for which a request is in the log.
    pub log_days: u64,
    /// Days for which the sums of a day are kept.
    pub daily_days: u64,
}

impl Default for UsageLimits {
    fn default() -> Self {
        Self { log_rows: 100_000, log_days: 30, daily_days: 400 }
    }
}

/// A part of the usage that is written at once.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: u64,
    /// The last charge of the journal that is in it.
    pub(super) last_charge: u64,
    pub(super) pending: Pending,
}

/// Writes a batch, unless it was written before.
pub(super) fn write(
    transaction: &Transaction<'_>,
    journal: &str,
    batch: &Batch,
    limits: UsageLimits,
) -> rusqlite::Result<()> {
    let is_new = transaction
        .prepare_cached(
            "INSERT INTO spenders (journal, batch, applied) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET batch = excluded.batch, applied = excluded.applied \
             WHERE batch < excluded.batch",
        )?
        .execute(params![journal, batch.number, batch.last_charge])?;
    if is_new == 0 {
        return Ok(());
    }
    note(transaction, &batch.pending, limits)
}

/// Writes what was noted.
pub(super) fn note(
    transaction: &Transaction<'_>,
    pending: &Pending,
    limits: UsageLimits,
) -> rusqlite::Result<()> {
    let Pending { sums, lines, spent, returned } = pending;
    for (lease, credits) in spent {
        grant::spend(transaction, *lease, *credits)?;
    }
    for lease in returned {
        grant::give_back(transaction, *lease)?;
    }
    for (key, sum) in sums {
        add(transaction, key, sum)?;
    }
    let kept = usize::try_from(limits.log_rows).unwrap_or(usize::MAX).min(lines.len());
    for line in &lines[lines.len() - kept..] {
        log(transaction, line)?;
    }
    if kept > 0 {
        transaction
            .prepare_cached("DELETE FROM usage_log WHERE id <= (SELECT max(id) FROM usage_log) - ?1")?
            .execute([i64::try_from(limits.log_rows).unwrap_or(i64::MAX)])?;
    }
    Ok(())
}

/// Removes what is older than it may be.
pub(super) fn trim(transaction: &Transaction<'_>, limits: UsageLimits, now_ms: u64) -> rusqlite::Result<()> {
    const DAY_MS: u64 = 86_400_000;
    let oldest_ms = now_ms.saturating_sub(limits.log_days.saturating_mul(DAY_MS));
    transaction.execute("DELETE FROM usage_log WHERE at < ?1", [oldest_ms])?;
    transaction.execute(
        "DELETE FROM usage_log WHERE id <= (SELECT max(id) FROM usage_log) - ?1",
        [i64::try_from(limits.log_rows).unwrap_or(i64::MAX)],
    )?;
    let oldest_day = (now_ms / DAY_MS).saturating_sub(limits.daily_days);
    transaction.execute("DELETE FROM usage_daily WHERE day < ?1", [oldest_day])?;
    Ok(())
}

/// Adds to the sums of a day.
pub(super) fn add(transaction: &Transaction<'_>, key: &SumKey, sum: &DailySum) -> rusqlite::Result<()> {
    let SumKey { day, team, key, operation } = key;
    let DailySum { requests, failed, credits, last_success_ms } = sum;
    transaction
        .prepare_cached(
            "INSERT INTO usage_daily (day, team, key, operation, requests, failed, credits, last_success_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET \
             requests = requests + excluded.requests, failed = failed + excluded.failed, \
             credits = credits + excluded.credits, \
             last_success_at = nullif(max(ifnull(last_success_at, 0), ifnull(excluded.last_success_at, 0)), 0)",
        )?
        .execute(params![
            day,
            &**team,
            key.as_ref().map_or("", KeyId::as_str),
            operation,
            requests,
            failed,
            credits,
            last_success_ms
        ])?;
    Ok(())
}

fn log(transaction: &Transaction<'_>, line: &LogRow) -> rusqlite::Result<()> {
    let LogRow { at_ms, team, charged, usage } = line;
    let Usage { key, request, operation, status, took, items, stages, query, retention } = usage;
    let micros = |took: &std::time::Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let items: Value =
        items.iter().map(|UsageItem { item, count, credits }| json!([item, count, credits])).collect();
    let stages: Value =
        stages.iter().map(|UsageStage { stage, took }| json!([stage, micros(took)])).collect();
    transaction
        .prepare_cached(
            "INSERT INTO usage_log (at, team, key, request, operation, status, took_us, credits, forgiven, \
             items, stages, retention, query) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            at_ms,
            team.as_deref(),
            key.as_ref().map(KeyId::as_str),
            (!request.is_empty()).then_some(request),
            operation,
            status,
            micros(took),
            charged,
            usage.price().saturating_sub(*charged),
            items.to_string(),
            stages.to_string(),
            retention.as_str(),
            query,
        ])?;
    Ok(())
}
