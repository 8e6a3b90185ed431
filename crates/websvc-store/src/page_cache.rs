//! The page cache: stores, reads, evicts and purges pages.
//!
//! The oldest pages are evicted first, in small transactions. So the write lock is never held for long, even if the
//! limit was lowered, or one large page replaces many small ones.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;

use crate::clock::add_ms;
use crate::error::StoreError;
use crate::page::{CacheLimits, CacheSize, CachedPage, PageKey, PutOutcome};
use crate::page_scope::owner_exists;
use crate::sql::{self, Connection, Row, Transaction, params};
use crate::store::Store;

/// Pages are stored before the response is sent, so speed matters more than the ratio.
const COMPRESSION_LEVEL: i32 = 1;
/// Approximate size of a row and its index entries, without its strings.
const ROW_OVERHEAD_BYTES: u64 = 128;
/// Maximum of rows that one transaction deletes.
const BATCH_ROWS: u32 = 64;
/// Maximum size of a body. A larger one in the database is damage, which must not cause a huge allocation.
const MAX_BODY_BYTES: u64 = 1 << 30;

/// How much newer than a page that is stored the entry in the cache may be, which was fetched at the same time. If it is
/// more, the clock was ahead when the entry was fetched.
const MAX_LEAD: Duration = Duration::from_secs(3_600);

impl Store {
    /// Stores a page, which replaces an older one with the same key, and evicts the oldest entries until the limits
    /// hold. The age of entries is measured at the time of the fetch of `page`.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn put_page(&self, page: &CachedPage, limits: &CacheLimits) -> Result<PutOutcome, StoreError> {
        let entry = Entry::new(page);
        let limit = limits.max_entry_bytes.min(limits.max_bytes);
        if entry.size > limit {
            return Ok(PutOutcome::TooLarge { bytes: entry.size, limit });
        }
        let bounds = CacheBounds::new(limits, page.fetched_at_ms);
        let mut total_evicted = 0;
        loop {
            let result = self.database().write_pages(|transaction| put(transaction, &entry, bounds))?;
            match result {
                PutResult::Stored { evicted } => {
                    return Ok(PutOutcome::Stored { evicted: total_evicted + evicted });
                }
                PutResult::EvictMore { evicted } => total_evicted += evicted,
                PutResult::Outdated => return Ok(PutOutcome::Outdated),
            }
        }
    }

    /// Returns the page with this key, whatever its age.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the entry cannot be decoded; otherwise failures of the database.
    pub fn page(&self, key: &PageKey) -> Result<Option<CachedPage>, StoreError> {
        let sql = "SELECT final_url, status, headers, fetched_at, truncated, body_length, body_encoding, body \
                   FROM pages WHERE url = ?1 AND variant = ?2 AND owner = ?3";
        let row = self.database().read(|connection| {
            connection.query_optional(
                sql,
                params![key.url(), key.stored_variant(), key.owner_number()],
                StoredPage::from_row,
            )
        })?;
        // After `read`, because decoding needs no connection.
        let decoded = row.map(|row| row.decode(key.clone())).transpose();
        decoded.map_err(|detail| self.database().corrupt(format!("page {}: {detail}", key.url())))
    }

    /// Returns the time of the fetch of the page with this key, without reading its body. Never waits for a connection,
    /// so it may be called on an async thread; returns `None` also if all connections are in use.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn try_page_fetched_at(&self, key: &PageKey) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT fetched_at FROM pages WHERE url = ?1 AND variant = ?2 AND owner = ?3";
        let found = self.database().try_read(|connection| {
            connection.query_optional(
                sql,
                params![key.url(), key.stored_variant(), key.owner_number()],
                |row| row.get(0),
            )
        })?;
        Ok(found.flatten())
    }

    /// Evicts entries until the limits hold at `now_ms` (milliseconds since the Unix epoch), and returns how many. For
    /// lowered limits, and for the expiry of entries while no page is stored.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn evict_pages(&self, limits: &CacheLimits, now_ms: u64) -> Result<u64, StoreError> {
        let bounds = CacheBounds::new(limits, now_ms);
        self.delete_in_batches(|transaction| evict(transaction, bounds, 0).map(|eviction| eviction.evicted))
    }

    /// Deletes every variant of a URL, and returns how many there were.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn purge_url(&self, url: &str) -> Result<u64, StoreError> {
        let sql = "DELETE FROM pages WHERE id IN (SELECT id FROM pages WHERE url = ?1 LIMIT ?2)";
        self.delete_in_batches(|transaction| transaction.execute(sql, params![url, BATCH_ROWS]))
    }

    /// Deletes every page of a host (exactly this host, any port), and returns how many there were.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn purge_host(&self, host: &str) -> Result<u64, StoreError> {
        let sql = "DELETE FROM pages WHERE id IN (SELECT id FROM pages WHERE host = ?1 LIMIT ?2)";
        self.delete_in_batches(|transaction| transaction.execute(sql, params![host, BATCH_ROWS]))
    }

    /// Returns the size of the cache.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn cache_size(&self) -> Result<CacheSize, StoreError> {
        self.database().read(size)
    }

    /// Repeats a deletion, one transaction at a time, until it deletes nothing. Returns the number of deleted rows.
    fn delete_in_batches(
        &self,
        mut delete: impl FnMut(&Transaction<'_>) -> sql::Result<u64>,
    ) -> Result<u64, StoreError> {
        let mut deleted = 0;
        loop {
            match self.database().write_pages(&mut delete)? {
                0 => return Ok(deleted),
                rows => deleted += rows,
            }
        }
    }
}

