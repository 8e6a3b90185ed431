//! The outbox of pages for indexes on servers, with which a page is stored until its server has it.
//!
//! Processes that share the database take pages for a time, so that usually one of them writes a page. If two do, or one
//! ends before it has deleted the page, the server gets the page twice and rejects the older version. A database file is
//! emptied by one process, which takes the pages again at once after a restart.

use crate::database::Durability;
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, params};
use crate::store::Store;

/// How long a process has pages that it has taken from a server. A process that is killed delays them that long.
const CLAIM_MS: u64 = 60_000;

/// A page for an index on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxPage {
    /// ID of the page on the server, which is the same for all spellings of its URL.
    pub id: String,
    /// URL of the page.
    pub url: String,
    /// Time of the fetch, in milliseconds since the Unix epoch. A page replaces only those of the same or an older
    /// version.
    pub version: u64,
    /// The page as the server stores it, which is opaque to the store.
    pub record: String,
}

/// Pages that a process has taken to write them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxClaim {
    /// Random number of the claim.
    number: i64,
    /// The number of pages when they were taken.
    count: usize,
    /// The pages, in no particular order.
    pub pages: Vec<OutboxPage>,
    /// The URLs of pages that cannot be decoded. They are deleted with the others.
    pub damaged: Vec<String>,
}

/// The pages that wait for a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboxSize {
    /// Their number.
    pub pages: u64,
    /// Size of their records before compression.
    pub bytes: u64,
    /// Time since which the oldest one waits, in milliseconds since the Unix epoch.
    pub oldest_ms: Option<u64>,
}

impl Store {
    /// Adds pages for a server at `now_ms` (milliseconds since the Unix epoch). A page takes the place of the same or an
    /// older version that waits.
    ///
    /// # Errors
    /// Failures of the database; then none of the pages is added.
    pub fn put_in_outbox(
        &self,
        source: &str,
        pages: &[OutboxPage],
        durability: Durability,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO index_outbox (source, document, url, version, bytes, record, created_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (source, document) DO UPDATE SET \
                   url = excluded.url, version = excluded.version, bytes = excluded.bytes, \
                   record = excluded.record, due_at = 0, claim = NULL \
                   WHERE excluded.version >= index_outbox.version";
        let mut rows: Vec<_> =
            pages.iter().map(|page| (page, CompressedDocument::new(page.record.as_bytes()))).collect();
        // All transactions lock rows in this order, so that none waits for one that waits for it.
        rows.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        self.database().write_rows(durability, |transaction| {
            for (OutboxPage { id, url, version, record: _ }, CompressedDocument { bytes, content }) in &rows {
                transaction.execute(sql, params![source, id, url, version, bytes, content, now_ms])?;
            }
            Ok(())
        })
    }

    /// Returns the number and size of the pages that wait for a server, those that were taken included.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn outbox_size(&self, source: &str) -> Result<OutboxSize, StoreError> {
        let sql = "SELECT count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT), min(created_at) FROM index_outbox \
                   WHERE source = ?1";
        self.database().read(|connection| {
            connection.query_row(sql, params![source], |row| {
                Ok(OutboxSize { pages: row.get(0)?, bytes: row.get(1)?, oldest_ms: row.get(2)? })
            })
        })
    }

