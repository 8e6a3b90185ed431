//! Browser profiles: what a browser keeps for a team under a name, with one saver at a time and readers beside it.
//!
//! The state is the browser's business and opaque here. The right to save is a lease: a process that dies gives it back
//! by letting it run out.

use std::time::Duration;

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;

/// Profiles are saved after the answer: a few percent are worth a few milliseconds.
const COMPRESSION_LEVEL: i32 = 3;
/// The largest state of a profile, before compression: cookies and storage of many sites.
pub const PROFILE_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The most profiles of a team.
pub const PROFILES_MAX: u64 = 1_000;

/// The state of a profile as it was saved last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileState {
    /// State from the browser.
    pub state: Vec<u8>,
    /// When it was saved, in milliseconds since the Unix epoch.
    pub saved_at_ms: u64,
}

/// A profile as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileRecord {
    /// The team whose it is.
    pub team: String,
    /// Its name.
    pub name: String,
    /// The size of the state, before compression.
    pub bytes: u64,
    /// When it was saved last, in milliseconds since the Unix epoch; never, when only a first saver is at work.
    pub saved_at_ms: Option<u64>,
    /// Until when somebody may save it, in milliseconds since the Unix epoch.
    pub leased_until_ms: Option<u64>,
}

/// The right to save a profile, for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileLease {
    team: String,
    name: String,
    token: String,
}

/// Outcome of locking a profile for saving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockProfileOutcome {
    /// It was.
    Leased(ProfileLease),
    /// Somebody else has it.
    Busy {
        /// Until then, unless it is renewed or given back; in milliseconds since the Unix epoch.
        until_ms: u64,
    },
    /// The team has as many profiles as it may.
    TooMany,
}

/// Outcome of saving a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveProfileOutcome {
    /// It is saved, and survives a power failure.
    Saved,
    /// The lease ran out and somebody else has it, or the profile was deleted: nothing was changed.
    LeaseLost,
    /// It is larger than [`PROFILE_MAX_BYTES`]: nothing was changed.
    TooLarge {
        /// Its size.
        bytes: u64,
    },
}

