//! Enqueuing of events, in the transactions of the changes that they report.

use data_encoding::HEXLOWER;

use super::{JobEvent, NewWebhook, WebhookSource};
use crate::document::CompressedDocument;
use crate::sql::{self, Connection, Transaction, params};

/// A new job, check or run whose events a webhook receives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WebhookSubject<'a> {
    /// Number of the job, check or run.
    pub(crate) number: i64,
    pub(crate) source: WebhookSource,
    /// Identifier on the wire.
    pub(crate) id: &'a str,
    pub(crate) team: &'a str,
}

/// An event with data, of a check or a run.
#[derive(Debug)]
pub(crate) struct DataEvent<'a> {
    pub(crate) event: JobEvent,
    /// The content of `data`.
    pub(crate) data: &'a CompressedDocument,
    /// The value of `success`.
    pub(crate) is_success: bool,
}

/// Stores the webhook of a new job, check or run, and enqueues the started event of a job.
pub(crate) fn register(
    transaction: &Transaction<'_>,
    subject: WebhookSubject<'_>,
    webhook: &NewWebhook,
    now_ms: u64,
) -> sql::Result<()> {
    let WebhookSubject { number, source, id, team } = subject;
    let NewWebhook { url, host, headers, metadata, events } = webhook;
    let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
    let (job, check, run) = match source {
        WebhookSource::Batch | WebhookSource::Crawl => (Some(number), None, None),
        WebhookSource::Monitor => (None, Some(number), None),
        WebhookSource::Agent | WebhookSource::Extract => (None, None, Some(number)),
    };
    transaction.execute(
        "INSERT INTO webhooks \
         (job, monitor_check, agent_run, team, source, source_id, url, host, headers, metadata, events) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![job, check, run, team, source.as_str(), id, url, host, headers, metadata, events.join(",")],
    )?;
    if job.is_some() {
        enqueue_of_job(transaction, number, JobEvent::Started, None, now_ms)?;
    }
    Ok(())
}

/// Enqueues an event, if the job has a webhook for this kind of event, and returns whether it has. For a page event,
/// `position` is that of its document.
pub(crate) fn enqueue_of_job(
    transaction: &Transaction<'_>,
    job: i64,
    event: JobEvent,
    position: Option<u64>,
    now_ms: u64,
) -> sql::Result<bool> {
    let sql = "SELECT number, events FROM webhooks WHERE job = ?1";
    let Some(webhook) = subscribed(transaction, sql, job, event)? else { return Ok(false) };
    enqueue_event(transaction, webhook, event, position, now_ms)?;
    Ok(true)
}

/// Enqueues an event of a job for its subscribed webhook.
pub(crate) fn enqueue_event(
    transaction: &Transaction<'_>,
    webhook: i64,
    event: JobEvent,
    position: Option<u64>,
    now_ms: u64,
) -> sql::Result<()> {
    let sql = "INSERT INTO webhook_events (id, webhook, event, position, is_success, created_at, due_at, since) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?6)";
    let is_success = event != JobEvent::Failed;
    transaction.enqueue(sql, params![message_id()?, webhook, event.as_str(), position, is_success, now_ms])
}

/// Returns whether the events of a webhook, as they are stored, contain one.
pub(crate) fn contains_event(events: &str, event: JobEvent) -> bool {
    events.split(',').any(|name| name == event.as_str())
}

/// Returns the webhook of a check, if it has one for this kind of event.
pub(crate) fn subscribed_webhook(
    connection: &Connection,
    check: i64,
    event: JobEvent,
) -> sql::Result<Option<i64>> {
    let sql = "SELECT number, events FROM webhooks WHERE monitor_check = ?1";
    subscribed(connection, sql, check, event)
}

/// Returns the webhook of a run, if it has one for this kind of event.
pub(crate) fn subscribed_webhook_of_run(
    connection: &Connection,
    run: i64,
    event: JobEvent,
) -> sql::Result<Option<i64>> {
    subscribed(connection, "SELECT number, events FROM webhooks WHERE agent_run = ?1", run, event)
}

fn subscribed(connection: &Connection, sql: &str, number: i64, event: JobEvent) -> sql::Result<Option<i64>> {
    let found: Option<(i64, String)> =
        connection.query_optional(sql, params![number], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.filter(|(_, events)| contains_event(events, event)).map(|(webhook, _)| webhook))
}

/// Enqueues an event of a check or a run for its subscribed webhook.
pub(crate) fn enqueue_data(
    transaction: &Transaction<'_>,
    webhook: i64,
    event: &DataEvent<'_>,
    now_ms: u64,
) -> sql::Result<()> {
    let DataEvent { event, data, is_success } = event;
    let sql = "INSERT INTO webhook_events \
               (id, webhook, event, data, data_bytes, is_success, created_at, due_at, since) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7)";
    let values =
        params![message_id()?, webhook, event.as_str(), data.content, data.bytes, is_success, now_ms];
    transaction.execute(sql, values).map(drop)
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
    Ok(format!("msg_{}", HEXLOWER.encode(&bytes)))
}