    /// Takes the next pages for a server that are due at `now_ms` (milliseconds since the Unix epoch): at most
    /// `max_pages`, and so many that they exceed `max_bytes` by less than a page.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn claim_from_outbox(
        &self,
        source: &str,
        max_pages: usize,
        max_bytes: usize,
        now_ms: u64,
    ) -> Result<OutboxClaim, StoreError> {
        let database = self.database();
        let (locking, until_ms) =
            if database.is_server() { (" FOR UPDATE SKIP LOCKED", now_ms + CLAIM_MS) } else { ("", 0) };
        let sql = format!(
            "WITH due AS (SELECT number, bytes FROM index_outbox WHERE source = ?1 AND due_at <= ?2 \
                          ORDER BY number LIMIT ?3{locking}), \
                  sized AS (SELECT number, sum(bytes) OVER (ORDER BY number) - bytes AS earlier FROM due) \
             UPDATE index_outbox SET claim = ?5, due_at = ?6 \
             WHERE number IN (SELECT number FROM sized WHERE earlier < CAST(?4 AS BIGINT)) \
             RETURNING document, url, version, bytes, record"
        );
        let number = random_number()?;
        let rows = database.write_rows(Durability::Process, |transaction| {
            let values = params![source, now_ms, max_pages, max_bytes, number, until_ms];
            transaction.query(&sql, values, |row| {
                let record = CompressedDocument { bytes: row.get(3)?, content: row.get(4)? };
                Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<u64>(2)?, record))
            })
        })?;
        let pages = Vec::with_capacity(rows.len());
        let mut claim = OutboxClaim { number, count: rows.len(), pages, damaged: Vec::new() };
        for (id, url, version, record) in rows {
            match record.decompress(database, "a page in the outbox").map(String::from_utf8) {
                Ok(Ok(record)) => claim.pages.push(OutboxPage { id, url, version, record }),
                Ok(Err(_)) | Err(_) => claim.damaged.push(url),
            }
        }
        Ok(claim)
    }

    /// Deletes the pages of a claim, except those with the IDs `kept`, which are due again at `due_ms` (milliseconds
    /// since the Unix epoch). Pages that were replaced or taken by another process meanwhile are not changed.
    ///
    /// # Errors
    /// Failures of the database; then all pages are taken again later.
    pub fn settle_outbox_claim(
        &self,
        claim: &OutboxClaim,
        kept: &[String],
        due_ms: u64,
    ) -> Result<(), StoreError> {
        let OutboxClaim { number, count, .. } = *claim;
        let locking = if self.database().is_server() { " FOR UPDATE" } else { "" };
        let rows = format!("(SELECT number FROM index_outbox WHERE claim = ?1 ORDER BY document{locking})");
        self.database().write_rows(Durability::Process, |transaction| {
            if kept.len() == count {
                let sql = format!("UPDATE index_outbox SET claim = NULL, due_at = ?2 WHERE number IN {rows}");
                return transaction.execute(&sql, params![number, due_ms]).map(drop);
            }
            let sql = "UPDATE index_outbox SET claim = NULL, due_at = ?2 WHERE claim = ?1 AND document = ?3";
            let mut kept: Vec<&String> = kept.iter().collect();
            kept.sort_unstable();
            for id in kept {
                transaction.execute(sql, params![number, due_ms, id])?;
            }
            let sql = format!("DELETE FROM index_outbox WHERE number IN {rows}");
            transaction.execute(&sql, params![number]).map(drop)
        })
    }

    /// Deletes the pages for a server that `is_selected` returns true for, by ID and URL, and returns their number.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn remove_from_outbox(
        &self,
        source: &str,
        is_selected: impl Fn(&str, &str) -> bool,
    ) -> Result<usize, StoreError> {
        let sql = "SELECT number, document, url FROM index_outbox WHERE source = ?1 ORDER BY document";
        self.database().write_rows(Durability::Process, |transaction| {
            let rows = transaction.query(sql, params![source], |row| {
                let is_selected = is_selected(&row.get::<String>(1)?, &row.get::<String>(2)?);
                Ok(is_selected.then_some(row.get::<i64>(0)?))
            })?;
            let numbers: Vec<i64> = rows.into_iter().flatten().collect();
            for number in &numbers {
                transaction.execute("DELETE FROM index_outbox WHERE number = ?1", params![number])?;
            }
            sql::Result::Ok(numbers.len())
        })
    }
}

/// Returns a random number that is not negative.
fn random_number() -> Result<i64, StoreError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|source| StoreError::Random { source })?;
    Ok(i64::from_be_bytes(bytes) & i64::MAX)
}
