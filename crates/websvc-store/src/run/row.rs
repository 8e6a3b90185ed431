//! Reads of the rows of runs.

use super::types::RunRecord;
use crate::key::KeyId;
use crate::sql::{self, Connection, Row, params};

const COLUMNS: &str = "number, id, team, key, kind, thread, turn, status, request, max_credits, credits, error, \
     events, created_at, started_at, cancel_requested_at, finished_at, expires_at, api_version, \
     (SELECT content FROM agent_messages WHERE run = number)";

/// Returns the runs for which `condition` holds. It may end with an order and a limit.
pub(super) fn runs(
    connection: &Connection,
    condition: &str,
    values: sql::Params<'_>,
) -> sql::Result<Vec<RunRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM agent_runs WHERE {condition}");
    connection.query(&sql, values, record)
}

/// Returns a run by its number.
pub(super) fn run_by_number(connection: &Connection, number: i64) -> sql::Result<Option<RunRecord>> {
    Ok(runs(connection, "number = ?1", params![number])?.pop())
}

fn record(row: &Row<'_>) -> sql::Result<RunRecord> {
    Ok(RunRecord {
        number: row.get(0)?,
        id: row.get(1)?,
        team: row.get(2)?,
        key: row.get::<Option<String>>(3)?.map(KeyId::new),
        kind: row.get(4)?,
        thread: row.get(5)?,
        turn: row.get(6)?,
        status: row.get(7)?,
        request: row.get(8)?,
        max_credits: row.get(9)?,
        credits: row.get(10)?,
        error: row.get(11)?,
        message: row.get(19)?,
        events: row.get(12)?,
        created_at_ms: row.get(13)?,
        started_at_ms: row.get(14)?,
        cancel_requested_at_ms: row.get(15)?,
        finished_at_ms: row.get(16)?,
        expires_at_ms: row.get(17)?,
        api_version: row.get(18)?,
    })
}

/// Returns whether a replica may work on a run that is unfinished. A process that has not joined may work on every run.
pub(super) fn is_workable(connection: &Connection, run: i64, replica: Option<i64>) -> sql::Result<bool> {
    let sql = "SELECT 1 FROM agent_runs WHERE number = ?1 AND finished_at IS NULL \
               AND (replica = ?2 OR ?2 IS NULL)";
    connection.exists(sql, params![run, replica])
}
