//! Removal of old jobs: running ones fail, ended ones are deleted.

use super::row::end_job;
use super::{JobLimits, JobState};
use crate::clock::add_ms;
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{WebhookOwner, has_no_events};

/// Maximum of rows that one transaction deletes, so that other writers do not wait for long.
const MAX_ROWS: u64 = 500;

impl Store {
    /// Fails the jobs that ran for too long, and deletes a part of the rows that expired before `now_ms` (milliseconds
    /// since the Unix epoch). Returns whether there may be more to delete.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn sweep_jobs(&self, limits: &JobLimits, now_ms: u64) -> Result<bool, StoreError> {
        let _class = StatementClass::Background.enter();
        self.fail_overdue(limits, now_ms)?;
        self.database().write_shared(Durability::Process, |transaction| delete_expired(transaction, now_ms))
    }

    fn fail_overdue(&self, limits: &JobLimits, now_ms: u64) -> Result<(), StoreError> {
        let sql = "SELECT number FROM jobs WHERE state = 'running' AND expires_at <= ?1";
        let overdue: Vec<i64> =
            self.database().read(|connection| connection.query(sql, params![now_ms], |row| row.get(0)))?;
        let error = format!("the job ran for more than {} seconds, the maximum", limits.retention.as_secs());
        let expires_at_ms = add_ms(now_ms, limits.retention);
        for job in overdue {
            self.database().write_locked(Locked::Job(job), Durability::Process, |transaction| {
                end_job(transaction, job, (JobState::Failed, Some(&error)), now_ms, expires_at_ms)
            })?;
        }
        Ok(())
    }
}

fn delete_expired(transaction: &Transaction<'_>, now_ms: u64) -> sql::Result<bool> {
    let dead_letters = transaction.execute(
        "DELETE FROM webhook_events WHERE number IN (SELECT number FROM webhook_events \
             WHERE forget_at IS NOT NULL AND forget_at <= ?1 LIMIT ?2)",
        params![now_ms, MAX_ROWS],
    )?;
    if dead_letters > 0 {
        return Ok(true);
    }
    // Pending events and dead letters refer to documents of their job.
    let has_no_events = has_no_events(WebhookOwner::JOB);
    let sql = format!(
        "SELECT number FROM jobs WHERE state <> 'running' AND expires_at <= ?1 AND {has_no_events} LIMIT 1"
    );
    let expired: Option<i64> = transaction.query_optional(&sql, params![now_ms], |row| row.get(0))?;
    let Some(job) = expired else { return Ok(false) };
    for (table, row) in [("job_documents", "position"), ("job_urls", "place")] {
        let deleted = transaction.execute(
            &format!(
                "DELETE FROM {table} WHERE job = ?1 AND {row} IN \
                 (SELECT {row} FROM {table} WHERE job = ?1 LIMIT ?2)"
            ),
            params![job, MAX_ROWS],
        )?;
        if deleted > 0 {
            return Ok(true);
        }
    }
    transaction.execute("DELETE FROM jobs WHERE number = ?1", params![job])?;
    Ok(true)
}
