//! Enqueuing of events, in the transactions of the changes that they report.

use crate::sql::{self, Transaction, params};

use super::{JobEvent, NewWebhook};

/// Stores the webhook of a new job, and enqueues the started event.
pub(crate) fn register(
    transaction: &Transaction<'_>,
    job: i64,
    webhook: &NewWebhook,
    now_ms: u64,
) -> sql::Result<()> {
    let NewWebhook { url, host, headers, metadata, events } = webhook;
    let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
    transaction.execute(
        "INSERT INTO webhooks (job, url, host, headers, metadata, events) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![job, url, host, headers, metadata, events.join(",")],
    )?;
    enqueue(transaction, job, JobEvent::Started, None, now_ms).map(drop)
}

/// Enqueues an event, if the job has a webhook for this kind of event, and returns whether it has. For a page event,
/// `position` is that of its document.
pub(crate) fn enqueue(
    transaction: &Transaction<'_>,
    job: i64,
    event: JobEvent,
    position: Option<u64>,
    now_ms: u64,
) -> sql::Result<bool> {
    transaction
        .execute(
            "INSERT INTO webhook_events (id, job, event, position, created_at, due_at, since) \
             SELECT 'msg_' || lower(hex(randomblob(16))), job, ?2, ?3, ?4, ?4, ?4 FROM webhooks \
             WHERE job = ?1 AND instr(',' || events || ',', ',' || ?2 || ',') > 0",
            params![job, event.as_str(), position, now_ms],
        )
        .map(|rows| rows > 0)
}

/// Marks the events of a job that are pending at `now_ms` as abandoned; [`Store::sweep_webhooks`] drops them.
///
/// [`Store::sweep_webhooks`]: crate::Store::sweep_webhooks
pub(crate) fn abandon(transaction: &Transaction<'_>, job: i64, now_ms: u64) -> sql::Result<()> {
    transaction.execute("UPDATE webhooks SET dropped_at = ?2 WHERE job = ?1", params![job, now_ms]).map(drop)
}
