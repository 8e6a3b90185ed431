//! Records of artifacts: owner, size and expiry of each file. The files themselves are not in the store.
//!
//! A record has three states, so that no file is ever without one: *arriving* before and while its content is written,
//! *ready* while it may be read, and *leaving* until its content is deleted.

use data_encoding::HEXLOWER;

use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Connection, Row, Transaction, params};
use crate::store::Store;

/// Maximum of records that one call returns for removal.
const BATCH_ROWS: u32 = 64;
/// Name of the secret that signs URLs.
const SIGNING_SECRET: &str = "artifact-urls";
/// Name of the random bytes of the ID of the database.
const INSTALLATION_ID: &str = "installation";
const UPLOAD_SECRET: &str = "upload-urls";

/// Metadata of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactRecord {
    /// Identifier: 32 random hex digits.
    pub id: String,
    /// Team of the request that created it.
    pub team: String,
    /// Kind of the artifact, as named by its creator.
    pub kind: String,
    /// Size of the content.
    pub bytes: u64,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Time of its expiry, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
}

/// Outcome of a reservation of space for an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// The space is reserved.
    Reserved {
        /// Older artifacts that were evicted for it. The caller must delete their contents, then call
        /// [`Store::remove_artifact`].
        evicted: Vec<ArtifactRecord>,
    },
    /// Together with the artifacts that are being written, it would exceed the limit.
    NoSpace {
        /// Bytes of the artifacts that are being written.
        reserved_bytes: u64,
    },
}

impl Store {
    /// Returns the secret that signs the URLs of artifacts: 32 random bytes, created at the first call and stored.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn artifact_secret(&self) -> Result<[u8; 32], StoreError> {
        self.named_secret(SIGNING_SECRET)
    }

    /// Does the same for the secret that signs upload URLs.
    ///
    /// # Errors
    /// The same as [`artifact_secret`](Self::artifact_secret).
    pub fn upload_secret(&self) -> Result<[u8; 32], StoreError> {
        self.named_secret(UPLOAD_SECRET)
    }

    /// Returns the ID of the database, 16 random hexadecimal digits. Another database has another ID, also a new one in the
    /// same place, so that what carries the ID on other servers is never taken for that of another installation.
    ///
    /// # Errors
    /// The same as [`artifact_secret`](Self::artifact_secret).
    pub fn installation_id(&self) -> Result<String, StoreError> {
        let bytes = self.named_secret(INSTALLATION_ID)?;
        Ok(HEXLOWER.encode(&bytes[..8]))
    }

    /// Returns a secret of the installation: 32 random bytes, created at the first call and stored.
    pub(crate) fn named_secret(&self, name: &str) -> Result<[u8; 32], StoreError> {
        let select = "SELECT bytes FROM secrets WHERE name = ?1";
        let stored = self
            .database()
            .read(|connection| connection.query_optional(select, params![name], |row| row.get(0)))?;
        if let Some(secret) = stored {
            return Ok(secret);
        }
        let mut new_secret = [0; 32];
        getrandom::fill(&mut new_secret).map_err(|source| StoreError::Random { source })?;
        self.database().write(Durability::Power, |transaction| {
            // Another process may have created it in the meantime.
            if let Some(secret) = transaction.query_optional(select, params![name], |row| row.get(0))? {
                return Ok(secret);
            }
            transaction
                .execute("INSERT INTO secrets (name, bytes) VALUES (?1, ?2)", params![name, new_secret])?;
            Ok(new_secret)
        })
    }

    /// Reserves space for an artifact that is about to be written, within `max_bytes` for all artifacts. Evicts the
    /// oldest ones if necessary. The artifact cannot be read before [`publish_artifact`](Self::publish_artifact).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn reserve_artifact(
        &self,
        record: &ArtifactRecord,
        max_bytes: u64,
    ) -> Result<ReserveOutcome, StoreError> {
        self.database().write_locked(Locked::Artifacts, Durability::Process, |transaction| {
            let reserved_bytes = reserved_bytes(transaction)?;
            let needed = reserved_bytes.saturating_add(record.bytes);
            let Some(remaining) = max_bytes.checked_sub(needed) else {
                return Ok(ReserveOutcome::NoSpace { reserved_bytes });
            };
            let evicted = evict_oldest(transaction, remaining)?;
            insert(transaction, record)?;
            Ok(ReserveOutcome::Reserved { evicted })
        })
    }

    /// Makes an artifact readable, after its content was written. Returns false if its reservation was removed
    /// meanwhile.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn publish_artifact(&self, id: &str) -> Result<bool, StoreError> {
        self.database().write_rows(Durability::Process, |transaction| {
            transaction
                .execute(
                    "UPDATE artifacts SET state = 'ready' WHERE id = ?1 AND state = 'arriving'",
                    params![id],
                )
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
        self.database().read(|connection| connection.query_optional(sql, params![id], from_row))
    }

    /// Makes artifacts unreadable and returns them, so that the caller deletes their contents: those that expired by
    /// `now_ms` (milliseconds since the Unix epoch), those whose write started before `abandoned_ms` and did not
    /// finish, and those whose removal was interrupted. Returns at most 64, so call it until it returns none.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn take_expired_artifacts(
        &self,
        now_ms: u64,
        abandoned_ms: u64,
    ) -> Result<Vec<ArtifactRecord>, StoreError> {
        self.database().write_locked(Locked::Artifacts, Durability::Process, |transaction| {
            transaction.execute(
                "UPDATE artifacts SET state = 'leaving' WHERE state = 'ready' AND expires_at <= ?1",
                params![now_ms],
            )?;
            transaction.execute(
                "UPDATE artifacts SET state = 'leaving' WHERE state = 'arriving' AND created_at < ?1",
                params![abandoned_ms],
            )?;
            list(
                transaction,
                "SELECT id, team, kind, bytes, created_at, expires_at FROM artifacts WHERE state = 'leaving' \
                 ORDER BY created_at LIMIT ?1",
                BATCH_ROWS,
            )
        })
    }

    /// Deletes the record of an artifact whose content was deleted or never written.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn remove_artifact(&self, id: &str) -> Result<(), StoreError> {
        self.database().write_rows(Durability::Process, |transaction| {
            transaction.execute("DELETE FROM artifacts WHERE id = ?1", params![id]).map(drop)
        })
    }
}

