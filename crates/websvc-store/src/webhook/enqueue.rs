//! Events as they happen, within the transactions that make them happen.

use rusqlite::{Transaction, params};

use super::{JobEvent, NewWebhook};

/// Notes where the events of a job go, and that it began.
pub(crate) fn begin(
    transaction: &Transaction<'_>,
    job: i64,
    webhook: &NewWebhook,
    now_ms: u64,
) -> rusqlite::Result<()> {
    let NewWebhook { url, host, headers, metadata, events } = webhook;
    let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
    transaction
        .prepare_cached(
            "INSERT INTO webhooks (job, url, host, headers, metadata, events) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![job, url, host, headers, metadata, events.join(",")])?;
    enqueue(transaction, job, JobEvent::Started, None, now_ms).map(drop)
}

/// Adds an event, if the job has a webhook that wants it, and tells whether that was so; of a page, `position` is that of
/// its document.
pub(crate) fn enqueue(
    transaction: &Transaction<'_>,
    job: i64,
    event: JobEvent,
    position: Option<u64>,
    now_ms: u64,
) -> rusqlite::Result<bool> {
    transaction
        .prepare_cached(
            "INSERT INTO webhook_events (id, job, event, position, created_at, due_at, since) \
             SELECT 'msg_' || lower(hex(randomblob(16))), job, ?2, ?3, ?4, ?4, ?4 FROM webhooks \
             WHERE job = ?1 AND instr(',' || events || ',', ',' || ?2 || ',') > 0",
        )?
        .execute(params![job, event.as_str(), position, now_ms])
        .map(|rows| rows > 0)
}

/// Notes that nobody wants the events of a job any more that wait at `now_ms`; [`Store::sweep_webhooks`] drops them.
///
/// [`Store::sweep_webhooks`]: crate::Store::sweep_webhooks
pub(crate) fn abandon(transaction: &Transaction<'_>, job: i64, now_ms: u64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE webhooks SET dropped_at = ?2 WHERE job = ?1")?
        .execute(params![job, now_ms])
        .map(drop)
}
