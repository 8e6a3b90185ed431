//! Delivery of an event: its content, and the outcome of an attempt.

use super::{JobEvent, WebhookSource};
use crate::database::Durability;
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Row, Transaction, params};
use crate::store::Store;

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// Identifier of the event on the wire.
    pub id: String,
    /// Identifier of the job or check on the wire.
    pub source_id: String,
    /// Team that owns the job or check.
    pub team: String,
    /// The kind of work that the event reports.
    pub source: WebhookSource,
    /// Kind of the event.
    pub event: JobEvent,
    /// Destination URL.
    pub url: String,
    /// Additional request headers, as a JSON object of strings.
    pub headers: String,
    /// Values repeated in every event, as a JSON object.
    pub metadata: String,
    /// True unless the event reports a failure.
    pub is_success: bool,
    /// The reason why the job or check failed.
    pub error: Option<String>,
    /// Number of attempts since the event, or since it was retried as a dead letter.
    pub attempts: u32,
    /// The secret that signs the event; `None` until the team has [one](Store::webhook_secret).
    pub secret: Option<[u8; 32]>,
    /// The document of a page of a job, or the data of an event of a check, as JSON.
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

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookAttempt {
    /// Number of the event.
    pub event: i64,
    /// Outcome of the attempt.
    pub outcome: DeliveryOutcome,
}

/// Counts of stored events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookStats {
    /// Pending events.
    pub pending: u64,
    /// Dead letters.
    pub dead_letters: u64,
}

impl Store {
    /// Returns the content of an event; `None` if it is no longer pending.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when its document cannot be decoded; otherwise failures of the database.
    pub fn webhook_delivery(&self, number: i64) -> Result<Option<WebhookDelivery>, StoreError> {
        let sql = "SELECT events.id, webhooks.source_id, webhooks.team, webhooks.source, events.event, \
                   webhooks.url, webhooks.headers, webhooks.metadata, coalesce(jobs.error, checks.error, runs.error), \
                   events.is_success, events.round, coalesce(documents.bytes, events.data_bytes), \
                   coalesce(documents.document, events.data), secrets.secret \
                   FROM webhook_events AS events JOIN webhooks ON webhooks.number = events.webhook \
                   LEFT JOIN job_documents AS documents \
                   ON documents.job = webhooks.job AND documents.position = events.position \
                   LEFT JOIN webhook_secrets AS secrets ON secrets.team = webhooks.team \
                   LEFT JOIN jobs ON jobs.number = webhooks.job \
                   LEFT JOIN monitor_checks AS checks ON checks.number = webhooks.monitor_check \
                   LEFT JOIN agent_runs AS runs ON runs.number = webhooks.agent_run \
                   WHERE events.number = ?1 AND events.forget_at IS NULL \
                   AND events.since > coalesce(webhooks.dropped_at, -1)";
        let found = self
            .database()
            .read(|connection| connection.query_optional(sql, params![number], stored_delivery))?;
        let Some((mut delivery, document)) = found else { return Ok(None) };
        if let Some(document) = document {
            let name = format!("the data of event {}", delivery.id);
            delivery.document = Some(document.decompress(self.database(), &name)?);
        }
        Ok(Some(delivery))
    }

    /// Records attempts at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database; then the events are unchanged, and will be sent again.
    pub fn record_webhook_attempts(
        &self,
        attempts: &[WebhookAttempt],
        now_ms: u64,
    ) -> Result<(), StoreError> {
        // Transactions change the events in the same order.
        let mut ordered: Vec<&WebhookAttempt> = attempts.iter().collect();
        ordered.sort_unstable_by_key(|attempt| attempt.event);
        self.database().write_rows(Durability::Process, |transaction| {
            ordered.iter().try_for_each(|attempt| record_attempt(transaction, attempt, now_ms))
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

/// Reads the content of an event, and its document.
fn stored_delivery(row: &Row<'_>) -> sql::Result<(WebhookDelivery, Option<CompressedDocument>)> {
    let event: JobEvent = row.get(4)?;
    let has_error = match event {
        JobEvent::Failed | JobEvent::MonitorCheckCompleted | JobEvent::RunFailed => true,
        JobEvent::Started
        | JobEvent::Page
        | JobEvent::Completed
        | JobEvent::MonitorPage
        | JobEvent::RunStarted
        | JobEvent::RunAction
        | JobEvent::RunCompleted
        | JobEvent::RunCancelled => false,
    };
    let delivery = WebhookDelivery {
        id: row.get(0)?,
        source_id: row.get(1)?,
        team: row.get(2)?,
        source: row.get(3)?,
        event,
        url: row.get(5)?,
        headers: row.get(6)?,
        metadata: row.get(7)?,
        error: row.get::<Option<String>>(8)?.filter(|_| has_error),
        is_success: row.get(9)?,
        attempts: row.get(10)?,
        secret: row.get(13)?,
        document: None,
    };
    let document = row.get::<Option<u64>>(11)?.zip(row.get(12)?);
    Ok((delivery, document.map(|(bytes, content)| CompressedDocument { bytes, content })))
}

fn record_attempt(transaction: &Transaction<'_>, attempt: &WebhookAttempt, now_ms: u64) -> sql::Result<()> {
    let WebhookAttempt { event, outcome } = attempt;
    match outcome {
        DeliveryOutcome::Delivered => {
            transaction.enqueue("DELETE FROM webhook_events WHERE number = ?1", params![event])
        }
        DeliveryOutcome::Failed { status, error, retry_at_ms, expires_at_ms } => {
            let expires_at_ms = retry_at_ms.is_none().then_some(expires_at_ms);
            transaction.enqueue(
                "UPDATE webhook_events SET attempts = attempts + 1, round = round + 1, tried_at = ?2, \
                 status = ?3, error = ?4, due_at = coalesce(?5, due_at), forget_at = ?6 \
                 WHERE number = ?1 AND forget_at IS NULL",
                params![event, now_ms, status, error, retry_at_ms, expires_at_ms],
            )
        }
    }
}
