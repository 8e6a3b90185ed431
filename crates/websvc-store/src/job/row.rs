//! Rows to records.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{JobKind, JobRecord, JobState, JobUrl, ListEntry, credentials};
use crate::key::KeyId;
use crate::webhook::{JobEvent, enqueue};

pub(super) const COLUMNS: &str = "number, id, team, key, kind, state, request, page_limit, created_at, \
     finished_at, expires_at, error, urls, documents, bytes, credits, left_out, blocked, led_to";

macro_rules! names {
    ($type:ident: $($variant:ident = $name:literal),*) => {
        impl $type {
            /// Returns the name, as the database has it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(FromSqlError::InvalidType),
                }
            }
        }
    };
}

names!(JobKind: Batch = "batch", Crawl = "crawl");
names!(JobState: Running = "running", Completed = "completed", Cancelled = "cancelled", Failed = "failed");
names!(JobEvent: Started = "started", Page = "page", Completed = "completed", Failed = "failed");

pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<JobRecord> {
    Ok(JobRecord {
        number: row.get(0)?,
        id: row.get(1)?,
        team: row.get(2)?,
        key: row.get::<_, Option<String>>(3)?.map(KeyId::new),
        kind: row.get(4)?,
        state: row.get(5)?,
        request: row.get(6)?,
        page_limit: row.get(7)?,
        created_at_ms: row.get(8)?,
        finished_at_ms: row.get(9)?,
        expires_at_ms: row.get(10)?,
        error: row.get(11)?,
        urls: row.get(12)?,
        documents: row.get(13)?,
        bytes: row.get(14)?,
        credits: row.get(15)?,
        left_out: row.get(16)?,
        blocked: row.get(17)?,
        led_to: row.get(18)?,
    })
}

/// Returns a job that is still kept.
pub(super) fn find(
    connection: &Connection,
    team: &str,
    id: &str,
    now_ms: u64,
) -> rusqlite::Result<Option<JobRecord>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM jobs WHERE id = ?1 AND team = ?2 \
             AND (state = 'running' OR expires_at > ?3)"
        ))?
        .query_row(params![id, team, now_ms], record)
        .optional()
}

/// Returns a job by its number.
pub(super) fn by_number(connection: &Connection, number: i64) -> rusqlite::Result<Option<JobRecord>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM jobs WHERE number = ?1"))?
        .query_row([number], record)
        .optional()
}

/// Returns the entry of a row in the list of a batch, whose two columns begin with `column`.
pub(super) fn entry(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ListEntry>> {
    let (given, index): (Option<String>, Option<u64>) = (row.get(column)?, row.get(column + 1)?);
    Ok(given.zip(index).map(|(given, index)| ListEntry { given, index }))
}

/// Adds URLs of a list of `listed` URLs as sent: see [`add_urls`]. Their indexes count on from the end of the list before.
pub(super) fn add_list(
    transaction: &Transaction<'_>,
    job: i64,
    urls: &[JobUrl],
    listed: u64,
    most: u64,
) -> rusqlite::Result<u64> {
    let added = add_urls(transaction, job, urls, most)?;
    transaction
        .prepare_cached("UPDATE jobs SET listed = listed + ?2 WHERE number = ?1")?
        .execute(params![job, listed])?;
    Ok(added)
}

/// Adds URLs to a job, up to `most`, and returns how many; the others are counted as left out. Of a crawl those are new
/// whose keys the job does not have yet; of a batch all are, and those with a known key are copies.
pub(super) fn add_urls(
    transaction: &Transaction<'_>,
    job: i64,
    urls: &[JobUrl],
    most: u64,
) -> rusqlite::Result<u64> {
    if urls.is_empty() {
        return Ok(0);
    }
    let last: i64 = transaction
        .prepare_cached("SELECT ifnull(max(place), 0) FROM job_urls WHERE job = ?1")?
        .query_row([job], |row| row.get(0))?;
    let room = most.saturating_sub(u64::try_from(last).unwrap_or_default());
    let mut known = transaction.prepare_cached(
        "SELECT place, state IN ('waiting', 'leased') FROM job_urls WHERE job = ?1 AND key = ?2",
    )?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO job_urls (job, place, key, url, depth, state, given, list_index, copy_of, waits_for) \
         SELECT ?1, ?2, ?3, ?4, ?5, 'waiting', ?6, listed + ?7, ?8, ?9 FROM jobs WHERE number = ?1",
    )?;
    let (mut added, mut left_out) = (0_u64, 0_u64);
    for JobUrl { url, key, depth, entry } in urls {
        let original: Option<(i64, bool)> =
            known.query_row(params![job, key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        if original.is_some() && entry.is_none() {
            continue;
        }
        if added >= room {
            left_out += 1;
            continue;
        }
        added += 1;
        let place = last + i64::try_from(added).unwrap_or(i64::MAX);
        // No URL has a line break, so that nothing else has the key of a copy.
        let key = original.map_or_else(|| key.clone(), |_| format!("{key}\n{place}"));
        let copy_of = original.map(|(place, _)| place);
        let waits_for = original.and_then(|(place, is_open)| is_open.then_some(place));
        let (given, index) = entry.as_ref().map(|entry| (&entry.given, entry.index)).unzip();
        insert.execute(params![job, place, key, url, depth, given, index, copy_of, waits_for])?;
    }
    transaction
        .prepare_cached(
            "UPDATE jobs SET urls = urls + ?2, open = open + ?2, left_out = left_out + ?3 WHERE number = ?1",
        )?
        .execute(params![job, added, left_out])?;
    Ok(added)
}

/// Returns what the documents of all jobs take on the disk, in bytes.
pub(super) fn stored_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached("SELECT bytes FROM job_storage")?.query_row([], |row| row.get(0))
}

/// Ends a job that runs, and tells its webhook unless the owner ended it; it is kept until `expires_at_ms`.
pub(super) fn end(
    transaction: &Transaction<'_>,
    job: i64,
    (state, error): (JobState, Option<&str>),
    now_ms: u64,
    expires_at_ms: u64,
) -> rusqlite::Result<bool> {
    let ended = transaction
        .prepare_cached(
            // What a full job left waiting is no part of it.
            "UPDATE jobs SET state = ?2, error = ?3, finished_at = ?4, expires_at = ?5, \
             urls = iif(?2 = 'completed', urls - open, urls), open = iif(?2 = 'completed', 0, open) \
             WHERE number = ?1 AND state = 'running'",
        )?
        .execute(params![job, state.as_str(), error, now_ms, expires_at_ms])?;
    if ended == 1 {
        credentials::remove(transaction, job)?;
    }
    let event = match state {
        JobState::Completed => Some(JobEvent::Completed),
        JobState::Failed => Some(JobEvent::Failed),
        // Who cancels knows it.
        JobState::Cancelled | JobState::Running => None,
    };
    if let Some(event) = event.filter(|_| ended == 1) {
        enqueue(transaction, job, event, None, now_ms)?;
    }
    Ok(ended == 1)
}
