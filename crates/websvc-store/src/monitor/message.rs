//! Messages to people: enqueueing them, and the replica that sends them.

use super::message_types::{MessageKind, MessageRecord};
use super::row::{RECIPIENT_COLUMNS, recipient_record};
use super::types::CheckRecord;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// Enqueues the messages of a check that ends.
pub(super) fn enqueue_check_message(
    transaction: &Transaction<'_>,
    check: &CheckRecord,
    now_ms: u64,
) -> sql::Result<()> {
    let sql = "INSERT INTO monitor_messages (kind, monitor, monitor_check, created_at, due_at) \
               VALUES ('check', ?1, ?2, ?3, ?3)";
    transaction.execute(sql, params![check.monitor, check.number, now_ms]).map(drop)
}

/// Enqueues the confirmation of a recipient, if none is waiting.
pub(super) fn enqueue_confirmation(
    transaction: &Transaction<'_>,
    monitor: i64,
    recipient: i64,
    now_ms: u64,
) -> sql::Result<()> {
    let sql = "INSERT INTO monitor_messages (kind, monitor, recipient, created_at, due_at) \
               SELECT 'confirmation', ?1, ?2, ?3, ?3 WHERE NOT EXISTS (SELECT 1 FROM monitor_messages \
               WHERE recipient = ?2 AND kind = 'confirmation')";
    transaction.execute(sql, params![monitor, recipient, now_ms]).map(drop)
}

impl Store {
    /// Takes up to `max` messages of these kinds that are due at `now_ms` (milliseconds since the Unix epoch), for this
    /// process to send. Teams take turns, and first attempts come before repeated ones. Those that another process takes
    /// at the same time are missing from the result. A process that has not [joined](Self::join_replicas) gets none.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn claim_messages(
        &self,
        kinds: &[MessageKind],
        max: u64,
        now_ms: u64,
    ) -> Result<Vec<MessageRecord>, StoreError> {
        let Some(replica) = self.membership().owner_of_new() else { return Ok(Vec::new()) };
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
        let sql = format!(
            "SELECT number FROM (SELECT messages.number AS number, messages.attempts AS attempts, \
             messages.due_at AS due_at, row_number() OVER (PARTITION BY monitors.team \
             ORDER BY messages.attempts, messages.due_at, messages.number) AS turn \
             FROM monitor_messages AS messages JOIN monitors ON monitors.number = messages.monitor \
             WHERE messages.replica IS NULL AND messages.kind IN ({}) AND messages.due_at <= ?1 \
             AND monitors.deleted_at IS NULL) AS waiting ORDER BY turn, attempts, due_at, number LIMIT ?2",
            kinds.join(", ")
        );
        // This sorts all messages that are due, so it does not hold the write lock.
        let due: Vec<i64> = self
            .database()
            .read(|connection| connection.query(&sql, params![now_ms, max], |row| row.get(0)))?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        self.database()
            .write_shared(Durability::Process, |transaction| claim(transaction, &due, replica, now_ms))
    }

    /// Records that this process is about to send a message. If it ends before the outcome is recorded, the message may
    /// have been sent. Returns false if this process does not own the message any more.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn begin_sending(&self, message: &MessageRecord) -> Result<bool, StoreError> {
        let (number, replica) = (message.number, self.membership().id());
        self.database().write_rows(Durability::Process, |transaction| {
            let sql = "UPDATE monitor_messages SET is_sending = 1 WHERE number = ?1 AND replica = ?2";
            Ok(transaction.execute(sql, params![number, replica])? == 1)
        })
    }

    /// Replaces the message about a check with an email to each of these recipients, and a message to each of these
    /// channels, by their keys. `notifications` returns the deliveries of the check as JSON, by the number of emails and
    /// whether the messages to channels were enqueued: none is, if more than `max_waiting` would wait. Returns false if this process does not own the message any more.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn expand_check_message(
        &self,
        message: &MessageRecord,
        recipients: &[i64],
        channels: &[String],
        max_waiting: u64,
        notifications: impl FnOnce(u64, bool) -> String,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let replica = self.membership().id();
        let (number, monitor, check) = (message.number, message.monitor, message.check);
        self.database().write(Durability::Process, |transaction| {
            if !is_owned(transaction, number, replica)? {
                return Ok(false);
            }
            // Confirmations have limits of their own, and may wait for weeks.
            let sql = "SELECT count(*) FROM (SELECT 1 FROM monitor_messages WHERE kind IN ('email', 'channel') \
                       LIMIT ?1) AS waiting";
            let waiting: u64 = transaction.query_row(sql, params![max_waiting], |row| row.get(0))?;
            let free = max_waiting.saturating_sub(waiting);
            let mut emails = 0;
            let fits = (recipients.len() + channels.len()) as u64 <= free;
            if fits {
                for recipient in recipients {
                    emails += transaction.execute(
                        "INSERT INTO monitor_messages (kind, monitor, monitor_check, recipient, created_at, due_at) \
                         SELECT 'email', ?1, ?2, number, ?4, ?4 FROM monitor_recipients WHERE number = ?3",
                        params![monitor, check, recipient, now_ms],
                    )?;
                }
                for channel in channels {
                    let sql = "INSERT INTO monitor_messages (kind, monitor, monitor_check, channel, created_at, \
                               due_at) VALUES ('channel', ?1, ?2, ?3, ?4, ?4)";
                    transaction.execute(sql, params![monitor, check, channel, now_ms])?;
                }
            }
            let sql = "UPDATE monitor_checks SET notifications = ?2, updated_at = ?3 WHERE number = ?1";
            transaction.execute(sql, params![check, notifications(emails, fits), now_ms])?;
            delete(transaction, number)?;
            Ok(true)
        })
    }
}

