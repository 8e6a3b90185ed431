//! Reads of runs.

use std::ops::ControlFlow;

use super::row::runs;
use super::types::{RunKind, RunList, RunMetrics, RunRecord, RunResult, ThreadContent};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Connection, params};
use crate::store::Store;

/// The condition for the runs of a thread: its identifier, its team, and a time at which they have not expired.
const IN_THREAD: &str =
    "thread = ?1 AND team = ?2 AND kind = 'agent' AND (expires_at > ?3 OR expires_at IS NULL)";

/// The condition for the runs of a list: their team, their kind, a time before which they were created, and a time at which
/// they have not expired.
const IN_LIST: &str =
    "team = ?1 AND kind = ?2 AND created_at < ?3 AND (expires_at > ?4 OR expires_at IS NULL)";

impl Store {
    /// Returns a run of a team that has not expired at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn run(
        &self,
        team: &str,
        kind: RunKind,
        id: &str,
        now_ms: u64,
    ) -> Result<Option<RunRecord>, StoreError> {
        let condition = "id = ?1 AND team = ?2 AND kind = ?3 AND (expires_at > ?4 OR expires_at IS NULL)";
        let values = params![id, team, kind.as_str(), now_ms];
        Ok(self.database().read(|connection| runs(connection, condition, values))?.pop())
    }

    /// Returns the newest runs of a team that were created before `before_ms` and have not expired at `now_ms`
    /// (milliseconds since the Unix epoch), the newest first. Returns at most `max` runs whose requests have at most
    /// `max_bytes` together, but always one if there is one.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn runs(
        &self,
        team: &str,
        kind: RunKind,
        before_ms: u64,
        max: u64,
        max_bytes: u64,
        now_ms: u64,
    ) -> Result<RunList, StoreError> {
        let before_ms = before_ms.min(i64::MAX as u64);
        self.database().read(|connection| {
            let sql = format!(
                "SELECT created_at, octet_length(request) FROM agent_runs WHERE {IN_LIST} \
                 ORDER BY created_at DESC LIMIT ?5"
            );
            let values = params![team, kind.as_str(), before_ms, now_ms, rows_to_read(max)];
            let Last { first, has_more } = last_within(connection, &sql, values, max, max_bytes)?;
            let Some(first) = first else { return Ok(RunList::default()) };
            let condition = format!("{IN_LIST} AND created_at >= ?5 ORDER BY created_at DESC");
            let values = params![team, kind.as_str(), before_ms, now_ms, first];
            Ok(RunList { runs: runs(connection, &condition, values)?, has_more })
        })
    }

    /// Returns the last runs of a thread of a team that have not expired at `now_ms` (milliseconds since the Unix epoch),
    /// the oldest first. Returns at most `max` runs whose content to read has at most `max_bytes` together, but always one
    /// if there is one.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn thread_runs(
        &self,
        team: &str,
        thread: &str,
        content: ThreadContent,
        max: u64,
        max_bytes: u64,
        now_ms: u64,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let result_bytes = match content {
            ThreadContent::Requests => "",
            ThreadContent::RequestsAndResults => " + coalesce(result_bytes, 0)",
        };
        self.database().read(|connection| {
            let sql = format!(
                "SELECT turn, octet_length(request){result_bytes} FROM agent_runs WHERE {IN_THREAD} \
                 ORDER BY turn DESC LIMIT ?4"
            );
            let values = params![thread, team, now_ms, rows_to_read(max)];
            let Last { first, has_more: _ } = last_within(connection, &sql, values, max, max_bytes)?;
            let Some(first) = first else { return Ok(Vec::new()) };
            let condition = format!("{IN_THREAD} AND turn >= ?4 ORDER BY turn");
            runs(connection, &condition, params![thread, team, now_ms, first])
        })
    }

    /// Returns the result of a run.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be decoded; otherwise failures of the database.
    pub fn run_result(&self, run: i64) -> Result<Option<RunResult>, StoreError> {
        let sql = "SELECT result_bytes, result FROM agent_runs WHERE number = ?1 AND result IS NOT NULL";
        let found = self.database().read(|connection| {
            connection.query_optional(sql, params![run], |row| {
                Ok(CompressedDocument { bytes: row.get(0)?, content: row.get(1)? })
            })
        })?;
        let name = format!("the result of run {run}");
        found.map(|document| document.decompress(self.database(), &name).map(RunResult)).transpose()
    }

    /// Returns the numbers of runs of all teams.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn run_metrics(&self) -> Result<RunMetrics, StoreError> {
        let sql = "SELECT count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'running'), \
                   (SELECT count(*) FROM agent_runs) FROM agent_runs WHERE finished_at IS NULL";
        self.database().read(|connection| {
            connection.query_row(sql, params![], |row| {
                Ok(RunMetrics { queued: row.get(0)?, running: row.get(1)?, stored: row.get(2)? })
            })
        })
    }
}

/// The last rows of a query that are within limits.
struct Last {
    /// The position of the first of them; `None` if the query has no rows.
    first: Option<u64>,
    /// True if there are rows before it.
    has_more: bool,
}

/// Returns the number of rows that show whether there are more than `max`.
fn rows_to_read(max: u64) -> u64 {
    max.saturating_add(1).min(i64::MAX as u64)
}

/// Returns the last rows, at most `max` with at most `max_bytes` together; the last one always counts. The query returns
/// positions and sizes, the last row first. It reads the sizes only, because a server sends all rows of a query.
fn last_within(
    connection: &Connection,
    sql: &str,
    values: sql::Params<'_>,
    max: u64,
    max_bytes: u64,
) -> sql::Result<Last> {
    let mut last = Last { first: None, has_more: false };
    let (mut count, mut bytes) = (0_u64, 0_u64);
    connection.for_each(sql, values, |row| {
        bytes = bytes.saturating_add(row.get(1)?);
        if count >= max || (count > 0 && bytes > max_bytes) {
            last.has_more = true;
            return Ok(ControlFlow::Break(()));
        }
        (last.first, count) = (Some(row.get(0)?), count + 1);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(last)
}
