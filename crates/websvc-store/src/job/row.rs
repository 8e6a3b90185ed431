//! Reads and writes of the rows of jobs and their URLs.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{JobKind, JobRecord, JobState, JobUrl, ListEntry, credentials};
use crate::key::KeyId;
use crate::sql::{
    self, Connection, Params, Row, SqlValues, ToSql, Transaction, insert_rows, names, params, sql_values,
};
use crate::webhook::{JobEvent, enqueue_of_job};

pub(super) const COLUMNS: &str = "number, id, team, key, kind, state, request, page_limit, created_at, \
     finished_at, expires_at, error, urls, documents, bytes, credits, left_out, blocked, led_to, api_version";

/// The size of the documents of all jobs on disk, in bytes.
pub(super) const STORED_BYTES: &str = "(SELECT CAST(sum(job_storage.bytes) AS BIGINT) FROM job_storage)";

/// Number of queries that a server receives at once.
const MAX_PIPELINED: usize = 500;

names!(JobKind: Batch = "batch", Crawl = "crawl");
names!(JobState: Running = "running", Completed = "completed", Cancelled = "cancelled", Failed = "failed");

pub(super) fn record(row: &Row<'_>) -> sql::Result<JobRecord> {
    Ok(JobRecord {
        number: row.get(0)?,
        id: row.get(1)?,
        team: row.get(2)?,
        key: row.get::<Option<String>>(3)?.map(KeyId::new),
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
        skipped: row.get(16)?,
        blocked: row.get(17)?,
        start_redirect: row.get(18)?,
        api_version: row.get(19)?,
    })
}

/// Returns a job of a team that has not expired.
pub(super) fn find(
    connection: &Connection,
    team: &str,
    id: &str,
    now_ms: u64,
) -> sql::Result<Option<JobRecord>> {
    connection.query_optional(
        &format!(
            "SELECT {COLUMNS} FROM jobs WHERE id = ?1 AND team = ?2 \
             AND (state = 'running' OR expires_at > ?3)"
        ),
        params![id, team, now_ms],
        record,
    )
}

/// Returns a job by its number.
pub(super) fn by_number(connection: &Connection, number: i64) -> sql::Result<Option<JobRecord>> {
    connection.query_optional(
        &format!("SELECT {COLUMNS} FROM jobs WHERE number = ?1"),
        params![number],
        record,
    )
}

/// Reads an entry of the list of a batch from two columns, the first of which is `column`.
pub(super) fn entry(row: &Row<'_>, column: usize) -> sql::Result<Option<ListEntry>> {
    let (original_url, index): (Option<String>, Option<u64>) = (row.get(column)?, row.get(column + 1)?);
    Ok(original_url.zip(index).map(|(original_url, index)| ListEntry { original_url, index }))
}

/// Adds URLs from a list that has `list_len` URLs as sent: see [`add_urls`]. Their indexes continue after those of the
/// list before.
pub(super) fn add_list(
    transaction: &Transaction<'_>,
    job: i64,
    urls: &[JobUrl],
    list_len: u64,
    max_urls: u64,
) -> sql::Result<u64> {
    let added = add_urls(transaction, job, urls, max_urls)?;
    transaction.enqueue("UPDATE jobs SET listed = listed + ?2 WHERE number = ?1", params![job, list_len])?;
    Ok(added)
}

