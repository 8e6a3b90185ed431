//! Signing secrets of teams: random bytes, created when first needed.
//!
//! A receiver needs the secret itself, so it cannot be stored as a hash. Only the owner of the data directory can read
//! the database.

use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// Length of a secret. More than the length of the digest would add no security.
const SECRET_BYTES: usize = 32;

impl Store {
    /// Returns the secret that signs the events of a team. Creates it if there is none.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn webhook_secret(&self, team: &str) -> Result<[u8; 32], StoreError> {
        if let Some(secret) = self.database().read(|connection| {
            connection.query_optional(
                "SELECT secret FROM webhook_secrets WHERE team = ?1",
                params![team],
                |row| row.get(0),
            )
        })? {
            return Ok(secret);
        }
        let secret = random_secret()?;
        self.database().write_rows(Durability::Power, |transaction| {
            transaction.execute(
                "INSERT INTO webhook_secrets (team, secret, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![team, secret, transaction.now_ms()],
            )?;
            read(transaction, team)
        })
    }

    /// Replaces the secret of a team, from the next delivery attempt on, and returns the new one.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn rotate_webhook_secret(&self, team: &str) -> Result<[u8; 32], StoreError> {
        let secret = random_secret()?;
        self.database().write_rows(Durability::Power, |transaction| {
            transaction.execute(
                "INSERT INTO webhook_secrets (team, secret, created_at) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (team) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at",
                params![team, secret, transaction.now_ms()],
            )?;
            read(transaction, team)
        })
    }
}

fn random_secret() -> Result<[u8; SECRET_BYTES], StoreError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|source| StoreError::Random { source })?;
    Ok(bytes)
}

fn read(transaction: &Transaction<'_>, team: &str) -> sql::Result<[u8; SECRET_BYTES]> {
    transaction
        .query_row("SELECT secret FROM webhook_secrets WHERE team = ?1", params![team], |row| row.get(0))
}