/// Takes those of these messages that are still due and free.
fn claim(
    transaction: &Transaction<'_>,
    due: &[i64],
    replica: i64,
    now_ms: u64,
) -> sql::Result<Vec<MessageRecord>> {
    // This replica may have been deleted, because it was silent for too long.
    if !transaction.exists("SELECT 1 FROM replicas WHERE id = ?1", params![replica])? {
        return Ok(Vec::new());
    }
    // An attempt that had begun to send, and whose end was not recorded, was interrupted by the end of its process. A
    // message that was only claimed by then lost no attempt.
    let sql = "UPDATE monitor_messages SET replica = ?2, attempts = attempts + is_sending, \
               interruptions = interruptions + is_sending, is_sending = 0 \
               WHERE number = ?1 AND replica IS NULL AND due_at <= ?3";
    let mut claimed = Vec::with_capacity(due.len());
    for number in due {
        if transaction.execute(sql, params![number, replica, now_ms])? == 1 {
            claimed.push(record(transaction, *number)?);
        }
    }
    Ok(claimed)
}

fn record(transaction: &Transaction<'_>, number: i64) -> sql::Result<MessageRecord> {
    let sql = format!(
        "SELECT messages.kind, messages.monitor, messages.monitor_check, messages.attempts + 1, \
         messages.interruptions, messages.created_at, messages.channel, {RECIPIENT_COLUMNS} FROM monitor_messages AS messages \
         LEFT JOIN monitor_recipients AS recipients ON recipients.number = messages.recipient \
         WHERE messages.number = ?1"
    );
    transaction.query_row(&sql, params![number], |row| {
        let has_recipient = row.get::<Option<i64>>(7)?.is_some();
        Ok(MessageRecord {
            number,
            kind: row.get(0)?,
            monitor: row.get(1)?,
            check: row.get(2)?,
            recipient: if has_recipient { Some(recipient_record(row, 7)?) } else { None },
            attempts: row.get(3)?,
            interruptions: row.get(4)?,
            created_at_ms: row.get(5)?,
            channel: row.get(6)?,
        })
    })
}

/// Returns whether a replica sends a message.
pub(super) fn is_owned(
    transaction: &Transaction<'_>,
    number: i64,
    replica: Option<i64>,
) -> sql::Result<bool> {
    let sql = "SELECT 1 FROM monitor_messages WHERE number = ?1 AND replica = ?2";
    transaction.exists(sql, params![number, replica])
}

pub(super) fn delete(transaction: &Transaction<'_>, number: i64) -> sql::Result<()> {
    transaction.execute("DELETE FROM monitor_messages WHERE number = ?1", params![number]).map(drop)
}