/// The limits of the cache at a point in time.
#[derive(Debug, Clone, Copy)]
struct CacheBounds {
    max_bytes: u64,
    oldest_ms: u64,
}

impl CacheBounds {
    fn new(limits: &CacheLimits, now_ms: u64) -> Self {
        Self { max_bytes: limits.max_bytes, oldest_ms: now_ms.saturating_sub(millis(limits.max_age)) }
    }
}

/// Result of one transaction that stores a page.
enum PutResult {
    Stored {
        evicted: u64,
    },
    /// Another transaction must evict more entries before the page fits.
    EvictMore {
        evicted: u64,
    },
    Outdated,
}

fn put(transaction: &Transaction<'_>, entry: &Entry<'_>, bounds: CacheBounds) -> sql::Result<PutResult> {
    let page = entry.page;
    let variant = page.key.stored_variant();
    if let Some(owner) = page.key.owner()
        && !owner_exists(transaction, owner)?
    {
        // Its team was deleted while the page was fetched, so no request could read it.
        return Ok(PutResult::Outdated);
    }
    let has_newer: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM pages WHERE url = ?1 AND variant = ?2 AND fetched_at > ?3 \
         AND fetched_at <= ?4)",
        params![page.key.url(), variant, page.fetched_at_ms, add_ms(page.fetched_at_ms, MAX_LEAD)],
        |row| row.get(0),
    )?;
    if has_newer {
        return Ok(PutResult::Outdated);
    }
    transaction
        .execute("DELETE FROM pages WHERE url = ?1 AND variant = ?2", params![page.key.url(), variant])?;
    let Eviction { evicted, is_enough } = evict(transaction, bounds, entry.size)?;
    if !is_enough {
        return Ok(PutResult::EvictMore { evicted });
    }
    entry.insert(transaction)?;
    Ok(PutResult::Stored { evicted })
}

struct Eviction {
    evicted: u64,
    /// True if the new bytes fit now. More entries may still be too old.
    is_enough: bool,
}

