//! Token buckets that all replicas share, for rate limits.
//!
//! A replica takes several tokens at once and spends them without the database. A database file needs none: its one
//! process counts in memory.

use std::time::Duration;

use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// The size of a token bucket, and the time in which one token is refilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedBucketSize {
    /// Number of tokens in a full bucket.
    pub capacity: u32,
    /// Time in which one token is refilled; at least a microsecond.
    pub interval: Duration,
}

/// Tokens that were taken from a shared bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenGrant {
    /// Their number; 0 if the bucket was empty.
    pub granted: u32,
    /// Time until the bucket is full.
    pub until_full: Duration,
}

impl Store {
    /// Takes up to `wanted` tokens from the bucket of an account, such as `team:red`. Returns `None` if the database is
    /// a file, which has no shared buckets.
    ///
    /// # Errors
    /// Failures of the database, without waiting if the last attempt to reach its server failed.
    pub fn take_tokens(
        &self,
        account: &str,
        size: SharedBucketSize,
        wanted: u32,
    ) -> Result<Option<TokenGrant>, StoreError> {
        let database = self.database();
        let Some(server) = database.server_state() else { return Ok(None) };
        server.check_reachable().map_err(|error| database.error(error))?;
        let interval_us = u64::try_from(size.interval.as_micros()).unwrap_or(u64::MAX).max(1);
        // The statement writes, but it needs only the lock of its row, and no flush to disk.
        let taken = database.read(|connection| {
            connection.query_row(
                "SELECT granted, until_full_us FROM take_tokens(?1, ?2, ?3, ?4)",
                params![account, size.capacity, interval_us, wanted],
                |row| {
                    let until_full = Duration::from_micros(row.get(1)?);
                    Ok(TokenGrant { granted: row.get(0)?, until_full })
                },
            )
        })?;
        Ok(Some(taken))
    }
}

/// Deletes the buckets of a server that have been full for a while.
pub(crate) fn trim(transaction: &Transaction<'_>) -> sql::Result<()> {
    let oldest_us = transaction.now_ms().saturating_sub(600_000).saturating_mul(1_000);
    transaction.execute("DELETE FROM rate_buckets WHERE full_at < ?1", params![oldest_us]).map(drop)
}
