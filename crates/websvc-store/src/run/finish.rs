//! The end of a run: one transaction with its charge, its last events and the event of its webhook.

use super::event::{EventLimits, PreparedEvent, PreparedWebhookEvent, write_events, write_webhook_event};
use super::row::is_workable;
use super::types::{FinishedRun, RunEndEvent, RunLimits, RunStatus, RunWebhookEvent};
use crate::clock::add_ms;
use crate::database::{Durability, Locked};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::job::run_without_secrets;
use crate::ledger::Charges;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// The events of an end are few and small.
const NO_LIMITS: EventLimits = EventLimits { max_events: u64::MAX, max_bytes: u64::MAX };

impl Store {
    /// Ends a run at `now_ms` (milliseconds since the Unix epoch). Returns the charged credits; `None` if the run had ended
    /// or was deleted, or another replica owns it. Then nothing is stored or charged.
    ///
    /// # Errors
    /// Failures of the database; then nothing is stored or charged.
    pub fn finish_run(
        &self,
        run: i64,
        finished: FinishedRun,
        limits: &RunLimits,
        now_ms: u64,
    ) -> Result<Option<u64>, StoreError> {
        let FinishedRun { status, error, message, result, mut charge, events, webhook } = finished;
        let replica = self.membership().id();
        let events: Vec<PreparedEvent> = events.into_iter().map(PreparedEvent::new).collect();
        let price = charge.as_ref().map_or(0, |(_, usage)| usage.price());
        // Most teams can pay the price. Then the event need not be compressed while the database is locked.
        let prepared = webhook.as_ref().map(|webhook| prepare(webhook, price));
        let result = result.map(|result| CompressedDocument::new(result.as_bytes()));
        let expires_at_ms = add_ms(now_ms, limits.retention);
        let charged = self.database().write_locked(Locked::Run(run), Durability::Power, |transaction| {
            if !status.is_finished() || !is_workable(transaction, run, replica)? {
                return Ok(None);
            }
            let mut charges = Charges::default();
            let credits = match &mut charge {
                Some((hold, usage)) => hold.settle_in_transaction(&mut charges, usage.clone()),
                None => 0,
            };
            let sql = "UPDATE agent_runs SET status = ?2, error = ?3, credits = ?4, result = ?5, result_bytes = ?6, \
                       bytes = bytes + ?7, finished_at = ?8, expires_at = ?9, replica = NULL WHERE number = ?1";
            let (content, bytes) = match &result {
                Some(document) => (Some(&document.content), Some(document.bytes)),
                None => (None, None),
            };
            let stored = content.map_or(0, Vec::len) + message.as_ref().map_or(0, String::len);
            let values = params![
                run,
                status.as_str(),
                error,
                credits,
                content,
                bytes,
                stored,
                now_ms,
                expires_at_ms
            ];
            transaction.execute(sql, values)?;
            if let Some(message) = &message {
                let sql = "INSERT INTO agent_messages (run, content) VALUES (?1, ?2)";
                transaction.execute(sql, params![run, message])?;
            }
            charges.write(transaction, self)?;
            remove_secrets(transaction, run)?;
            write_events(transaction, run, &events, NO_LIMITS)?;
            if let (Some(webhook), Some(prepared)) = (&webhook, &prepared) {
                let is_success = status == RunStatus::Succeeded;
                let of_less = (credits != price).then(|| prepare(webhook, credits));
                let event = of_less.as_ref().unwrap_or(prepared);
                write_webhook_event(transaction, run, event, is_success, now_ms)?;
            }
            Ok(Some(credits))
        })?;
        if let (Some(credits), Some((hold, _))) = (charged, charge)
            && credits > 0
        {
            hold.finish_settlement(credits);
        }
        Ok(charged)
    }
}

/// Compresses the event of an end with these charged credits.
fn prepare(webhook: &RunEndEvent, credits: u64) -> PreparedWebhookEvent {
    let RunEndEvent { event, data } = webhook;
    PreparedWebhookEvent::new(RunWebhookEvent { event: *event, data: data(credits) })
}

/// Removes headers and credentials from the request of a run that has ended.
fn remove_secrets(transaction: &Transaction<'_>, run: i64) -> sql::Result<()> {
    let sql = "SELECT request FROM agent_runs WHERE number = ?1";
    let request: String = transaction.query_row(sql, params![run], |row| row.get(0))?;
    if let Some(request) = run_without_secrets(&request) {
        transaction.execute("UPDATE agent_runs SET request = ?2 WHERE number = ?1", params![run, request])?;
    }
    Ok(())
}
