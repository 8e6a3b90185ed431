//! The records of artifacts: who owns which file, how large it is and when it expires. The files are elsewhere.
//!
//! A record goes through three states, so that no file is ever without one: it is *arriving* from before its content
//! is written, *ready* while it may be read, and *leaving* until its content is gone.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;

/// The most records that one call hands out for removal.
const BATCH_ROWS: u32 = 64;
/// The name under which the secret of signed URLs is kept.
const SIGNING_SECRET: &str = "artifact-urls";

/// Metadata of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactRecord {
    /// Its name: 32 random hex digits.
    pub id: String,
    /// The team whose request made it.
    pub team: String,
    /// Kind of the artifact, as named by its creator.
    pub kind: String,
    /// The size of its content.
    pub bytes: u64,
    /// When it was made, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// When it stops to be readable, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
}

/// Outcome of a reservation of space for an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// There is, once the contents of these older ones are removed.
    Reserved {
        /// They are leaving: remove their contents, then call [`Store::remove_artifact`].
        displaced: Vec<ArtifactRecord>,
    },
    /// There is not: with those that are being written at this time it would be too much.
    NoRoom {
        /// The bytes of those that are being written.
        arriving_bytes: u64,
    },
}

/// Total size of the artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactTotals {
    /// The number of artifacts, those being written or removed among them.
    pub artifacts: u64,
    /// The bytes of their contents.
    pub bytes: u64,
}

impl Store {
    /// Returns the secret that signs the URLs of artifacts: 32 random bytes, made at the first call and kept.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn artifact_secret(&self) -> Result<[u8; 32], StoreError> {
        let mut fresh = [0; 32];
        getrandom::fill(&mut fresh).map_err(|source| StoreError::Random { source })?;
        self.database().write(Durability::Power, |transaction| {
            let select = "SELECT bytes FROM secrets WHERE name = ?1";
            let known = transaction.query_row(select, [SIGNING_SECRET], |row| row.get(0)).optional()?;
            if let Some(secret) = known {
                // Nothing is written then, and nothing flushed.
                return Ok(secret);
            }
            transaction.execute(
                "INSERT INTO secrets (name, bytes) VALUES (?1, ?2)",
                params![SIGNING_SECRET, fresh],
            )?;
            Ok(fresh)
        })
    }

    /// Reserves room for an artifact that is about to be written, within `max_bytes` for all of them; the oldest make
    /// room. It cannot be read before [`publish_artifact`](Self::publish_artifact).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn reserve_artifact(
        &self,
        record: &ArtifactRecord,
        max_bytes: u64,
    ) -> Result<ReserveOutcome, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            let arriving_bytes = reserved_bytes(transaction)?;
            let taken = arriving_bytes.saturating_add(record.bytes);
            let Some(left) = max_bytes.checked_sub(taken) else {
                return Ok(ReserveOutcome::NoRoom { arriving_bytes });
            };
            let displaced = evict_oldest(transaction, left)?;
            insert(transaction, record)?;
            Ok(ReserveOutcome::Reserved { displaced })
        })
    }

    /// Makes an artifact readable: its content is written. Tells whether it still had its room.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn publish_artifact(&self, id: &str) -> Result<bool, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction
                .execute("UPDATE artifacts SET state = 'ready' WHERE id = ?1 AND state = 'arriving'", [id])
                .map(|rows| rows == 1)
        })
    }

    /// Returns a readable artifact, expired or not.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn artifact(&self, id: &str) -> Result<Option<ArtifactRecord>, StoreError> {
        let sql = "SELECT id, team, kind, bytes, created_at, expires_at FROM artifacts \
                   WHERE id = ?1 AND state = 'ready'";
        self.database()
            .read(|connection| connection.prepare_cached(sql)?.query_row([id], from_row).optional())
    }

    /// Takes artifacts out of reading whose content is to be removed: those that expired by `now_ms` (milliseconds
    /// since the Unix epoch), those whose writing began before `abandoned_ms` and never ended, and those whose
    /// removal was broken off. Returns at most 64, so call it until it returns none.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn take_expired_artifacts(
        &self,
        now_ms: u64,
        abandoned_ms: u64,
    ) -> Result<Vec<ArtifactRecord>, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction
                .prepare_cached(
                    "UPDATE artifacts SET state = 'leaving' WHERE state = 'ready' AND expires_at <= ?1",
                )?
                .execute([now_ms])?;
            transaction
                .prepare_cached(
                    "UPDATE artifacts SET state = 'leaving' WHERE state = 'arriving' AND created_at < ?1",
                )?
                .execute([abandoned_ms])?;
            list(
                transaction,
                "SELECT id, team, kind, bytes, created_at, expires_at FROM artifacts WHERE state = 'leaving' \
                 ORDER BY created_at LIMIT ?1",
                BATCH_ROWS,
            )
        })
    }

    /// Forgets an artifact whose content is gone, or was never written.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn remove_artifact(&self, id: &str) -> Result<(), StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction.prepare_cached("DELETE FROM artifacts WHERE id = ?1")?.execute([id]).map(drop)
        })
    }

    /// Returns what the artifacts occupy.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn artifact_totals(&self) -> Result<ArtifactTotals, StoreError> {
        let sql = "SELECT count(*), ifnull(sum(bytes), 0) FROM artifacts";
        self.database().read(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row([], |row| Ok(ArtifactTotals { artifacts: row.get(0)?, bytes: row.get(1)? }))
        })
    }
}

/// Returns the bytes of the artifacts that are being written: they count, and they stay.
fn reserved_bytes(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let sql = "SELECT ifnull(sum(bytes), 0) FROM artifacts WHERE state = 'arriving'";
    transaction.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Lets the oldest readable artifacts leave until the others have at most `most` bytes.
fn evict_oldest(transaction: &Transaction<'_>, most: u64) -> rusqlite::Result<Vec<ArtifactRecord>> {
    let sql = "SELECT ifnull(sum(bytes), 0) FROM artifacts WHERE state = 'ready'";
    let mut bytes: u64 = transaction.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let mut displaced = Vec::new();
    while bytes > most {
        let oldest = "UPDATE artifacts SET state = 'leaving' WHERE id = \
                      (SELECT id FROM artifacts WHERE state = 'ready' ORDER BY created_at, bytes, id LIMIT 1) \
                      RETURNING id, team, kind, bytes, created_at, expires_at";
        let Some(record) = transaction.prepare_cached(oldest)?.query_row([], from_row).optional()? else {
            break;
        };
        bytes = bytes.saturating_sub(record.bytes);
        displaced.push(record);
    }
    Ok(displaced)
}

fn insert(transaction: &Transaction<'_>, record: &ArtifactRecord) -> rusqlite::Result<()> {
    let ArtifactRecord { id, team, kind, bytes, created_at_ms, expires_at_ms } = record;
    transaction
        .prepare_cached(
            "INSERT INTO artifacts (id, team, kind, bytes, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![id, team, kind, bytes, created_at_ms, expires_at_ms])
        .map(drop)
}

fn list(connection: &Connection, sql: &str, most: u32) -> rusqlite::Result<Vec<ArtifactRecord>> {
    connection.prepare_cached(sql)?.query_map([most], from_row)?.collect()
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<ArtifactRecord> {
    Ok(ArtifactRecord {
        id: row.get(0)?,
        team: row.get(1)?,
        kind: row.get(2)?,
        bytes: row.get(3)?,
        created_at_ms: row.get(4)?,
        expires_at_ms: row.get(5)?,
    })
}