impl Store {
    /// Returns the state of a profile as it was saved last, whoever is about to save another; `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be decoded; otherwise failures of the database.
    pub fn profile(&self, team: &str, name: &str) -> Result<Option<ProfileState>, StoreError> {
        let sql = "SELECT state, length, saved_at FROM profiles \
                   WHERE team = ?1 AND name = ?2 AND state IS NOT NULL";
        let row = self.database().read(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row([team, name], |row| {
                    Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, u64>(1)?, row.get::<_, u64>(2)?))
                })
                .optional()
        })?;
        let Some((packed, length, saved_at_ms)) = row else { return Ok(None) };
        let damaged =
            |detail: String| self.database().corrupt(format!("profile {name:?} of team {team}: {detail}"));
        if length > PROFILE_MAX_BYTES {
            return Err(damaged(format!("a state of {length} bytes")));
        }
        let state =
            zstd::bulk::decompress(&packed, length as usize).map_err(|error| damaged(error.to_string()))?;
        if state.len() as u64 != length {
            return Err(damaged(format!("a state of {} bytes instead of {length}", state.len())));
        }
        Ok(Some(ProfileState { state, saved_at_ms }))
    }

    /// Gives the right to save a profile from `now_ms` (milliseconds since the Unix epoch) on for `life`, if nobody has
    /// it. The profile need not exist yet.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn lock_profile(
        &self,
        team: &str,
        name: &str,
        now_ms: u64,
        life: Duration,
    ) -> Result<LockProfileOutcome, StoreError> {
        let mut token = [0; 16];
        getrandom::fill(&mut token).map_err(|source| StoreError::Random { source })?;
        let token: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
        let lease = ProfileLease { team: team.to_owned(), name: name.to_owned(), token };
        self.database()
            .write(Durability::Process, |transaction| lock(transaction, lease, now_ms, until(now_ms, life)))
    }

    /// Keeps the right to save for `life` from `now_ms` on; tells whether it was still there to keep.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn renew_profile(
        &self,
        lease: &ProfileLease,
        now_ms: u64,
        life: Duration,
    ) -> Result<bool, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction
                .execute(
                    "UPDATE profiles SET lease_until = ?4 WHERE team = ?1 AND name = ?2 AND lease = ?3",
                    params![lease.team, lease.name, lease.token, until(now_ms, life)],
                )
                .map(|rows| rows == 1)
        })
    }

    /// Saves a state as of `now_ms`; the lease stays. One that ran out is as good as new until somebody else has it.
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
        let packed =
            zstd::bulk::compress(state, COMPRESSION_LEVEL).expect("compressing into memory cannot fail");
        self.database().write(Durability::Power, |transaction| {
            let rows = transaction.execute(
                "UPDATE profiles SET state = ?4, length = ?5, saved_at = ?6 \
                 WHERE team = ?1 AND name = ?2 AND lease = ?3",
                params![lease.team, lease.name, lease.token, packed, bytes, now_ms],
            )?;
            Ok(if rows == 1 { SaveProfileOutcome::Saved } else { SaveProfileOutcome::LeaseLost })
        })
    }

    /// Gives the right to save back. A profile that was never saved is gone then.
    ///
    /// # Errors
    /// Failures of the database; the lease then runs out by itself.
    pub fn release_profile(&self, lease: &ProfileLease) -> Result<(), StoreError> {
        let ProfileLease { team, name, token } = lease;
        self.database().write(Durability::Process, |transaction| {
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

    /// Returns the profiles of all teams, or of one, by team and name.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn list_profiles(&self, team: Option<&str>) -> Result<Vec<ProfileRecord>, StoreError> {
        let sql = "SELECT team, name, length, saved_at, lease_until FROM profiles \
                   WHERE ?1 IS NULL OR team = ?1 ORDER BY team, name";
        self.database().read(|connection| connection.prepare(sql)?.query_map([team], from_row)?.collect())
    }

    /// Deletes a profile, also one that somebody is about to save: that saver finds its lease lost. Tells whether there
    /// was one.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn delete_profile(&self, team: &str, name: &str) -> Result<bool, StoreError> {
        self.database().write(Durability::Power, |transaction| {
            transaction
                .execute("DELETE FROM profiles WHERE team = ?1 AND name = ?2", [team, name])
                .map(|rows| rows == 1)
        })
    }
}

fn lock(
    transaction: &Transaction<'_>,
    lease: ProfileLease,
    now_ms: u64,
    until_ms: u64,
) -> rusqlite::Result<LockProfileOutcome> {
    let ProfileLease { team, name, token } = &lease;
    let held: Option<Option<u64>> = transaction
        .query_row("SELECT lease_until FROM profiles WHERE team = ?1 AND name = ?2", [team, name], |row| {
            row.get(0)
        })
        .optional()?;
    match held {
        Some(Some(until_ms)) if until_ms > now_ms => return Ok(LockProfileOutcome::Busy { until_ms }),
        Some(_) => {
            transaction.execute(
                "UPDATE profiles SET lease = ?3, lease_until = ?4 WHERE team = ?1 AND name = ?2",
                params![team, name, token, until_ms],
            )?;
        }
        None => {
            // First saves that never came would count for ever.
            transaction.execute(
                "DELETE FROM profiles WHERE team = ?1 AND state IS NULL AND lease_until <= ?2",
                params![team, now_ms],
            )?;
            let count: u64 =
                transaction
                    .query_row("SELECT count(*) FROM profiles WHERE team = ?1", [team], |row| row.get(0))?;
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

fn from_row(row: &Row<'_>) -> rusqlite::Result<ProfileRecord> {
    Ok(ProfileRecord {
        team: row.get(0)?,
        name: row.get(1)?,
        bytes: row.get(2)?,
        saved_at_ms: row.get(3)?,
        leased_until_ms: row.get(4)?,
    })
}

/// Returns the end of a lease, within what the database counts.
fn until(now_ms: u64, life: Duration) -> u64 {
    let life_ms = u64::try_from(life.as_millis()).unwrap_or(u64::MAX);
    now_ms.saturating_add(life_ms).min(i64::MAX as u64)
}
