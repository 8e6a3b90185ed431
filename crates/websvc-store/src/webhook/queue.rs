//! The queues of pending events: which webhooks have events that are due, and the next one of each.

use super::JobEvent;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::{self, Connection, Params, ToSql, Transaction, params};
use crate::store::Store;

/// A webhook with pending events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookQueue {
    /// Number of the webhook.
    pub webhook: i64,
    /// Team that owns the job or check.
    pub team: String,
    /// Host of the webhook.
    pub host: String,
}

/// An event that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueWebhook {
    /// Number of the event.
    pub number: i64,
    /// Size of its document.
    pub document_bytes: u64,
}

/// Maximum of webhooks that a replica takes over at once, so that the others get some too.
const MAX_CLAIMED: usize = 64;

impl Store {
    /// Returns the webhooks with events that are due at `now_ms` (milliseconds since the Unix epoch), the oldest first.
    /// If this process has [joined](Self::join_replicas) the replicas, returns only those whose events it delivers: its
    /// own ones, and up to 64 that no replica has, which it takes over.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn webhook_queues(&self, now_ms: u64) -> Result<Vec<WebhookQueue>, StoreError> {
        let replica = self.membership().id();
        let found = self.database().read(|connection| due_queues(connection, replica, now_ms))?;
        let (mut queues, free): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, owner)| replica.is_none() || *owner == replica);
        if let Some(replica) = replica
            && !free.is_empty()
            && !self.membership().is_leaving()
        {
            let claimed = self
                .database()
                .write_shared(Durability::Process, |transaction| claim(transaction, replica, &free))?;
            queues.extend(claimed);
            queues.sort_by_key(|(queue, _)| queue.webhook);
        }
        Ok(queues.into_iter().map(|(queue, _)| queue).collect())
    }

    /// Returns the time of the next event that is due after `now_ms`, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn next_webhook_due_ms(&self, now_ms: u64) -> Result<Option<u64>, StoreError> {
        self.database().read(|connection| {
            connection.query_row(
                "SELECT min(due_at) FROM webhook_events WHERE forget_at IS NULL AND due_at > ?1",
                params![now_ms],
                |row| row.get(0),
            )
        })
    }

    /// Returns up to `max` events of a webhook that are due at `now_ms` (milliseconds since the Unix epoch) and not in
    /// flight, in their order. The first attempt of a page event follows that of the started event. The first attempt of
    /// an end event or of an action of a run follows those of all earlier events.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn due_webhooks(
        &self,
        webhook: i64,
        now_ms: u64,
        in_flight: &[i64],
        max: usize,
    ) -> Result<Vec<DueWebhook>, StoreError> {
        let sql = "SELECT events.number, events.event, events.attempts, \
                   coalesce(events.data_bytes, documents.bytes, 0) FROM webhook_events AS events \
                   JOIN webhooks ON webhooks.number = events.webhook LEFT JOIN job_documents AS documents \
                   ON documents.job = webhooks.job AND documents.position = events.position \
                   WHERE events.webhook = ?1 AND events.forget_at IS NULL AND events.due_at <= ?2 \
                   AND events.since > coalesce(webhooks.dropped_at, -1) \
                   ORDER BY events.due_at, events.number LIMIT ?3";
        // One more than those in flight, because the end event may have to wait for the others.
        let limit = (in_flight.len() + max + 1) as u64;
        self.database().read(|connection| {
            let due: Vec<(DueWebhook, JobEvent, u32)> =
                connection.query(sql, params![webhook, now_ms, limit], |row| {
                    let due = DueWebhook { number: row.get(0)?, document_bytes: row.get(3)? };
                    Ok((due, row.get(1)?, row.get(2)?))
                })?;
            let is_new = |(_, _, attempts): &(DueWebhook, JobEvent, u32)| *attempts == 0;
            let first = match due.iter().any(is_new) {
                true => first_unattempted(connection, webhook)?,
                false => None,
            };
            let may_start = |(due, event, attempts): &(DueWebhook, JobEvent, u32)| {
                *attempts > 0 || first.is_none_or(|first| !must_wait(due.number, *event, first))
            };
            let startable =
                due.into_iter().filter(|event| !in_flight.contains(&event.0.number) && may_start(event));
            Ok(startable.take(max).map(|(due, _, _)| due).collect())
        })
    }
}

/// Returns whether an event without an attempt must wait, if `first` is the first one of its webhook.
fn must_wait(number: i64, event: JobEvent, (first, first_event): (i64, JobEvent)) -> bool {
    match event {
        JobEvent::Started | JobEvent::RunStarted => false,
        // The started event has the lowest number of all. A check has none.
        JobEvent::Page | JobEvent::MonitorPage => first_event == JobEvent::Started,
        // The actions of a run follow each other.
        JobEvent::Completed
        | JobEvent::Failed
        | JobEvent::MonitorCheckCompleted
        | JobEvent::RunAction
        | JobEvent::RunCompleted
        | JobEvent::RunFailed
        | JobEvent::RunCancelled => first < number,
    }
}

/// Returns the webhooks with due events that a replica has or no replica has, with their owners. Without a replica,
/// returns those of all.
fn due_queues(
    connection: &Connection,
    replica: Option<i64>,
    now_ms: u64,
) -> sql::Result<Vec<(WebhookQueue, Option<i64>)>> {
    let sql = "SELECT number, team, host, replica FROM webhooks WHERE waiting > 0 \
               AND coalesce(replica = ?2, 1 = 1) \
               AND EXISTS (SELECT 1 FROM webhook_events AS events WHERE events.webhook = webhooks.number \
               AND events.forget_at IS NULL AND events.due_at <= ?1 \
               AND events.since > coalesce(webhooks.dropped_at, -1)) ORDER BY number";
    connection.query(sql, params![now_ms, replica], |row| {
        let queue = WebhookQueue { webhook: row.get(0)?, team: row.get(1)?, host: row.get(2)? };
        Ok((queue, row.get(3)?))
    })
}

/// Makes a replica the owner of up to [`MAX_CLAIMED`] queues, and returns those that no other has taken meanwhile.
fn claim(
    transaction: &Transaction<'_>,
    replica: i64,
    free: &[(WebhookQueue, Option<i64>)],
) -> sql::Result<Vec<(WebhookQueue, Option<i64>)>> {
    let sql = "UPDATE webhooks SET replica = ?1 WHERE number = ?2 AND replica IS NULL RETURNING number";
    let free = &free[..free.len().min(MAX_CLAIMED)];
    let values: Vec<[&dyn ToSql; 2]> =
        free.iter().map(|(queue, _)| [&replica as &dyn ToSql, &queue.webhook]).collect();
    let values: Vec<Params<'_>> = values.iter().map(|values| &values[..]).collect();
    let claimed = transaction.query_each(sql, &values, |_| Ok(()))?;
    Ok(free
        .iter()
        .zip(claimed)
        .filter_map(|(queue, is_claimed)| is_claimed.map(|()| queue.clone()))
        .collect())
}

/// Returns the first event of a webhook without an attempt.
fn first_unattempted(connection: &Connection, webhook: i64) -> sql::Result<Option<(i64, JobEvent)>> {
    connection.query_optional(
        "SELECT number, event FROM webhook_events WHERE webhook = ?1 AND forget_at IS NULL AND attempts = 0 \
             ORDER BY number LIMIT 1",
        params![webhook],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}
