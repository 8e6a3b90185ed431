//! Forgetting jobs: those that ran for too long, and those that were kept for long enough.

use rusqlite::{OptionalExtension, Transaction, params};

use super::create::add_ms;
use super::row::end;
use super::{JobLimits, JobState};
use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;

/// So many rows go at one time, so that nobody waits long for the writer.
const ROWS: u64 = 500;

impl Store {
    /// Ends the jobs that ran for longer than they may, and removes a part of what is no longer kept at `now_ms`
    /// (milliseconds since the Unix epoch). Tells whether there may be more to remove.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn sweep_jobs(&self, limits: &JobLimits, now_ms: u64) -> Result<bool, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            end_late(transaction, limits, now_ms)?;
            remove(transaction, now_ms)
        })
    }
}

fn end_late(transaction: &Transaction<'_>, limits: &JobLimits, now_ms: u64) -> rusqlite::Result<()> {
    let late: Vec<i64> = transaction
        .prepare_cached("SELECT number FROM jobs WHERE state = 'running' AND expires_at <= ?1")?
        .query_map([now_ms], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let error = format!("it ran for more than {} seconds, the most of a job", limits.keep.as_secs());
    for job in late {
        let expires_at_ms = add_ms(now_ms, limits.keep);
        end(transaction, job, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)?;
    }
    Ok(())
}

fn remove(transaction: &Transaction<'_>, now_ms: u64) -> rusqlite::Result<bool> {
    let letters = transaction
        .prepare_cached(
            "DELETE FROM webhook_events WHERE number IN (SELECT number FROM webhook_events \
             WHERE forget_at IS NOT NULL AND forget_at <= ?1 LIMIT ?2)",
        )?
        .execute(params![now_ms, ROWS])?;
    if letters > 0 {
        return Ok(true);
    }
    // Events that wait, and dead letters, name documents of their job.
    let old: Option<i64> = transaction
        .prepare_cached(
            "SELECT number FROM jobs WHERE state <> 'running' AND expires_at <= ?1 \
             AND NOT EXISTS (SELECT 1 FROM webhook_events WHERE webhook_events.job = jobs.number) LIMIT 1",
        )?
        .query_row([now_ms], |row| row.get(0))
        .optional()?;
    let Some(job) = old else { return Ok(false) };
    for (table, row) in [("job_documents", "position"), ("job_urls", "place")] {
        let removed = transaction
            .prepare_cached(&format!(
                "DELETE FROM {table} WHERE job = ?1 AND {row} IN \
                 (SELECT {row} FROM {table} WHERE job = ?1 LIMIT ?2)"
            ))?
            .execute(params![job, ROWS])?;
        if removed > 0 {
            return Ok(true);
        }
    }
    transaction.prepare_cached("DELETE FROM jobs WHERE number = ?1")?.execute([job])?;
    Ok(true)
}
