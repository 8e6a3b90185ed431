//! The jobs of all teams at a glance, for people who look after the service.

use rusqlite::{Connection, params};

use super::{JobKind, JobState};
use crate::error::StoreError;
use crate::store::Store;

/// So many of the first URLs of a job are read to learn what it is about.
const FIRST_URLS: u64 = 16;

/// A job at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOverview {
    /// Identifier on the wire.
    pub id: String,
    /// Team that owns it.
    pub team: String,
    /// Crawl or batch.
    pub kind: JobKind,
    /// How it stands.
    pub state: JobState,
    /// When it began, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// When it ended, in milliseconds since the Unix epoch.
    pub finished_at_ms: Option<u64>,
    /// Its documents.
    pub documents: u64,
    /// URLs that could not be had.
    pub failed: u64,
    /// URLs that robots.txt forbids.
    pub blocked: u64,
    /// URLs that wait or are worked on; none once it has ended.
    pub open: u64,
    /// Its first URLs.
    pub urls: Vec<String>,
}

impl Store {
    /// Returns the jobs that run, and those that ended at `since_ms` or later: at most `most`, those that
    /// run before those that ended, and the newest first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn recent_jobs(&self, since_ms: u64, most: u64) -> Result<Vec<JobOverview>, StoreError> {
        self.database().read(|connection| {
            let mut jobs = connection
                .prepare_cached(
                    "SELECT number, id, team, kind, state, created_at, finished_at, documents, blocked, open \
                     FROM jobs WHERE team <> '' AND (state = 'running' OR finished_at >= ?1) \
                     ORDER BY state = 'running' DESC, number DESC LIMIT ?2",
                )?
                .query_map(params![since_ms, most], |row| {
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
                    Ok((row.get::<_, i64>(0)?, job))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            for (number, job) in &mut jobs {
                (job.failed, job.urls) = (failed(connection, *number)?, first_urls(connection, *number)?);
            }
            Ok(jobs.into_iter().map(|(_, job)| job).collect())
        })
    }
}

fn failed(connection: &Connection, job: i64) -> rusqlite::Result<u64> {
    // Spelled so that the index of what is amiss is used.
    connection
        .prepare_cached(
            "SELECT count(*) FROM job_urls WHERE job = ?1 AND state IN ('failed', 'blocked') AND state = 'failed'",
        )?
        .query_row([job], |row| row.get(0))
}

fn first_urls(connection: &Connection, job: i64) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT url FROM job_urls WHERE job = ?1 ORDER BY place LIMIT ?2")?
        .query_map(params![job, FIRST_URLS], |row| row.get(0))?
        .collect()
}
