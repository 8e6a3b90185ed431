//! Delivery of pending events: the next event that is due, its content, and the outcome of an attempt.

use super::JobEvent;
use crate::database::Durability;
use crate::error::StoreError;
use crate::job::JobKind;
use crate::sql::{self, Connection, Transaction, params};
use crate::store::Store;

/// A job with pending events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookQueue {
    /// Number of the job.
    pub job: i64,
    /// Team that owns the job.
    pub team: String,
    /// Host of its webhook.
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

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// Identifier of the event on the wire.
    pub id: String,
    /// Identifier of the job on the wire.
    pub job: String,
    /// Team that owns the job.
    pub team: String,
    /// Kind of the job.
    pub kind: JobKind,
    /// Kind of the event.
    pub event: JobEvent,
    /// Destination URL.
    pub url: String,
    /// Additional request headers, as a JSON object of strings.
    pub headers: String,
    /// Values repeated in every event, as a JSON object.
    pub metadata: String,
    /// The reason why the job failed.
    pub error: Option<String>,
    /// Number of attempts since the event, or since it was retried as a dead letter.
    pub attempts: u32,
    /// The document of a page, as JSON.
    pub document: Option<Vec<u8>>,
}

/// Outcome of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The receiver acknowledged the event.
    Delivered,
    /// It did not.
    Failed {
        /// HTTP status of the response, if there was one.
        status: Option<u16>,
        /// Error message, without the URL.
        error: String,
        /// Time of the next attempt, in milliseconds since the Unix epoch; `None` makes the event a dead letter.
        retry_at_ms: Option<u64>,
        /// Time of the deletion of a dead letter, in milliseconds since the Unix epoch.
        expires_at_ms: u64,
    },
}

/// Counts of stored events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookStats {
    /// Pending events.
    pub pending: u64,
    /// Dead letters.
    pub dead_letters: u64,
}

/// Maximum of webhooks that a replica takes over at once, so that the others get some too.
const MAX_CLAIMED: usize = 64;

impl Store {
    /// Returns the jobs with events that are due at `now_ms` (milliseconds since the Unix epoch), the oldest first. If
    /// this process has [joined](Self::join_replicas) the replicas, returns only those whose events it delivers: its own
    /// ones, and up to 64 that no replica has, which it takes over.
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
        {
            let claimed = self
                .database()
                .write(Durability::Process, |transaction| claim(transaction, replica, free))?;
            queues.extend(claimed);
            queues.sort_by_key(|(queue, _)| queue.job);
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

    /// Returns the next event of a job that is due at `now_ms` (milliseconds since the Unix epoch) and not in flight.
    /// The first attempt of a page event follows that of the started event. The first attempt of an end event follows
    /// those of all earlier events.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn next_due_webhook(
        &self,
        job: i64,
        now_ms: u64,
        in_flight: &[i64],
    ) -> Result<Option<DueWebhook>, StoreError> {
        self.database().read(|connection| {
            let sql = "SELECT number, event, attempts, coalesce((SELECT bytes FROM job_documents AS documents \
                       WHERE documents.job = events.job AND documents.position = events.position), 0) \
                       FROM webhook_events AS events WHERE job = ?1 AND forget_at IS NULL AND due_at <= ?2 \
                       AND since > (SELECT coalesce(webhooks.dropped_at, -1) FROM webhooks WHERE webhooks.job = ?1) \
                       ORDER BY due_at, number LIMIT ?3";
            // One more than those in flight, and another because the end event may have to wait for the others.
            let due: Vec<(i64, JobEvent, u32, u64)> =
                connection.query(sql, params![job, now_ms, in_flight.len() as u64 + 2], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })?;
            for (number, event, attempts, document_bytes) in due {
                if in_flight.contains(&number) {
                    continue;
                }
                let must_wait = attempts == 0
                    && match event {
                        JobEvent::Started => false,
                        // The started event has the lowest number of all.
                        JobEvent::Page => first_unattempted(connection, job)?
                            .is_some_and(|(_, first)| first == JobEvent::Started),
                        JobEvent::Completed | JobEvent::Failed => {
                            first_unattempted(connection, job)?.is_some_and(|(first, _)| first < number)
                        }
                    };
                if !must_wait {
                    return Ok(Some(DueWebhook { number, document_bytes }));
                }
            }
            Ok(None)
        })
    }

    /// Returns the content of an event; `None` if it is no longer pending.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when its document cannot be decoded; otherwise failures of the database.
    pub fn webhook_delivery(&self, number: i64) -> Result<Option<WebhookDelivery>, StoreError> {
        let sql = "SELECT events.id, jobs.id, jobs.team, jobs.kind, events.event, webhooks.url, webhooks.headers, \
                   webhooks.metadata, jobs.error, events.round, events.job, events.position \
                   FROM webhook_events AS events JOIN webhooks ON webhooks.job = events.job \
                   JOIN jobs ON jobs.number = events.job WHERE events.number = ?1 AND events.forget_at IS NULL \
                   AND events.since > coalesce(webhooks.dropped_at, -1)";
        let found = self.database().read(|connection| {
            connection.query_optional(sql, params![number], |row| {
                let event: JobEvent = row.get(4)?;
                let delivery = WebhookDelivery {
                    id: row.get(0)?,
                    job: row.get(1)?,
                    team: row.get(2)?,
                    kind: row.get(3)?,
                    event,
                    url: row.get(5)?,
                    headers: row.get(6)?,
                    metadata: row.get(7)?,
                    error: row.get::<Option<String>>(8)?.filter(|_| event == JobEvent::Failed),
                    attempts: row.get(9)?,
                    document: None,
                };
                Ok((delivery, row.get::<i64>(10)?, row.get::<Option<u64>>(11)?))
            })
        })?;
        let Some((mut delivery, job, position)) = found else { return Ok(None) };
        if let Some(position) = position {
            let page = self.job_documents(job, position.saturating_sub(1), 1, u64::MAX)?;
            delivery.document = page.documents.into_iter().next();
        }
        Ok(Some(delivery))
    }

    /// Records the outcome of an attempt at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database; then the event is unchanged, and will be sent again.
    pub fn record_webhook_attempt(
        &self,
        number: i64,
        outcome: &DeliveryOutcome,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        self.database().write(Durability::Process, |transaction| match outcome {
            DeliveryOutcome::Delivered => {
                transaction.execute("DELETE FROM webhook_events WHERE number = ?1", params![number]).map(drop)
            }
            DeliveryOutcome::Failed { status, error, retry_at_ms, expires_at_ms } => {
                let expires_at_ms = retry_at_ms.is_none().then_some(expires_at_ms);
                transaction
                    .execute(
                        "UPDATE webhook_events SET attempts = attempts + 1, round = round + 1, tried_at = ?2, \
                         status = ?3, error = ?4, due_at = coalesce(?5, due_at), forget_at = ?6 \
                         WHERE number = ?1 AND forget_at IS NULL",
                        params![number, now_ms, status, error, retry_at_ms, expires_at_ms],
                    )
                    .map(drop)
            }
        })
    }

    /// Returns the counts of stored events.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn webhook_stats(&self) -> Result<WebhookStats, StoreError> {
        let sql = "SELECT (SELECT coalesce(sum(waiting), 0) FROM webhooks WHERE waiting > 0), \
                   (SELECT count(*) FROM webhook_events WHERE forget_at IS NOT NULL)";
        self.database().read(|connection| {
            connection.query_row(sql, params![], |row| {
                Ok(WebhookStats { pending: row.get(0)?, dead_letters: row.get(1)? })
            })
        })
    }
}

