//! Events on their way: which may be tried now, what is sent, and what came of it.

use rusqlite::{Connection, OptionalExtension, params};

use super::JobEvent;
use crate::database::Durability;
use crate::error::StoreError;
use crate::job::JobKind;
use crate::store::Store;

/// A job that has events to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookQueue {
    /// The number of the job.
    pub job: i64,
    /// Whose it is.
    pub team: String,
    /// The host that its events go to.
    pub host: String,
}

/// An event that may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueWebhook {
    /// The number of the event.
    pub number: i64,
    /// The size of its document.
    pub bytes: u64,
}

/// An event as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// ID of the event at the receiver.
    pub id: String,
    /// The name of the job.
    pub job: String,
    /// Whose it is.
    pub team: String,
    /// Kind of the job.
    pub kind: JobKind,
    /// Event.
    pub event: JobEvent,
    /// Destination URL.
    pub url: String,
    /// Headers of the owner's, as a JSON object of texts.
    pub headers: String,
    /// Values repeated in every event, as a JSON object.
    pub metadata: String,
    /// Why the job failed.
    pub error: Option<String>,
    /// Tries since it was begun, or begun anew.
    pub round: u32,
    /// The document of a page, as JSON.
    pub document: Option<Vec<u8>>,
}

/// Outcome of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The receiver has it.
    Delivered,
    /// It has not.
    Failed {
        /// The status of its answer, if there was one.
        status: Option<u16>,
        /// Why, in words without an address.
        error: String,
        /// When it is tried again, in milliseconds since the Unix epoch; `None` makes it a dead letter.
        due_at_ms: Option<u64>,
        /// Until when a dead letter is kept, in milliseconds since the Unix epoch.
        forget_at_ms: u64,
    },
}

/// How many events there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookStats {
    /// Those that wait for a try.
    pub waiting: u64,
    /// Dead letters.
    pub dead: u64,
}

