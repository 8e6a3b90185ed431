//! Reads of runs.

use super::row::runs;
use super::types::{RunKind, RunMetrics, RunRecord, RunResult};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

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

    /// Returns up to `max` runs of a team that were created before `before_ms` and have not expired at `now_ms`
    /// (milliseconds since the Unix epoch), the newest first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn runs(
        &self,
        team: &str,
        kind: RunKind,
        before_ms: u64,
        max: u64,
        now_ms: u64,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let condition = "team = ?1 AND kind = ?2 AND created_at < ?3 AND (expires_at > ?4 OR expires_at IS NULL) \
                         ORDER BY created_at DESC LIMIT ?5";
        let before_ms = before_ms.min(i64::MAX as u64);
        let values = params![team, kind.as_str(), before_ms, now_ms, max];
        self.database().read(|connection| runs(connection, condition, values))
    }

    /// Returns the runs of a thread of a team that have not expired at `now_ms` (milliseconds since the Unix epoch), the
    /// oldest first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn thread_runs(&self, team: &str, thread: &str, now_ms: u64) -> Result<Vec<RunRecord>, StoreError> {
        let condition = "thread = ?1 AND team = ?2 AND kind = 'agent' \
                         AND (expires_at > ?3 OR expires_at IS NULL) ORDER BY turn";
        let values = params![thread, team, now_ms];
        self.database().read(|connection| runs(connection, condition, values))
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
