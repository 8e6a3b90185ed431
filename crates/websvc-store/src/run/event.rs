//! Events of runs, with the snapshots that they refer to.

use super::row::is_workable;
use super::types::{AddRunEventsOutcome, NewRunEvent, NewRunSnapshot, RunLimits, RunWebhookEvent};
use crate::database::{Durability, Locked};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{DataEvent, JobEvent, enqueue_data, subscribed_webhook_of_run};

/// An event with its snapshot compressed, ready to be written.
pub(super) struct PreparedEvent {
    content: String,
    snapshot: Option<(String, CompressedDocument)>,
}

impl PreparedEvent {
    /// Compresses a snapshot. This takes CPU time, so it is a step before the database is locked.
    pub(super) fn new(event: NewRunEvent) -> Self {
        let NewRunEvent { content, snapshot } = event;
        let snapshot = snapshot.map(|NewRunSnapshot { id, content }| {
            let document = CompressedDocument::new(content.as_bytes());
            (id, document)
        });
        Self { content, snapshot }
    }

    fn bytes(&self) -> u64 {
        let snapshot = self.snapshot.as_ref().map_or(0, |(_, document)| document.content.len());
        (self.content.len() + snapshot) as u64
    }
}

/// Limits of the events of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventLimits {
    pub(super) max_events: u64,
    pub(super) max_bytes: u64,
}

/// An event for a webhook with its data compressed, ready to be written.
pub(super) struct PreparedWebhookEvent {
    event: JobEvent,
    data: CompressedDocument,
}

impl PreparedWebhookEvent {
    pub(super) fn new(event: RunWebhookEvent) -> Self {
        let RunWebhookEvent { event, data } = event;
        Self { event, data: CompressedDocument::new(data.as_bytes()) }
    }
}

impl Store {
    /// Adds events to a run that works, and enqueues events for its webhook. Events beyond the limits of the run are left
    /// out.
    ///
    /// # Errors
    /// Failures of the database; then nothing is stored.
    pub fn add_run_events(
        &self,
        run: i64,
        events: Vec<NewRunEvent>,
        webhook: Vec<RunWebhookEvent>,
        limits: &RunLimits,
        now_ms: u64,
    ) -> Result<AddRunEventsOutcome, StoreError> {
        let replica = self.membership().id();
        let events: Vec<PreparedEvent> = events.into_iter().map(PreparedEvent::new).collect();
        let webhook: Vec<PreparedWebhookEvent> = webhook.into_iter().map(PreparedWebhookEvent::new).collect();
        let limits = EventLimits { max_events: limits.max_events, max_bytes: limits.max_run_bytes };
        self.database().write_locked(Locked::Run(run), Durability::Process, |transaction| {
            if !is_workable(transaction, run, replica)? {
                return Ok(AddRunEventsOutcome::NotRunning);
            }
            write_events(transaction, run, &events, limits)?;
            for event in &webhook {
                write_webhook_event(transaction, run, event, true, now_ms)?;
            }
            let sql = "SELECT 1 FROM agent_runs WHERE number = ?1 AND cancel_requested_at IS NOT NULL";
            let is_cancelled = transaction.exists(sql, params![run])?;
            Ok(AddRunEventsOutcome::Added { is_cancelled })
        })
    }

    /// Returns the events of a run in their order, as JSON.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn run_events(&self, run: i64) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT content FROM agent_events WHERE run = ?1 ORDER BY position";
        self.database().read(|connection| connection.query(sql, params![run], |row| row.get(0)))
    }

    /// Returns the content of a snapshot of a run.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be decoded; otherwise failures of the database.
    pub fn run_snapshot(&self, run: i64, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT bytes, content FROM agent_snapshots WHERE run = ?1 AND id = ?2";
        let found = self.database().read(|connection| {
            connection.query_optional(sql, params![run, id], |row| {
                Ok(CompressedDocument { bytes: row.get(0)?, content: row.get(1)? })
            })
        })?;
        found.map(|document| document.decompress(self.database(), &format!("snapshot {id}"))).transpose()
    }
}

/// Writes events, those that fit into the limits.
pub(super) fn write_events(
    transaction: &Transaction<'_>,
    run: i64,
    events: &[PreparedEvent],
    limits: EventLimits,
) -> sql::Result<()> {
    let sql = "SELECT events, bytes FROM agent_runs WHERE number = ?1";
    let (mut count, mut bytes): (u64, u64) =
        transaction.query_row(sql, params![run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for event in events {
        if count >= limits.max_events || bytes.saturating_add(event.bytes()) > limits.max_bytes {
            continue;
        }
        (count, bytes) = (count + 1, bytes + event.bytes());
        let sql = "INSERT INTO agent_events (run, position, content) VALUES (?1, ?2, ?3)";
        transaction.execute(sql, params![run, count, event.content])?;
        if let Some((id, document)) = &event.snapshot {
            let sql = "INSERT INTO agent_snapshots (run, id, bytes, content) VALUES (?1, ?2, ?3, ?4)";
            transaction.execute(sql, params![run, id, document.bytes, document.content])?;
        }
    }
    let sql = "UPDATE agent_runs SET events = ?2, bytes = ?3 WHERE number = ?1";
    transaction.execute(sql, params![run, count, bytes]).map(drop)
}

/// Enqueues an event, if the run has a webhook for it.
pub(super) fn write_webhook_event(
    transaction: &Transaction<'_>,
    run: i64,
    event: &PreparedWebhookEvent,
    is_success: bool,
    now_ms: u64,
) -> sql::Result<()> {
    let PreparedWebhookEvent { event, data } = event;
    let Some(webhook) = subscribed_webhook_of_run(transaction, run, *event)? else { return Ok(()) };
    enqueue_data(transaction, webhook, &DataEvent { event: *event, data, is_success }, now_ms)
}