impl Store {
    /// Returns the jobs that have events to deliver at `now_ms` (milliseconds since the Unix epoch), the oldest first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn webhook_queues(&self, now_ms: u64) -> Result<Vec<WebhookQueue>, StoreError> {
        let sql = "SELECT webhooks.job, jobs.team, webhooks.host FROM webhooks \
                   JOIN jobs ON jobs.number = webhooks.job WHERE webhooks.waiting > 0 \
                   AND EXISTS (SELECT 1 FROM webhook_events AS events WHERE events.job = webhooks.job \
                   AND events.forget_at IS NULL AND events.due_at <= ?1 \
                   AND events.since > ifnull(webhooks.dropped_at, -1)) ORDER BY webhooks.job";
        self.database().read(|connection| {
            connection
                .prepare_cached(sql)?
                .query_map([now_ms], |row| {
                    Ok(WebhookQueue { job: row.get(0)?, team: row.get(1)?, host: row.get(2)? })
                })?
                .collect()
        })
    }

    /// Returns when the next event is due after `now_ms`, in milliseconds since the Unix epoch, if there is one.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn next_webhook_due_ms(&self, now_ms: u64) -> Result<Option<u64>, StoreError> {
        self.database().read(|connection| {
            connection
                .prepare_cached(
                    "SELECT min(due_at) FROM webhook_events WHERE forget_at IS NULL AND due_at > ?1",
                )?
                .query_row([now_ms], |row| row.get(0))
        })
    }

    /// Returns the event of a job that is to be tried next at `now_ms` (milliseconds since the Unix epoch), beside those
    /// that are tried already. A page is not before the beginning of its job was tried, an end not before all that
    /// happened before it was.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn next_due_webhook(
        &self,
        job: i64,
        now_ms: u64,
        busy: &[i64],
    ) -> Result<Option<DueWebhook>, StoreError> {
        self.database().read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT number, event, attempts, ifnull((SELECT bytes FROM job_documents AS documents \
                 WHERE documents.job = events.job AND documents.position = events.position), 0) \
                 FROM webhook_events AS events WHERE job = ?1 AND forget_at IS NULL AND due_at <= ?2 \
                 AND since > (SELECT ifnull(webhooks.dropped_at, -1) FROM webhooks WHERE webhooks.job = ?1) \
                 ORDER BY due_at, number LIMIT ?3",
            )?;
            // Beside those that are tried already, one may be the end, which waits for the others.
            let mut rows = statement.query(params![job, now_ms, busy.len() as u64 + 2])?;
            while let Some(row) = rows.next()? {
                let (number, event, attempts): (i64, JobEvent, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
                if busy.contains(&number) {
                    continue;
                }
                let must_wait = attempts == 0
                    && match event {
                        JobEvent::Started => false,
                        // The beginning has the least number of all.
                        JobEvent::Page => first_untried(connection, job)?
                            .is_some_and(|(_, first)| first == JobEvent::Started),
                        JobEvent::Completed | JobEvent::Failed => {
                            first_untried(connection, job)?.is_some_and(|(first, _)| first < number)
                        }
                    };
                if !must_wait {
                    return Ok(Some(DueWebhook { number, bytes: row.get(3)? }));
                }
            }
            Ok(None)
        })
    }

    /// Returns an event as it is sent; `None` when it does not wait any more.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when its document cannot be decoded; otherwise failures of the database.
    pub fn webhook_delivery(&self, number: i64) -> Result<Option<WebhookDelivery>, StoreError> {
        let sql = "SELECT events.id, jobs.id, jobs.team, jobs.kind, events.event, webhooks.url, webhooks.headers, \
                   webhooks.metadata, jobs.error, events.round, events.job, events.position \
                   FROM webhook_events AS events JOIN webhooks ON webhooks.job = events.job \
                   JOIN jobs ON jobs.number = events.job WHERE events.number = ?1 AND events.forget_at IS NULL \
                   AND events.since > ifnull(webhooks.dropped_at, -1)";
        let found = self.database().read(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row([number], |row| {
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
                        error: row.get::<_, Option<String>>(8)?.filter(|_| event == JobEvent::Failed),
                        round: row.get(9)?,
                        document: None,
                    };
                    Ok((delivery, row.get::<_, i64>(10)?, row.get::<_, Option<u64>>(11)?))
                })
                .optional()
        })?;
        let Some((mut delivery, job, position)) = found else { return Ok(None) };
        if let Some(position) = position {
            let page = self.job_documents(job, position.saturating_sub(1), 1, u64::MAX)?;
            delivery.document = page.documents.into_iter().next();
        }
        Ok(Some(delivery))
    }

    /// Notes what became of a try at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database; the event is as it was, and will be tried again.
    pub fn record_webhook_attempt(
        &self,
        number: i64,
        tried: &DeliveryOutcome,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        self.database().write(Durability::Process, |transaction| match tried {
            DeliveryOutcome::Delivered => transaction
                .prepare_cached("DELETE FROM webhook_events WHERE number = ?1")?
                .execute([number])
                .map(drop),
            DeliveryOutcome::Failed { status, error, due_at_ms, forget_at_ms } => transaction
                .prepare_cached(
                    "UPDATE webhook_events SET attempts = attempts + 1, round = round + 1, tried_at = ?2, \
                     status = ?3, error = ?4, due_at = ifnull(?5, due_at), \
                     forget_at = iif(?5 IS NULL, ?6, NULL) WHERE number = ?1 AND forget_at IS NULL",
                )?
                .execute(params![number, now_ms, status, error, due_at_ms, forget_at_ms])
                .map(drop),
        })
    }

    /// Returns how many events there are.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn webhook_figures(&self) -> Result<WebhookStats, StoreError> {
        let sql = "SELECT (SELECT ifnull(sum(waiting), 0) FROM webhooks WHERE waiting > 0), \
                   (SELECT count(*) FROM webhook_events WHERE forget_at IS NOT NULL)";
        self.database().read(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row([], |row| Ok(WebhookStats { waiting: row.get(0)?, dead: row.get(1)? }))
        })
    }
}

/// Returns the first event of a job that waits for its first try.
fn first_untried(connection: &Connection, job: i64) -> rusqlite::Result<Option<(i64, JobEvent)>> {
    connection
        .prepare_cached(
            "SELECT number, event FROM webhook_events WHERE job = ?1 AND forget_at IS NULL AND attempts = 0 \
             ORDER BY number LIMIT 1",
        )?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}