/// Evicts at most one batch: the oldest entries, until `new_bytes` more bytes fit and the next entry is young enough.
fn evict(transaction: &Transaction<'_>, bounds: CacheBounds, new_bytes: u64) -> sql::Result<Eviction> {
    let mut bytes = size(transaction)?.bytes.saturating_add(new_bytes);
    let oldest = "SELECT id, fetched_at, size FROM pages ORDER BY fetched_at, size, id LIMIT ?1";
    let rows: Vec<(i64, u64, u64)> =
        transaction.query(oldest, params![BATCH_ROWS], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut evicted = 0;
    for (id, fetched_at, size) in rows {
        if bytes <= bounds.max_bytes && fetched_at >= bounds.oldest_ms {
            break;
        }
        transaction.execute("DELETE FROM pages WHERE id = ?1", params![id])?;
        bytes = bytes.saturating_sub(size);
        evicted += 1;
    }
    Ok(Eviction { evicted, is_enough: bytes <= bounds.max_bytes })
}

fn size(connection: &Connection) -> sql::Result<CacheSize> {
    connection.query_row("SELECT pages, bytes FROM page_totals", params![], |row| {
        Ok(CacheSize { pages: row.get(0)?, bytes: row.get(1)? })
    })
}

/// A page, encoded for the table.
struct Entry<'a> {
    page: &'a CachedPage,
    headers: String,
    body: Cow<'a, [u8]>,
    encoding: &'static str,
    size: u64,
}

const PLAIN: &str = "plain";
const ZSTD: &str = "zstd";

impl<'a> Entry<'a> {
    fn new(page: &'a CachedPage) -> Self {
        let headers = serde_json::to_string(&page.headers).expect("a list of pairs of texts is always JSON");
        let (body, encoding) = match zstd::bulk::compress(&page.body, COMPRESSION_LEVEL) {
            Ok(compressed) if compressed.len() < page.body.len() => (Cow::Owned(compressed), ZSTD),
            // Images and PDF files are already compressed.
            _ => (Cow::Borrowed(&*page.body), PLAIN),
        };
        let texts = page.key.url().len() + page.key.variant().len() + page.final_url.len() + headers.len();
        let size = (body.len() + texts) as u64 + ROW_OVERHEAD_BYTES;
        Self { page, headers, body, encoding, size }
    }

    fn insert(&self, transaction: &Transaction<'_>) -> sql::Result<()> {
        let Self { page, headers, body, encoding, size } = self;
        let CachedPage { key, final_url, status, headers: _, body: plain, fetched_at_ms, truncated } = page;
        let sql = "INSERT INTO pages (url, variant, host, final_url, status, headers, fetched_at, truncated, size, \
                   body_length, body_encoding, body, owner) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        transaction.execute(
            sql,
            params![
                key.url(),
                key.stored_variant(),
                key.host(),
                final_url,
                status,
                headers,
                fetched_at_ms,
                truncated,
                size,
                plain.len() as u64,
                encoding,
                body,
                key.owner_number(),
            ],
        )?;
        Ok(())
    }
}

/// A row of the table, before decoding.
struct StoredPage {
    final_url: String,
    status: u16,
    headers: String,
    fetched_at_ms: u64,
    truncated: bool,
    body_length: u64,
    body_encoding: String,
    body: Vec<u8>,
}

impl StoredPage {
    fn from_row(row: &Row<'_>) -> sql::Result<Self> {
        Ok(Self {
            final_url: row.get(0)?,
            status: row.get(1)?,
            headers: row.get(2)?,
            fetched_at_ms: row.get(3)?,
            truncated: row.get(4)?,
            body_length: row.get(5)?,
            body_encoding: row.get(6)?,
            body: row.get(7)?,
        })
    }

    fn decode(self, key: PageKey) -> Result<CachedPage, String> {
        let headers = serde_json::from_str(&self.headers).map_err(|error| format!("headers: {error}"))?;
        let body = decode_body(self.body, &self.body_encoding, self.body_length)?;
        Ok(CachedPage {
            key,
            final_url: self.final_url,
            status: self.status,
            headers,
            body: Bytes::from(body),
            fetched_at_ms: self.fetched_at_ms,
            truncated: self.truncated,
        })
    }
}

fn decode_body(stored: Vec<u8>, encoding: &str, length: u64) -> Result<Vec<u8>, String> {
    if length > MAX_BODY_BYTES {
        return Err(format!("a body of {length} bytes"));
    }
    let body = match encoding {
        PLAIN => stored,
        ZSTD => zstd::bulk::decompress(&stored, length as usize).map_err(|error| format!("body: {error}"))?,
        other => return Err(format!("body encoding \"{other}\"")),
    };
    if body.len() as u64 != length {
        return Err(format!("a body of {} bytes instead of {length}", body.len()));
    }
    Ok(body)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