/// Adds URLs to a job until it has `max_urls`, and returns how many were added; the others are counted as skipped. In a
/// crawl, URLs are ignored whose keys the job already has. In a batch, they are added as copies.
pub(super) fn add_urls(
    transaction: &Transaction<'_>,
    job: i64,
    urls: &[JobUrl],
    max_urls: u64,
) -> sql::Result<u64> {
    if urls.is_empty() {
        return Ok(0);
    }
    let (last, listed): (i64, u64) = transaction.query_row(
        "SELECT coalesce((SELECT max(place) FROM job_urls WHERE job = ?1), 0), listed FROM jobs WHERE number = ?1",
        params![job],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let remaining = max_urls.saturating_sub(u64::try_from(last).unwrap_or_default());
    let mut originals = originals(transaction, job, urls)?;
    let mut rows: Vec<SqlValues<'_>> = Vec::new();
    let mut skipped = 0_u64;
    for JobUrl { url, key, depth, entry } in urls {
        let original = originals.get(key.as_str()).copied();
        if original.is_some() && entry.is_none() {
            continue;
        }
        if rows.len() as u64 >= remaining {
            skipped += 1;
            continue;
        }
        let position = last + i64::try_from(rows.len() + 1).unwrap_or(i64::MAX);
        originals.entry(key).or_insert((position, true));
        // No URL contains a line break, so the key of a copy is unique.
        let key = original.map_or(Cow::Borrowed(key), |_| Cow::Owned(format!("{key}\n{position}")));
        let copy_of = original.map(|(original, _)| original);
        let waits_for = original.and_then(|(original, is_open)| is_open.then_some(original));
        let (given, index) = entry.as_ref().map(|entry| (&entry.original_url, listed + entry.index)).unzip();
        rows.push(sql_values![job, position, key, url, depth, "waiting", given, index, copy_of, waits_for]);
    }
    let added = rows.len() as u64;
    insert_rows(
        transaction,
        "job_urls (job, place, key, url, depth, state, given, list_index, copy_of, waits_for)",
        &rows,
    )?;
    transaction.enqueue(
        "UPDATE jobs SET urls = urls + ?2, open = open + ?2, left_out = left_out + ?3 WHERE number = ?1",
        params![job, added, skipped],
    )?;
    Ok(added)
}

/// Returns the places of the URLs of a job that have the keys of others, and whether they are still to be completed.
fn originals<'a>(
    transaction: &Transaction<'_>,
    job: i64,
    urls: &'a [JobUrl],
) -> sql::Result<HashMap<&'a str, (i64, bool)>> {
    let select = "SELECT place, state IN ('waiting', 'leased') FROM job_urls WHERE job = ?1 AND key = ?2";
    let values: Vec<[&dyn ToSql; 2]> = urls.iter().map(|url| [&job as &dyn ToSql, &url.key]).collect();
    let mut originals = HashMap::new();
    for (urls, values) in urls.chunks(MAX_PIPELINED).zip(values.chunks(MAX_PIPELINED)) {
        let values: Vec<Params<'_>> = values.iter().map(|values| &values[..]).collect();
        let found = transaction.query_each(select, &values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let keys = urls.iter().map(|url| url.key.as_str());
        originals.extend(keys.zip(found).filter_map(|(key, found)| Some((key, found?))));
    }
    Ok(originals)
}

/// Returns the size of the documents of all jobs on disk, in bytes.
pub(super) fn stored_bytes(connection: &Connection) -> sql::Result<u64> {
    connection.query_row(&format!("SELECT {STORED_BYTES}"), params![], |row| row.get(0))
}

/// Ends a running job, which is stored until `expires_at_ms`. Enqueues an event for its webhook, unless the team
/// cancelled it. Returns false if the job was not running.
pub(super) fn end_job(
    transaction: &Transaction<'_>,
    job: i64,
    (state, error): (JobState, Option<&str>),
    now_ms: u64,
    expires_at_ms: u64,
) -> sql::Result<bool> {
    let ended = transaction.execute(
        // URLs that are still queued when the job reaches its page limit do not count.
        "UPDATE jobs SET state = ?2, error = ?3, finished_at = ?4, expires_at = ?5, replica = NULL, \
             urls = CASE WHEN ?2 = 'completed' THEN urls - open ELSE urls END, \
             open = CASE WHEN ?2 = 'completed' THEN 0 ELSE open END \
             WHERE number = ?1 AND state = 'running'",
        params![job, state.as_str(), error, now_ms, expires_at_ms],
    )?;
    if ended == 1 {
        credentials::remove(transaction, job)?;
    }
    let event = match state {
        JobState::Completed => Some(JobEvent::Completed),
        JobState::Failed => Some(JobEvent::Failed),
        JobState::Cancelled | JobState::Running => None,
    };
    if let Some(event) = event.filter(|_| ended == 1) {
        enqueue_of_job(transaction, job, event, None, now_ms)?;
    }
    Ok(ended == 1)
}
