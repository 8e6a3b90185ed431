//! Delivery of an event: its content, and the outcome of an attempt.

use super::{JobEvent, WebhookSource};
use crate::database::Durability;
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Row, params};
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
                   events.is_success, events.round, webhooks.job, events.position, events.data_bytes, events.data \
                   FROM webhook_events AS events JOIN webhooks ON webhooks.number = events.webhook \
                   LEFT JOIN jobs ON jobs.number = webhooks.job \
                   LEFT JOIN monitor_checks AS checks ON checks.number = webhooks.monitor_check \
                   LEFT JOIN agent_runs AS runs ON runs.number = webhooks.agent_run \
                   WHERE events.number = ?1 AND events.forget_at IS NULL \
                   AND events.since > coalesce(webhooks.dropped_at, -1)";
        let found = self
            .database()
            .read(|connection| connection.query_optional(sql, params![number], stored_delivery))?;
        let Some(StoredDelivery { mut delivery, page, data }) = found else { return Ok(None) };
        if let Some((job, position)) = page {
            let page = self.job_documents(job, position.saturating_sub(1), 1, u64::MAX)?;
            delivery.document = page.documents.into_iter().next();
        }
        if let Some(data) = data {
            let name = format!("the data of event {}", delivery.id);
            delivery.document = Some(data.decompress(self.database(), &name)?);
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

/// The content of an event without its document.
struct StoredDelivery {
    delivery: WebhookDelivery,
    /// Job and position of the document of a page.
    page: Option<(i64, u64)>,
    /// The data of an event of a check.
    data: Option<CompressedDocument>,
}

fn stored_delivery(row: &Row<'_>) -> sql::Result<StoredDelivery> {
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
        document: None,
    };
    let page = row.get::<Option<i64>>(11)?.zip(row.get(12)?);
    let data = row.get::<Option<u64>>(13)?.zip(row.get(14)?);
    let data = data.map(|(bytes, content)| CompressedDocument { bytes, content });
    Ok(StoredDelivery { delivery, page, data })
}
