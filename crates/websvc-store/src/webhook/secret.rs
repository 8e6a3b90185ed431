//! Signing secrets of teams: random bytes, created when first needed.
//!
//! A receiver needs the secret itself, so it cannot be kept as a hash. It lies in the database as browser profiles do, which
//! only the owner of the data directory can read.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::clock::now_ms;
use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;

/// As many as the digest has: more would add nothing.
const SECRET_BYTES: usize = 32;

impl Store {
    /// Returns the bytes that the events of a team are signed with. They are made when there are none.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn webhook_secret(&self, team: &str) -> Result<[u8; 32], StoreError> {
        if let Some(secret) = self.database().read(|connection| {
            connection
                .prepare_cached("SELECT secret FROM webhook_secrets WHERE team = ?1")?
                .query_row([team], |row| row.get(0))
                .optional()
        })? {
            return Ok(secret);
        }
        let fresh = fresh()?;
        self.database().write(Durability::Power, |transaction| {
            transaction.execute(
                "INSERT INTO webhook_secrets (team, secret, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![team, fresh, now_ms()],
            )?;
            read(transaction, team)
        })
    }

    /// Makes other bytes to sign the events of a team with, from the next try on, and returns them.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn rotate_webhook_secret(&self, team: &str) -> Result<[u8; 32], StoreError> {
        let fresh = fresh()?;
        self.database().write(Durability::Power, |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO webhook_secrets (team, secret, created_at) VALUES (?1, ?2, ?3)",
                params![team, fresh, now_ms()],
            )?;
            read(transaction, team)
        })
    }
}

fn fresh() -> Result<[u8; SECRET_BYTES], StoreError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|source| StoreError::Random { source })?;
    Ok(bytes)
}

fn read(transaction: &Transaction<'_>, team: &str) -> rusqlite::Result<[u8; SECRET_BYTES]> {
    transaction.query_row("SELECT secret FROM webhook_secrets WHERE team = ?1", [team], |row| row.get(0))
}
