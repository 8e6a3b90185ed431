//! The end of attempts to send messages, and the limits of confirmation emails.

use super::message::{delete, is_owned};
use super::message_types::{
    CONFIRMATION_RETENTION_MS, ConfirmationLimits, ConfirmationPermit, DAY_MS, MessageKind, MessageOutcome,
    MessageRecord,
};
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

impl Store {
    /// Records the end of an attempt to send a message at `now_ms` (milliseconds since the Unix epoch). `notifications`
    /// changes the deliveries of its check, as JSON. Returns false, and changes nothing, if this process does not own the
    /// message any more.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn record_message_outcome(
        &self,
        message: &MessageRecord,
        outcome: MessageOutcome,
        notifications: impl FnOnce(&str) -> String,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let replica = self.membership().id();
        let thing = message.check.map_or(Locked::Monitor(message.monitor), Locked::Check);
        self.database().write_locked(thing, Durability::Process, |transaction| {
            if !is_owned(transaction, message.number, replica)? {
                return Ok(false);
            }
            if let Some(check) = message.check {
                change_notifications(transaction, check, notifications, now_ms)?;
            }
            match outcome {
                MessageOutcome::Sent => {
                    set_confirmation_sent(transaction, message, now_ms)?;
                    delete(transaction, message.number)?;
                }
                MessageOutcome::Dropped => delete(transaction, message.number)?,
                MessageOutcome::Retry { due_at_ms, is_uncertain } => {
                    let sql = "UPDATE monitor_messages SET due_at = ?2, is_sending = 0, replica = NULL, \
                               attempts = attempts + 1, interruptions = interruptions + ?3 WHERE number = ?1";
                    transaction.execute(sql, params![message.number, due_at_ms, is_uncertain])?;
                }
            }
            Ok(true)
        })
    }

    /// Asks for the right to send a confirmation email to the address with this hash. Counts it, unless the same message
    /// was permitted before.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn permit_confirmation(
        &self,
        message: &MessageRecord,
        address_hash: &[u8; 32],
        limits: &ConfirmationLimits,
        now_ms: u64,
    ) -> Result<ConfirmationPermit, StoreError> {
        let replica = self.membership().id();
        let number = message.number;
        self.database().write(Durability::Process, |transaction| {
            if !is_owned(transaction, number, replica)? {
                return Ok(ConfirmationPermit::Lost);
            }
            let sql = "SELECT 1 FROM monitor_messages WHERE number = ?1 AND is_permitted = 1";
            if transaction.exists(sql, params![number])? {
                return Ok(ConfirmationPermit::Granted);
            }
            let sql = "SELECT team FROM monitors WHERE number = ?1";
            let team: String = transaction.query_row(sql, params![message.monitor], |row| row.get(0))?;
            if let Some(until_ms) = limited_until_ms(transaction, address_hash, &team, limits, now_ms)? {
                let sql = "UPDATE monitor_messages SET due_at = ?2, is_sending = 0, replica = NULL \
                           WHERE number = ?1";
                transaction.execute(sql, params![number, until_ms])?;
                return Ok(ConfirmationPermit::Postponed);
            }
            let sql = "INSERT INTO monitor_confirmations (hash, team, sent_at) VALUES (?1, ?2, ?3)";
            transaction.execute(sql, params![address_hash.as_slice(), team, now_ms])?;
            let sql = "UPDATE monitor_messages SET is_permitted = 1 WHERE number = ?1";
            transaction.execute(sql, params![number])?;
            Ok(ConfirmationPermit::Granted)
        })
    }
}

/// Returns the time until which a limit allows no further email; `None` if all allow one.
fn limited_until_ms(
    transaction: &Transaction<'_>,
    address_hash: &[u8; 32],
    team: &str,
    limits: &ConfirmationLimits,
    now_ms: u64,
) -> sql::Result<Option<u64>> {
    let ConfirmationLimits { max_per_address_day, max_per_address_month, max_per_team_day } = *limits;
    let hash = address_hash.as_slice();
    let windows = [
        ("hash = ?1", &hash as &dyn sql::ToSql, max_per_address_day, DAY_MS),
        ("hash = ?1", &hash, max_per_address_month, CONFIRMATION_RETENTION_MS),
        ("team = ?1", &team, max_per_team_day, DAY_MS),
    ];
    let mut until_ms = None;
    for (condition, value, max, window_ms) in windows {
        if max == 0 {
            until_ms = until_ms.max(Some(now_ms.saturating_add(window_ms)));
            continue;
        }
        let sql = format!(
            "SELECT sent_at FROM monitor_confirmations WHERE {condition} ORDER BY sent_at DESC LIMIT 1 OFFSET ?2"
        );
        let oldest: Option<u64> = transaction.query_optional(&sql, &[value, &(max - 1)], |row| row.get(0))?;
        let end = oldest.map(|sent_at| sent_at.saturating_add(window_ms)).filter(|end| *end > now_ms);
        until_ms = until_ms.max(end);
    }
    Ok(until_ms)
}

fn change_notifications(
    transaction: &Transaction<'_>,
    check: i64,
    change: impl FnOnce(&str) -> String,
    now_ms: u64,
) -> sql::Result<()> {
    let sql = "SELECT notifications FROM monitor_checks WHERE number = ?1";
    let stored: String = transaction.query_row(sql, params![check], |row| row.get(0))?;
    let sql = "UPDATE monitor_checks SET notifications = ?2, updated_at = ?3 WHERE number = ?1";
    transaction.execute(sql, params![check, change(&stored), now_ms]).map(drop)
}

fn set_confirmation_sent(
    transaction: &Transaction<'_>,
    message: &MessageRecord,
    now_ms: u64,
) -> sql::Result<()> {
    let (MessageKind::Confirmation, Some(recipient)) = (message.kind, &message.recipient) else {
        return Ok(());
    };
    let sql = "UPDATE monitor_recipients SET is_confirmation_sent = 1, updated_at = ?2 WHERE number = ?1";
    transaction.execute(sql, params![recipient.number, now_ms]).map(drop)
}
