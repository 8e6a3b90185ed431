//! The recent requests and jobs of a team, as one list.
//!
//! Requests are read from the usage log, jobs from their own table, each in the order of its numbers. So a page of the list
//! costs two reads from the position of the cursor on, however many entries come before it.

use crate::api_version::ApiVersion;
use crate::error::StoreError;
use crate::job::JobKind;
use crate::sql::{self, Row, params};
use crate::store::Store;

/// A request or job in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityRecord {
    /// ID of the request or job.
    pub id: String,
    /// Operation of the request, or kind of the job.
    pub operation: String,
    /// Version of the API that the client called.
    pub api_version: ApiVersion,
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Operations whose requests are listed.
    pub operations: Vec<&'static str>,
    /// Kinds of the jobs that are listed.
    pub kinds: Vec<JobKind>,
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
    /// epoch), from a position on. Anonymous requests are not in it.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn activity_log(
        &self,
        team: &str,
        filter: &ActivityFilter,
        since_ms: u64,
        cursor: ActivityCursor,
        limit: u32,
    ) -> Result<ActivityPage, StoreError> {
        // One more than the page shows whether another page follows.
        let max = limit.saturating_add(1);
        let ActivityFilter { operations, kinds } = filter;
        let requests = self.logged_requests(team, operations, since_ms, cursor.request, max)?;
        let jobs = self.logged_jobs(team, kinds, since_ms, cursor.job, max)?;
        let mut entries = merge(requests, jobs);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let mut next = cursor;
        for entry in &entries {
            let position = if entry.is_job { &mut next.job } else { &mut next.request };
            *position = Some(entry.number);
        }
        let records = entries.into_iter().map(|entry| entry.record).collect();
        Ok(ActivityPage { records, next: has_more.then_some(next) })
    }

    fn logged_requests(
        &self,
        team: &str,
        operations: &[&str],
        since_ms: u64,
        before: Option<i64>,
        max: u32,
    ) -> Result<Vec<Numbered>, StoreError> {
        if operations.is_empty() {
            return Ok(Vec::new());
        }
        self.flush_credits()?;
        let sql = "SELECT id, request, operation, at, query, api_version FROM usage_log \
                   WHERE team = ?1 AND request IS NOT NULL AND at >= ?2 AND id < ?3 \
                   AND ?4 LIKE '%,' || operation || ',%' ORDER BY id DESC LIMIT ?5";
        let (before, operations) = (before.unwrap_or(i64::MAX), between_commas(operations));
        self.database().read(|connection| {
            connection
                .query(sql, params![team, since_ms, before, operations, max], |row| from_row(row, false))
        })
    }

    fn logged_jobs(
        &self,
        team: &str,
        kinds: &[JobKind],
        since_ms: u64,
        before: Option<i64>,
        max: u32,
    ) -> Result<Vec<Numbered>, StoreError> {
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let sql = "SELECT number, id, kind, created_at, \
                   (SELECT url FROM job_urls WHERE job = number ORDER BY place LIMIT 1), api_version FROM jobs \
                   WHERE team = ?1 AND created_at >= ?2 AND number < ?3 \
                   AND ?4 LIKE '%,' || kind || ',%' ORDER BY number DESC LIMIT ?5";
        let (before, kinds) = (before.unwrap_or(i64::MAX), between_commas(&kinds));
        self.database().read(|connection| {
            connection.query(sql, params![team, since_ms, before, kinds, max], |row| from_row(row, true))
        })
    }
}

/// Returns names between commas, as the queries compare them.
fn between_commas(names: &[&str]) -> String {
    format!(",{},", names.join(","))
}

/// Merges the entries of both tables by time. Those of a table stay in the order of its numbers, even if a process has
/// written an earlier time after a later one: the cursor is a number of each table, and would skip an entry otherwise.
fn merge(requests: Vec<Numbered>, jobs: Vec<Numbered>) -> Vec<Numbered> {
    let (mut requests, mut jobs) = (requests.into_iter().peekable(), jobs.into_iter().peekable());
    let next = || {
        let is_job_next = match (requests.peek(), jobs.peek()) {
            (Some(request), Some(job)) => job.record.at_ms > request.record.at_ms,
            (Some(_), None) => false,
            (None, _) => true,
        };
        if is_job_next { jobs.next() } else { requests.next() }
    };
    std::iter::from_fn(next).collect()
}

fn from_row(row: &Row<'_>, is_job: bool) -> sql::Result<Numbered> {
    let record = ActivityRecord {
        id: row.get(1)?,
        operation: row.get(2)?,
        at_ms: row.get(3)?,
        target: row.get(4)?,
        api_version: row.get(5)?,
    };
    Ok(Numbered { number: row.get(0)?, is_job, record })
}
