//! Browser profiles: named states of a browser for a team, with one writer and any number of readers.
//!
//! The state is opaque to the store. The right to save is a lease, which expires if its process dies.

use std::time::Duration;

use data_encoding::HEXLOWER;

use crate::clock::add_ms;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::{self, Row, Transaction, params};
use crate::store::Store;

/// Profiles are saved after the response, so a better ratio is worth a few milliseconds.
const COMPRESSION_LEVEL: i32 = 3;
/// Maximum size of the state of a profile, before compression: cookies and storage of many sites.
pub const PROFILE_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum of profiles of a team.
pub const PROFILES_MAX: u64 = 1_000;

/// The last saved state of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileState {
    /// State of the browser.
    pub state: Vec<u8>,
    /// Time of the save, in milliseconds since the Unix epoch.
    pub saved_at_ms: u64,
}

/// A profile without its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileRecord {
    /// Team that owns the profile.
    pub team: String,
    /// Name of the profile.
    pub name: String,
    /// Size of the state, before compression.
    pub bytes: u64,
    /// Time of the last save, in milliseconds since the Unix epoch; `None` if the profile was leased but never saved.
    pub saved_at_ms: Option<u64>,
    /// Time of the end of its lease, in milliseconds since the Unix epoch.
    pub leased_until_ms: Option<u64>,
}

/// The right to save a profile, until it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileLease {
    team: String,
    name: String,
    token: String,
}

/// Outcome of locking a profile for saving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockProfileOutcome {
    /// The caller has the lease.
    Leased(ProfileLease),
    /// Another request has it.
    Busy {
        /// Time of the end of its lease, unless it is renewed or released; in milliseconds since the Unix epoch.
        until_ms: u64,
    },
    /// The team has [`PROFILES_MAX`] profiles.
    TooMany,
}

/// Outcome of saving a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveProfileOutcome {
    /// The state is saved, and survives a power failure.
    Saved,
    /// The lease expired and another request has it, or the profile was deleted. Nothing was changed.
    LeaseLost,
    /// The state is larger than [`PROFILE_MAX_BYTES`]. Nothing was changed.
    TooLarge {
        /// Size of the state.
        bytes: u64,
    },
}

impl Store {
    /// Returns the last saved state of a profile, also while a request has the lease; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it cannot be decoded; otherwise failures of the database.
    pub fn profile(&self, team: &str, name: &str) -> Result<Option<ProfileState>, StoreError> {
        let sql = "SELECT state, length, saved_at FROM profiles \
                   WHERE team = ?1 AND name = ?2 AND state IS NOT NULL";
        let row = self.database().read(|connection| {
            connection.query_optional(sql, params![team, name], |row| {
                Ok((row.get::<Vec<u8>>(0)?, row.get::<u64>(1)?, row.get::<u64>(2)?))
            })
        })?;
        let Some((compressed, length, saved_at_ms)) = row else { return Ok(None) };
        let damaged =
            |detail: String| self.database().corrupt(format!("profile {name:?} of team {team}: {detail}"));
        if length > PROFILE_MAX_BYTES {
            return Err(damaged(format!("a state of {length} bytes")));
        }
        let state = zstd::bulk::decompress(&compressed, length as usize)
            .map_err(|error| damaged(error.to_string()))?;
        if state.len() as u64 != length {
            return Err(damaged(format!("a state of {} bytes instead of {length}", state.len())));
        }
        Ok(Some(ProfileState { state, saved_at_ms }))
    }