/// Returns the jobs with due events that a replica has or no replica has, with their owners. Without a replica, returns
/// those of all.
fn due_queues(
    connection: &Connection,
    replica: Option<i64>,
    now_ms: u64,
) -> sql::Result<Vec<(WebhookQueue, Option<i64>)>> {
    let sql = "SELECT webhooks.job, jobs.team, webhooks.host, webhooks.replica \
               FROM webhooks JOIN jobs ON jobs.number = webhooks.job WHERE webhooks.waiting > 0 \
               AND coalesce(webhooks.replica = ?2, 1 = 1) \
               AND EXISTS (SELECT 1 FROM webhook_events AS events WHERE events.job = webhooks.job \
               AND events.forget_at IS NULL AND events.due_at <= ?1 \
               AND events.since > coalesce(webhooks.dropped_at, -1)) ORDER BY webhooks.job";
    connection.query(sql, params![now_ms, replica], |row| {
        let queue = WebhookQueue { job: row.get(0)?, team: row.get(1)?, host: row.get(2)? };
        Ok((queue, row.get(3)?))
    })
}

/// Makes a replica the owner of up to [`MAX_CLAIMED`] queues, and returns those that no other has taken meanwhile.
fn claim(
    transaction: &Transaction<'_>,
    replica: i64,
    free: Vec<(WebhookQueue, Option<i64>)>,
) -> sql::Result<Vec<(WebhookQueue, Option<i64>)>> {
    let sql = "UPDATE webhooks SET replica = ?1 WHERE job = ?2 AND replica IS NULL";
    let mut claimed = Vec::new();
    for queue in free.into_iter().take(MAX_CLAIMED) {
        if transaction.execute(sql, params![replica, queue.0.job])? == 1 {
            claimed.push(queue);
        }
    }
    Ok(claimed)
}

/// Returns the first event of a job without an attempt.
fn first_unattempted(connection: &Connection, job: i64) -> sql::Result<Option<(i64, JobEvent)>> {
    connection.query_optional(
        "SELECT number, event FROM webhook_events WHERE job = ?1 AND forget_at IS NULL AND attempts = 0 \
             ORDER BY number LIMIT 1",
        params![job],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}
