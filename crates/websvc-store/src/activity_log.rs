//! The recent requests and jobs of a team, as one list.
//!
//! Requests are read from the usage log, jobs from their own table, each in the order of its numbers. So a page of the list
//! costs two short reads of an index, however long the list is.

use crate::error::StoreError;
use crate::job::JobKind;
use crate::sql::params;
use crate::store::Store;

/// A request or job in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityRecord {
    /// ID of the request or job.
    pub id: String,
    /// Operation of the request, or kind of the job.
    pub operation: String,
    /// End of the request or start of the job, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Query, URL, or first URL; `None` if it may not be stored.
    pub target: Option<String>,
}

/// The position in the list after a page of it: the numbers of the last request and job on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActivityCursor {
    /// Number of the last request in the log; `None` before the first one.
    pub request: Option<i64>,
    /// Number of the last job; `None` before the first one.
    pub job: Option<i64>,
}

/// The entries to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityFilter {
    /// All of them.
    All,
    /// Requests of one operation.
    Requests(&'static str),
    /// Jobs of one kind.
    Jobs(JobKind),
}

/// A page of the list, the newest entries first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityPage {
    /// The entries.
    pub records: Vec<ActivityRecord>,
    /// Position after the page; `None` if it is the last one.
    pub next: Option<ActivityCursor>,
}

/// An entry with its number in its table.
struct Numbered {
    number: i64,
    is_job: bool,
    record: ActivityRecord,
}

impl Store {
    /// Returns at most `limit` entries of a team's list that are not older than `since_ms` (milliseconds since the Unix
    /// epoch), from a position on. Pages of jobs and anonymous requests are not in it.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn activity_log(
        &self,
        team: &str,
        filter: ActivityFilter,
        since_ms: u64,
        cursor: ActivityCursor,
        limit: u32,
    ) -> Result<ActivityPage, StoreError> {
        // One more than the page shows whether another page follows.
        let max = limit.saturating_add(1);
        let mut entries = self.logged_requests(team, filter, since_ms, cursor.request, max)?;
        entries.extend(self.logged_jobs(team, filter, since_ms, cursor.job, max)?);
        // The sort is stable, so the order of numbers stays within each table.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.record.at_ms));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let mut next = cursor;
        for entry in &entries {
            let position = if entry.is_job { &mut next.job } else { &mut next.request };
            *position = Some(position.map_or(entry.number, |number| number.min(entry.number)));
        }
        let records = entries.into_iter().map(|entry| entry.record).collect();
        Ok(ActivityPage { records, next: has_more.then_some(next) })
    }

    fn logged_requests(
        &self,
        team: &str,
        filter: ActivityFilter,
        since_ms: u64,
        before: Option<i64>,
        max: u32,
    ) -> Result<Vec<Numbered>, StoreError> {
        let operation = match filter {
            ActivityFilter::All => None,
            ActivityFilter::Requests(operation) => Some(operation),
            ActivityFilter::Jobs(_) => return Ok(Vec::new()),
        };
        self.flush_credits()?;
        let sql = "SELECT id, request, operation, at, query FROM usage_log \
                   WHERE team = ?1 AND request IS NOT NULL AND at >= ?2 AND (id < ?3 OR ?3 IS NULL) \
                   AND operation IN ('search', 'scrape', 'parse', 'map', 'browser', 'agent', 'extract') \
                   AND (operation = ?4 OR ?4 IS NULL) ORDER BY id DESC LIMIT ?5";
        self.database().read(|connection| {
            connection.query(sql, params![team, since_ms, before, operation, max], |row| {
                let record = ActivityRecord {
                    id: row.get(1)?,
                    operation: row.get(2)?,
                    at_ms: row.get(3)?,
                    target: row.get(4)?,
                };
                Ok(Numbered { number: row.get(0)?, is_job: false, record })
            })
        })
    }

    fn logged_jobs(
        &self,
        team: &str,
        filter: ActivityFilter,
        since_ms: u64,
        before: Option<i64>,
        max: u32,
    ) -> Result<Vec<Numbered>, StoreError> {
        let kind = match filter {
            ActivityFilter::All => None,
            ActivityFilter::Jobs(kind) => Some(kind.as_str()),
            ActivityFilter::Requests(_) => return Ok(Vec::new()),
        };
        let sql = "SELECT number, id, kind, created_at, \
                   (SELECT url FROM job_urls WHERE job = number ORDER BY place LIMIT 1) FROM jobs \
                   WHERE team = ?1 AND created_at >= ?2 AND (number < ?3 OR ?3 IS NULL) \
                   AND (kind = ?4 OR ?4 IS NULL) ORDER BY number DESC LIMIT ?5";
        self.database().read(|connection| {
            connection.query(sql, params![team, since_ms, before, kind, max], |row| {
                let record = ActivityRecord {
                    id: row.get(1)?,
                    operation: row.get(2)?,
                    at_ms: row.get(3)?,
                    target: row.get(4)?,
                };
                Ok(Numbered { number: row.get(0)?, is_job: true, record })
            })
        })
    }
}
