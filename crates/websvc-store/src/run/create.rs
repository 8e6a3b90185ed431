//! Creating and cancelling runs.

use super::row::run_by_number;
use super::types::{CancelRunOutcome, CreateRunOutcome, NewRun, RunKind, RunLimits};
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::key::KeyId;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{WebhookSubject, register};

impl Store {
    /// Creates a run at `now_ms` (milliseconds since the Unix epoch). It survives a power failure. This replica owns it, if
    /// it has [joined](Self::join_replicas).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn create_run(
        &self,
        run: &NewRun,
        limits: &RunLimits,
        now_ms: u64,
    ) -> Result<CreateRunOutcome, StoreError> {
        let replica = self.membership().owner_of_new();
        self.database().write_locked(Locked::Team(&run.team), Durability::Power, |transaction| {
            create(transaction, run, replica, limits, now_ms)
        })
    }

    /// Asks the owner of a run of a team to cancel it.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn request_run_cancel(
        &self,
        team: &str,
        kind: RunKind,
        id: &str,
        now_ms: u64,
    ) -> Result<CancelRunOutcome, StoreError> {
        self.database().write_shared(Durability::Power, |transaction| {
            let sql = "SELECT number, finished_at, cancel_requested_at FROM agent_runs \
                       WHERE id = ?1 AND team = ?2 AND kind = ?3 AND (expires_at > ?4 OR expires_at IS NULL)";
            let found: Option<(i64, Option<u64>, Option<u64>)> =
                transaction.query_optional(sql, params![id, team, kind.as_str(), now_ms], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
            Ok(match found {
                None => CancelRunOutcome::NotFound,
                Some((_, _, Some(_))) => CancelRunOutcome::AlreadyRequested,
                Some((_, Some(_), None)) => CancelRunOutcome::AlreadyEnded,
                Some((number, None, None)) => {
                    let sql = "UPDATE agent_runs SET cancel_requested_at = ?2 \
                               WHERE number = ?1 AND finished_at IS NULL";
                    match transaction.execute(sql, params![number, now_ms])? {
                        0 => CancelRunOutcome::AlreadyEnded,
                        _ => CancelRunOutcome::Requested,
                    }
                }
            })
        })
    }
}

fn create(
    transaction: &Transaction<'_>,
    run: &NewRun,
    replica: Option<i64>,
    limits: &RunLimits,
    now_ms: u64,
) -> sql::Result<CreateRunOutcome> {
    let NewRun { id, team, key, kind, api_version, thread, new_thread, request, max_credits, webhook } = run;
    let count = "SELECT count(*) FILTER (WHERE finished_at IS NULL), count(*), coalesce(max(created_at), 0) \
                 FROM agent_runs WHERE team = ?1";
    let (open, stored, last_ms): (u64, u64, u64) =
        transaction.query_row(count, params![team], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if open >= limits.max_open {
        return Ok(CreateRunOutcome::TooManyOpen);
    }
    if stored >= limits.max_stored {
        return Ok(CreateRunOutcome::TooManyStored);
    }
    let turn = match thread {
        None => 1,
        Some(thread) => {
            let sql = "SELECT max(turn), count(*) FILTER (WHERE finished_at IS NULL) FROM agent_runs \
                       WHERE thread = ?1 AND team = ?2 AND (expires_at > ?3 OR expires_at IS NULL)";
            let (last, open): (Option<u64>, u64) =
                transaction
                    .query_row(sql, params![thread, team, now_ms], |row| Ok((row.get(0)?, row.get(1)?)))?;
            match (last, open) {
                (None, _) => return Ok(CreateRunOutcome::ThreadNotFound),
                (Some(_), 1..) => return Ok(CreateRunOutcome::ThreadRunning),
                (Some(last), 0) => last + 1,
            }
        }
    };
    let sql = "INSERT INTO agent_runs \
               (id, team, key, kind, thread, turn, status, request, max_credits, bytes, replica, created_at, \
               api_version) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'queued', ?7, ?8, ?9, \
               (SELECT replicas.id FROM replicas WHERE replicas.id = ?10), ?11, ?12) RETURNING number";
    // Lists continue after the time of their last run, so no two runs of a team have the same time.
    let created_at_ms = now_ms.max(last_ms + 1);
    let (key, thread) = (key.as_ref().map(KeyId::as_str), thread.as_ref().unwrap_or(new_thread));
    let values = params![
        id,
        team,
        key,
        kind.as_str(),
        thread,
        turn,
        request,
        max_credits,
        request.len(),
        replica,
        created_at_ms,
        api_version.as_str()
    ];
    let number: i64 = transaction.query_row(sql, values, |row| row.get(0))?;
    if let Some(webhook) = webhook {
        let subject = WebhookSubject { number, source: kind.webhook_source(), id, team };
        register(transaction, subject, webhook, now_ms)?;
    }
    let record = run_by_number(transaction, number)?.ok_or(sql::Error::NoRows)?;
    Ok(CreateRunOutcome::Created(Box::new(record)))
}
