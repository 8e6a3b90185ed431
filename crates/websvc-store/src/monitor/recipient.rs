//! Recipients of the emails of monitors.

use super::message::enqueue_confirmation;
use super::message_types::{LinkAction, NewRecipient, RecipientRecord, RecipientSource, RecipientStatus};
use super::row::{RECIPIENT_COLUMNS, monitor_by_number, recipient_record};
use super::types::MonitorRecord;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::{self, Connection, Transaction, params};
use crate::store::Store;

/// Name of the secret of which the tokens of links are made.
const LINK_SECRET: &str = "monitor-links";

/// Maximum of stored recipients of a monitor that it does not name any more.
const MAX_FORMER: u64 = 100;

impl Store {
    /// Returns the secret of which the tokens in emails are made: 32 random bytes, created at the first call and stored.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn link_secret(&self) -> Result<[u8; 32], StoreError> {
        self.named_secret(LINK_SECRET)
    }

    /// Returns all stored recipients of a monitor, in the order in which they were added.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn recipients(&self, monitor: i64) -> Result<Vec<RecipientRecord>, StoreError> {
        self.database().read(|connection| recipients_of(connection, monitor))
    }

    /// Returns the recipient of a link with the hash of its token, and the monitor; `None` if there is no such link.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn recipient_by_link(
        &self,
        action: LinkAction,
        hash: &[u8; 32],
    ) -> Result<Option<(RecipientRecord, MonitorRecord)>, StoreError> {
        self.database().read(|connection| by_link(connection, action, hash))
    }

    /// Follows a link with the hash of its token: confirms or unsubscribes its recipient. Returns the recipient, and the
    /// monitor; `None` if there is no such link.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn follow_link(
        &self,
        action: LinkAction,
        hash: &[u8; 32],
        now_ms: u64,
    ) -> Result<Option<(RecipientRecord, MonitorRecord)>, StoreError> {
        self.database().write(Durability::Power, |transaction| {
            let Some((recipient, monitor)) = by_link(transaction, action, hash)? else { return Ok(None) };
            let status = match action {
                LinkAction::Confirm => RecipientStatus::Confirmed,
                LinkAction::Unsubscribe => RecipientStatus::Unsubscribed,
            };
            let sql = "UPDATE monitor_recipients SET status = ?2, updated_at = ?3 WHERE number = ?1";
            transaction.execute(sql, params![recipient.number, status.as_str(), now_ms])?;
            Ok(Some((RecipientRecord { status, ..recipient }, monitor)))
        })
    }
}

/// Sets the recipients of a monitor at `now_ms` (milliseconds since the Unix epoch). An address that is new is pending.
/// Enqueues a confirmation for each pending address that got none. An address that is no longer named loses its pending
/// confirmation; its answer stays.
pub(super) fn set_recipients(
    transaction: &Transaction<'_>,
    monitor: i64,
    recipients: &[NewRecipient],
    now_ms: u64,
) -> sql::Result<()> {
    let stored = recipients_of(transaction, monitor)?;
    let is_named = |address: &str| recipients.iter().any(|named| named.address == address);
    for former in stored.iter().filter(|recipient| !is_named(&recipient.address)) {
        delete_pending(transaction, former)?;
    }
    let mut named = Vec::with_capacity(recipients.len());
    for recipient in recipients {
        let found = stored.iter().find(|found| found.address == recipient.address);
        let (number, is_open) = match found {
            Some(found) => {
                (found.number, found.status == RecipientStatus::Pending && !found.is_confirmation_sent)
            }
            None => (insert(transaction, monitor, recipient, now_ms)?, true),
        };
        if is_open {
            enqueue_confirmation(transaction, monitor, number, now_ms)?;
        }
        named.push(number);
    }
    delete_former(transaction, monitor, &named)
}

fn recipients_of(connection: &Connection, monitor: i64) -> sql::Result<Vec<RecipientRecord>> {
    let sql = format!(
        "SELECT {RECIPIENT_COLUMNS} FROM monitor_recipients AS recipients WHERE recipients.monitor = ?1 \
         ORDER BY recipients.number"
    );
    connection.query(&sql, params![monitor], |row| recipient_record(row, 0))
}

fn by_link(
    connection: &Connection,
    action: LinkAction,
    hash: &[u8; 32],
) -> sql::Result<Option<(RecipientRecord, MonitorRecord)>> {
    let column = match action {
        LinkAction::Confirm => "confirm_hash",
        LinkAction::Unsubscribe => "unsubscribe_hash",
    };
    let sql = format!(
        "SELECT {RECIPIENT_COLUMNS} FROM monitor_recipients AS recipients WHERE recipients.{column} = ?1"
    );
    let found = connection.query_optional(&sql, params![hash.as_slice()], |row| recipient_record(row, 0))?;
    let Some(recipient) = found else { return Ok(None) };
    let monitor = monitor_by_number(connection, recipient.monitor)?;
    Ok(monitor.map(|monitor| (recipient, monitor)))
}

fn insert(
    transaction: &Transaction<'_>,
    monitor: i64,
    recipient: &NewRecipient,
    now_ms: u64,
) -> sql::Result<i64> {
    let NewRecipient { id, address, confirm_hash, unsubscribe_hash } = recipient;
    let sql = "INSERT INTO monitor_recipients (id, monitor, address, status, source, confirm_hash, \
               unsubscribe_hash, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) \
               RETURNING number";
    let (status, source) = (RecipientStatus::Pending.as_str(), RecipientSource::OptIn.as_str());
    let (confirm, unsubscribe) = (confirm_hash.as_slice(), unsubscribe_hash.as_slice());
    let values = params![id, monitor, address, status, source, confirm, unsubscribe, now_ms];
    transaction.query_row(sql, values, |row| row.get(0))
}

/// Deletes a recipient that has not answered.
fn delete_pending(transaction: &Transaction<'_>, recipient: &RecipientRecord) -> sql::Result<()> {
    let sql = "DELETE FROM monitor_recipients WHERE number = ?1 AND status = 'pending'";
    transaction.execute(sql, params![recipient.number]).map(drop)
}

/// Deletes the oldest recipients beyond the maximum that are not among the `named` ones, if no message to them is waiting.
fn delete_former(transaction: &Transaction<'_>, monitor: i64, named: &[i64]) -> sql::Result<()> {
    let named: Vec<String> = named.iter().map(i64::to_string).collect();
    let is_former = match named.as_slice() {
        [] => String::new(),
        named => format!("AND recipients.number NOT IN ({})", named.join(", ")),
    };
    let sql = format!(
        "DELETE FROM monitor_recipients WHERE number IN (SELECT recipients.number \
         FROM monitor_recipients AS recipients WHERE recipients.monitor = ?1 {is_former} \
         AND NOT EXISTS (SELECT 1 FROM monitor_messages WHERE recipient = recipients.number) \
         ORDER BY recipients.updated_at DESC, recipients.number DESC LIMIT 500 OFFSET ?2)"
    );
    transaction.execute(&sql, params![monitor, MAX_FORMER]).map(drop)
}
