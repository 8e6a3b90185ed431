//! Enqueuing of events, in the transactions of the changes that they report.

use super::{JobEvent, NewWebhook};
use crate::secret::hex;
use crate::sql::{self, Transaction, params};

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
    let events: Option<String> =
        transaction
            .query_optional("SELECT events FROM webhooks WHERE job = ?1", params![job], |row| row.get(0))?;
    let Some(events) = events else { return Ok(false) };
    if !events.split(',').any(|name| name == event.as_str()) {
        return Ok(false);
    }
    let sql = "INSERT INTO webhook_events (id, job, event, position, created_at, due_at, since) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)";
    transaction.execute(sql, params![message_id()?, job, event.as_str(), position, now_ms])?;
    Ok(true)
}

/// Marks the events of a job that are pending at `now_ms` as abandoned; [`Store::sweep_webhooks`] drops them.
///
/// [`Store::sweep_webhooks`]: crate::Store::sweep_webhooks
pub(crate) fn abandon(transaction: &Transaction<'_>, job: i64, now_ms: u64) -> sql::Result<()> {
    transaction.execute("UPDATE webhooks SET dropped_at = ?2 WHERE job = ?1", params![job, now_ms]).map(drop)
}

/// Returns a new identifier of an event: 128 random bits in hex.
fn message_id() -> sql::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(sql::Error::Random)?;
    Ok(format!("msg_{}", hex(&bytes)))
}