    /// Leases a profile for saving, for `ttl` from `now_ms` (milliseconds since the Unix epoch) on, if no other request
    /// has the lease. The profile need not exist yet.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn lock_profile(
        &self,
        team: &str,
        name: &str,
        now_ms: u64,
        ttl: Duration,
    ) -> Result<LockProfileOutcome, StoreError> {
        let mut token = [0; 16];
        getrandom::fill(&mut token).map_err(|source| StoreError::Random { source })?;
        let lease =
            ProfileLease { team: team.to_owned(), name: name.to_owned(), token: HEXLOWER.encode(&token) };
        self.database()
            .write(Durability::Process, |transaction| lock(transaction, lease, now_ms, add_ms(now_ms, ttl)))
    }

    /// Renews a lease for `ttl` from `now_ms` on. Returns false if the lease is lost.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn renew_profile(
        &self,
        lease: &ProfileLease,
        now_ms: u64,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.database().write_rows(Durability::Process, |transaction| {
            transaction
                .execute(
                    "UPDATE profiles SET lease_until = ?4 WHERE team = ?1 AND name = ?2 AND lease = ?3",
                    params![lease.team, lease.name, lease.token, add_ms(now_ms, ttl)],
                )
                .map(|rows| rows == 1)
        })
    }

    /// Saves a state as of `now_ms`. The lease continues. An expired lease is valid until another request has it.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn save_profile(
        &self,
        lease: &ProfileLease,
        state: &[u8],
        now_ms: u64,
    ) -> Result<SaveProfileOutcome, StoreError> {
        let bytes = state.len() as u64;
        if bytes > PROFILE_MAX_BYTES {
            return Ok(SaveProfileOutcome::TooLarge { bytes });
        }
        let compressed =
            zstd::bulk::compress(state, COMPRESSION_LEVEL).expect("compressing into memory cannot fail");
        self.database().write_rows(Durability::Power, |transaction| {
            let rows = transaction.execute(
                "UPDATE profiles SET state = ?4, length = ?5, saved_at = ?6 \
                 WHERE team = ?1 AND name = ?2 AND lease = ?3",
                params![lease.team, lease.name, lease.token, compressed, bytes, now_ms],
            )?;
            Ok(if rows == 1 { SaveProfileOutcome::Saved } else { SaveProfileOutcome::LeaseLost })
        })
    }

    /// Releases a lease. A profile that was never saved is deleted.
    ///
    /// # Errors
    /// Failures of the database; then the lease expires by itself.
    pub fn release_profile(&self, lease: &ProfileLease) -> Result<(), StoreError> {
        let ProfileLease { team, name, token } = lease;
        self.database().write_shared(Durability::Process, |transaction| {
            transaction.execute(
                "DELETE FROM profiles WHERE team = ?1 AND name = ?2 AND lease = ?3 AND state IS NULL",
                params![team, name, token],
            )?;
            transaction
                .execute(
                    "UPDATE profiles SET lease = NULL, lease_until = NULL \
                     WHERE team = ?1 AND name = ?2 AND lease = ?3",
                    params![team, name, token],
                )
                .map(drop)
        })
    }

    /// Returns the profiles of one team or of all, sorted by team and name.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn list_profiles(&self, team: Option<&str>) -> Result<Vec<ProfileRecord>, StoreError> {
        let sql = "SELECT team, name, length, saved_at, lease_until FROM profiles \
                   WHERE team = ?1 OR ?1 IS NULL ORDER BY team, name";
        self.database().read(|connection| connection.query(sql, params![team], from_row))
    }

    /// Deletes a profile, even while a request has its lease, which is lost then. Returns false if there is no such
    /// profile.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn delete_profile(&self, team: &str, name: &str) -> Result<bool, StoreError> {
        self.database().write_rows(Durability::Power, |transaction| {
            transaction
                .execute("DELETE FROM profiles WHERE team = ?1 AND name = ?2", params![team, name])
                .map(|rows| rows == 1)
        })
    }
}

fn lock(
    transaction: &Transaction<'_>,
    lease: ProfileLease,
    now_ms: u64,
    until_ms: u64,
) -> sql::Result<LockProfileOutcome> {
    let ProfileLease { team, name, token } = &lease;
    let leased_until: Option<Option<u64>> = transaction.query_optional(
        "SELECT lease_until FROM profiles WHERE team = ?1 AND name = ?2",
        params![team, name],
        |row| row.get(0),
    )?;
    match leased_until {
        Some(Some(until_ms)) if until_ms > now_ms => return Ok(LockProfileOutcome::Busy { until_ms }),
        Some(_) => {
            transaction.execute(
                "UPDATE profiles SET lease = ?3, lease_until = ?4 WHERE team = ?1 AND name = ?2",
                params![team, name, token, until_ms],
            )?;
        }
        None => {
            // Profiles that were leased and never saved would count forever.
            transaction.execute(
                "DELETE FROM profiles WHERE team = ?1 AND state IS NULL AND lease_until <= ?2",
                params![team, now_ms],
            )?;
            let count: u64 = transaction.query_row(
                "SELECT count(*) FROM profiles WHERE team = ?1",
                params![team],
                |row| row.get(0),
            )?;
            if count >= PROFILES_MAX {
                return Ok(LockProfileOutcome::TooMany);
            }
            transaction.execute(
                "INSERT INTO profiles (team, name, lease, lease_until) VALUES (?1, ?2, ?3, ?4)",
                params![team, name, token, until_ms],
            )?;
        }
    }
    Ok(LockProfileOutcome::Leased(lease))
}

fn from_row(row: &Row<'_>) -> sql::Result<ProfileRecord> {
    Ok(ProfileRecord {
        team: row.get(0)?,
        name: row.get(1)?,
        bytes: row.get(2)?,
        saved_at_ms: row.get(3)?,
        leased_until_ms: row.get(4)?,
    })
}
