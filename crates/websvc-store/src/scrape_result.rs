//! Results of scrapes that clients may read again, in a database on a server: rows that expire.
//!
//! They exist for services of several processes. A single process has its results in memory, so a SQLite file has no
//! table for them, and these functions fail on one.
//!
//! Among them are pages of requests with headers or actions, of which nothing else is stored, so [`RowCipher`] encrypts
//! them with their IDs. An ID has 73 random bits (UUID version 7); a client that knows another one of the same process and
//! millisecond knows all but 32 of them.
//!
//! No other row depends on a result, so writes take no lock of the database. The lock of the page cache would let
//! large results delay the pages, which are stored before the response.

use bytes::Bytes;

use crate::database::Durability;
use crate::error::StoreError;
use crate::row_cipher::RowCipher;
use crate::sql::params;
use crate::sql::postgres::StatementClass;
use crate::store::Store;

/// Approximate size of a row and its index entries, without its body.
const ROW_OVERHEAD_BYTES: usize = 256;

/// The purpose of the keys that encrypt results.
const KEY_PURPOSE: &str = "websvc scrape result, version 1";

/// A result of a scrape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrapeResult {
    /// ID of the scrape, which must have at least 64 random bits.
    pub id: String,
    /// Team that may read the result.
    pub team: String,
    /// Expiry, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
    /// Response, which is opaque to the store. The caller compresses it.
    pub body: Bytes,
}

/// The limits of all results together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrapeResultLimits {
    /// Maximum size, with 256 bytes for each result in addition to its body.
    pub max_bytes: u64,
    /// Maximum number of results.
    pub max_results: u64,
}

impl ScrapeResult {
    /// Returns the id of the row and the encrypted body.
    fn encrypt(&self) -> Result<([u8; 32], Vec<u8>), StoreError> {
        let cipher = RowCipher::new(&self.id, KEY_PURPOSE);
        let encrypted = cipher.encrypt(&self.body, self.expires_at_ms)?;
        Ok((*cipher.id(), encrypted))
    }
}

impl Store {
    /// Stores results in one transaction. A result whose ID is already stored is not changed, so a write whose outcome
    /// is unknown can be repeated. Only [`evict_scrape_results`](Self::evict_scrape_results) applies the limits.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn put_scrape_results(&self, results: &[ScrapeResult]) -> Result<(), StoreError> {
        let sql = "INSERT INTO scrape_results (id, team, expires_at, bytes, body) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT (id) DO NOTHING";
        let rows: Vec<_> = results.iter().map(ScrapeResult::encrypt).collect::<Result<_, _>>()?;
        self.database().write_rows(Durability::Process, |transaction| {
            for (ScrapeResult { team, expires_at_ms, body, id: _ }, (id, encrypted)) in
                results.iter().zip(&rows)
            {
                let bytes = body.len() + ROW_OVERHEAD_BYTES;
                transaction.execute(sql, params![id, team, expires_at_ms, bytes, encrypted])?;
            }
            Ok(())
        })
    }

    /// Returns the body of a team's result; `None` if there is none that is valid at `now_ms` (milliseconds since the
    /// Unix epoch). A row that was changed counts as none.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn scrape_result(&self, id: &str, team: &str, now_ms: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let cipher = RowCipher::new(id, KEY_PURPOSE);
        let sql =
            "SELECT body, expires_at FROM scrape_results WHERE id = ?1 AND team = ?2 AND expires_at > ?3";
        let row = self.database().read(|connection| {
            connection.query_optional(sql, params![cipher.id(), team, now_ms], |row| {
                Ok((row.get::<Vec<u8>>(0)?, row.get::<u64>(1)?))
            })
        })?;
        Ok(row.and_then(|(encrypted, expires_at_ms)| cipher.decrypt(&encrypted, expires_at_ms)))
    }

    /// Deletes the results that have expired at `now_ms` (milliseconds since the Unix epoch), and the oldest ones until
    /// the limits hold. Returns the number of deleted results.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn evict_scrape_results(&self, limits: &ScrapeResultLimits, now_ms: u64) -> Result<u64, StoreError> {
        let _class = StatementClass::Background.enter();
        let ScrapeResultLimits { max_bytes, max_results } = *limits;
        // Processes that evict at the same time choose the same rows, so they do not delete too many. They skip the rows
        // that another transaction is deleting, so none waits for the other.
        let sql = "DELETE FROM scrape_results WHERE id IN ( \
                       SELECT id FROM scrape_results WHERE expires_at <= ?1 OR id IN ( \
                           SELECT id FROM ( \
                               SELECT id, sum(bytes) OVER newest AS bytes, row_number() OVER newest AS results \
                               FROM scrape_results \
                               WINDOW newest AS (ORDER BY expires_at DESC, id DESC ROWS UNBOUNDED PRECEDING) \
                           ) AS totals WHERE bytes > CAST(?2 AS BIGINT) OR results > ?3) \
                       FOR UPDATE SKIP LOCKED)";
        self.database().write_rows(Durability::Process, |transaction| {
            transaction.execute(sql, params![now_ms, max_bytes, max_results])
        })
    }
}
