//! Sessions of the dashboard in a database on a server, where every process of the service finds them.
//!
//! A single process has its sessions in memory, so a SQLite file has no table for them, and these functions fail on
//! one. [`RowCipher`] encrypts them with their cookies. No other row depends on a session, so writes take no lock of the database.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::database::Durability;
use crate::error::StoreError;
use crate::row_cipher::RowCipher;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// The purpose of the keys that encrypt sessions.
const KEY_PURPOSE: &str = "websvc dashboard session, version 1";

/// A session of the dashboard. `Debug` does not print its secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct DashboardSession {
    /// Key of the user who is signed in.
    pub key: String,
    /// Token that requests must contain if they change something.
    pub csrf_token: String,
    /// Expiry, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
}

impl fmt::Debug for DashboardSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DashboardSession").field("expires_at_ms", &self.expires_at_ms).finish_non_exhaustive()
    }
}

/// The encrypted part of a session.
#[derive(Serialize, Deserialize)]
struct Content {
    key: String,
    csrf_token: String,
}

impl Store {
    /// Stores a new session under its cookie, which must have at least 128 random bits. Deletes the sessions that have
    /// expired at `now_ms` (milliseconds since the Unix epoch), and those that expire first beyond `max_sessions`.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn start_dashboard_session(
        &self,
        cookie: &str,
        session: &DashboardSession,
        max_sessions: u64,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        let DashboardSession { key, csrf_token, expires_at_ms } = session.clone();
        let content = serde_json::to_vec(&Content { key, csrf_token })
            .expect("two texts can always be written as JSON");
        let cipher = RowCipher::new(cookie, KEY_PURPOSE);
        let encrypted = cipher.encrypt(&content, expires_at_ms)?;
        self.database().write_rows(Durability::Process, |transaction| {
            delete_expired(transaction, now_ms)?;
            transaction.execute(
                "INSERT INTO dashboard_sessions (id, content, expires_at) VALUES (?1, ?2, ?3)",
                params![cipher.id(), encrypted, expires_at_ms],
            )?;
            delete_oldest(transaction, max_sessions)
        })
    }

    /// Returns the session of a cookie; `None` if there is none that is valid at `now_ms` (milliseconds since the Unix
    /// epoch). A row that was changed proves nothing, so it counts as no session.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn dashboard_session(
        &self,
        cookie: &str,
        now_ms: u64,
    ) -> Result<Option<DashboardSession>, StoreError> {
        let cipher = RowCipher::new(cookie, KEY_PURPOSE);
        let sql = "SELECT content, expires_at FROM dashboard_sessions WHERE id = ?1 AND expires_at > ?2";
        let row = self.database().read(|connection| {
            connection.query_optional(sql, params![cipher.id(), now_ms], |row| {
                Ok((row.get::<Vec<u8>>(0)?, row.get::<u64>(1)?))
            })
        })?;
        Ok(row.and_then(|(encrypted, expires_at_ms)| {
            let content = cipher.decrypt(&encrypted, expires_at_ms)?;
            let Content { key, csrf_token } = serde_json::from_slice(&content).ok()?;
            Some(DashboardSession { key, csrf_token, expires_at_ms })
        }))
    }

    /// Deletes the session of a cookie, if there is one. It ends for all processes, also after a power failure.
    ///
    /// # Errors
    /// Failures of the database; then the session may continue.
    pub fn end_dashboard_session(&self, cookie: &str) -> Result<(), StoreError> {
        let cipher = RowCipher::new(cookie, KEY_PURPOSE);
        self.database().write_rows(Durability::Power, |transaction| {
            transaction.execute("DELETE FROM dashboard_sessions WHERE id = ?1", params![cipher.id()])?;
            Ok(())
        })
    }

    /// Deletes the sessions that have expired at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn delete_expired_dashboard_sessions(&self, now_ms: u64) -> Result<u64, StoreError> {
        self.database().write_rows(Durability::Process, |transaction| delete_expired(transaction, now_ms))
    }
}

// Both deletions skip the rows that another transaction is deleting, so none waits for the other.

fn delete_expired(transaction: &Transaction<'_>, now_ms: u64) -> sql::Result<u64> {
    let sql = "DELETE FROM dashboard_sessions WHERE id IN ( \
                   SELECT id FROM dashboard_sessions WHERE expires_at <= ?1 FOR UPDATE SKIP LOCKED)";
    transaction.execute(sql, params![now_ms])
}

fn delete_oldest(transaction: &Transaction<'_>, max_sessions: u64) -> sql::Result<()> {
    let sql = "DELETE FROM dashboard_sessions WHERE id IN ( \
                   SELECT id FROM dashboard_sessions WHERE id IN ( \
                       SELECT id FROM dashboard_sessions ORDER BY expires_at DESC, id OFFSET ?1) \
                   FOR UPDATE SKIP LOCKED)";
    transaction.execute(sql, params![max_sessions]).map(drop)
}
