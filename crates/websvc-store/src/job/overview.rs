//! An overview of the jobs of all teams, for the dashboard.

use super::{JobKind, JobState};
use crate::error::StoreError;
use crate::sql::{self, Connection, params};
use crate::store::Store;

/// Number of URLs of a job that an overview contains.
const FIRST_URLS: u64 = 16;

/// Overview of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOverview {
    /// Identifier on the wire.
    pub id: String,
    /// Team that owns the job.
    pub team: String,
    /// Kind of the job.
    pub kind: JobKind,
    /// State of the job.
    pub state: JobState,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Time of its end, in milliseconds since the Unix epoch.
    pub finished_at_ms: Option<u64>,
    /// Number of documents.
    pub documents: u64,
    /// Number of URLs that failed.
    pub failed: u64,
    /// Number of URLs that robots.txt disallows.
    pub blocked: u64,
    /// Number of URLs that are queued or leased; 0 once the job has ended.
    pub open: u64,
    /// The first URLs.
    pub urls: Vec<String>,
}

impl Store {
    /// Returns up to `max` jobs that run, or ended at `since_ms` or later. Running jobs come first, then the newest.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn recent_jobs(&self, since_ms: u64, max: u64) -> Result<Vec<JobOverview>, StoreError> {
        self.database().read(|connection| {
            let mut jobs = connection.query(
                "SELECT number, id, team, kind, state, created_at, finished_at, documents, blocked, open \
                     FROM jobs WHERE team <> '' AND (state = 'running' OR finished_at >= ?1) \
                     ORDER BY state = 'running' DESC, number DESC LIMIT ?2",
                params![since_ms, max],
                |row| {
                    let state: JobState = row.get(4)?;
                    let job = JobOverview {
                        id: row.get(1)?,
                        team: row.get(2)?,
                        kind: row.get(3)?,
                        state,
                        created_at_ms: row.get(5)?,
                        finished_at_ms: row.get(6)?,
                        documents: row.get(7)?,
                        failed: 0,
                        blocked: row.get(8)?,
                        open: if state == JobState::Running { row.get(9)? } else { 0 },
                        urls: Vec::new(),
                    };
                    Ok((row.get::<i64>(0)?, job))
                },
            )?;
            for (number, job) in &mut jobs {
                (job.failed, job.urls) = (failed(connection, *number)?, first_urls(connection, *number)?);
            }
            Ok(jobs.into_iter().map(|(_, job)| job).collect())
        })
    }
}

fn failed(connection: &Connection, job: i64) -> sql::Result<u64> {
    // The redundant condition makes SQLite use the partial index `job_urls_failed`.
    let sql = "SELECT count(*) FROM job_urls \
               WHERE job = ?1 AND state IN ('failed', 'blocked') AND state = 'failed'";
    connection.query_row(sql, params![job], |row| row.get(0))
}

fn first_urls(connection: &Connection, job: i64) -> sql::Result<Vec<String>> {
    connection.query(
        "SELECT url FROM job_urls WHERE job = ?1 ORDER BY place LIMIT ?2",
        params![job, FIRST_URLS],
        |row| row.get(0),
    )
}