/// Returns the bytes of the artifacts that are being written, which cannot be evicted.
fn reserved_bytes(transaction: &Transaction<'_>) -> sql::Result<u64> {
    let sql = "SELECT coalesce(sum(bytes), 0) FROM artifacts WHERE state = 'arriving'";
    transaction.query_row(sql, params![], |row| row.get(0))
}

/// Evicts the oldest readable artifacts until the others have at most `max_bytes`.
fn evict_oldest(transaction: &Transaction<'_>, max_bytes: u64) -> sql::Result<Vec<ArtifactRecord>> {
    let sql = "SELECT coalesce(sum(bytes), 0) FROM artifacts WHERE state = 'ready'";
    let mut bytes: u64 = transaction.query_row(sql, params![], |row| row.get(0))?;
    let mut evicted = Vec::new();
    while bytes > max_bytes {
        let oldest = "UPDATE artifacts SET state = 'leaving' WHERE id = \
                      (SELECT id FROM artifacts WHERE state = 'ready' ORDER BY created_at, bytes, id LIMIT 1) \
                      RETURNING id, team, kind, bytes, created_at, expires_at";
        let Some(record) = transaction.query_optional(oldest, params![], from_row)? else {
            break;
        };
        bytes = bytes.saturating_sub(record.bytes);
        evicted.push(record);
    }
    Ok(evicted)
}

fn insert(transaction: &Transaction<'_>, record: &ArtifactRecord) -> sql::Result<()> {
    let ArtifactRecord { id, team, kind, bytes, created_at_ms, expires_at_ms } = record;
    let sql = "INSERT INTO artifacts (id, team, kind, bytes, created_at, expires_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    transaction.execute(sql, params![id, team, kind, bytes, created_at_ms, expires_at_ms]).map(drop)
}

fn list(connection: &Connection, sql: &str, max: u32) -> sql::Result<Vec<ArtifactRecord>> {
    connection.query(sql, params![max], from_row)
}

fn from_row(row: &Row<'_>) -> sql::Result<ArtifactRecord> {
    Ok(ArtifactRecord {
        id: row.get(0)?,
        team: row.get(1)?,
        kind: row.get(2)?,
        bytes: row.get(3)?,
        created_at_ms: row.get(4)?,
        expires_at_ms: row.get(5)?,
    })
}
