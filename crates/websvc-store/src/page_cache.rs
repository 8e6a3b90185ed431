//! The page cache: stores, reads, evicts and purges pages.
//!
//! The oldest pages are evicted first, in small transactions. So no lock is held for long, even if the limit was lowered,
//! or one large page replaces many small ones.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;

use crate::clock::add_ms;
use crate::database::Durability;
use crate::error::StoreError;
use crate::page::{CacheLimits, CacheSize, CachedPage, PageKey, PutOutcome};
use crate::page_owner::owner_exists;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Connection, Row, Transaction, params};
use crate::store::Store;

/// Pages are stored before the response is sent, so speed matters more than the ratio.
const COMPRESSION_LEVEL: i32 = 1;
/// Approximate size of a row and its index entries, without its strings.
const ROW_OVERHEAD_BYTES: u64 = 128;
/// Selects the size of the cache. On a server the totals are divided into several rows.
const SIZE: &str = "SELECT CAST(sum(pages) AS BIGINT), CAST(sum(bytes) AS BIGINT) FROM page_totals";
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
        let Some(mut eviction) = self.write_pages(|transaction| put(transaction, &entry, bounds))? else {
            return Ok(PutOutcome::Outdated);
        };
        let mut evicted = eviction.evicted;
        while !eviction.is_enough {
            eviction = self.write_pages(|transaction| evict(transaction, bounds, Some(&page.key)))?;
            evicted += eviction.evicted;
        }
        Ok(PutOutcome::Stored { evicted })
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

    /// Returns the time of the fetch of the newest cached page, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn newest_page_ms(&self) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT max(fetched_at) FROM pages";
        self.database().read(|connection| connection.query_row(sql, params![], |row| row.get(0)))
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
        let _class = StatementClass::Background.enter();
        let bounds = CacheBounds::new(limits, now_ms);
        self.database().delete_in_batches(|transaction| {
            evict(transaction, bounds, None).map(|eviction| eviction.evicted)
        })
    }

    /// Deletes every variant of a URL, and returns how many there were.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn purge_url(&self, url: &str) -> Result<u64, StoreError> {
        let _class = StatementClass::Background.enter();
        let sql = "DELETE FROM pages WHERE id IN (SELECT id FROM pages WHERE url = ?1 LIMIT ?2)";
        self.database().delete_in_batches(|transaction| transaction.execute(sql, params![url, BATCH_ROWS]))
    }

    /// Deletes every page of a host (exactly this host, any port), and returns how many there were.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn purge_host(&self, host: &str) -> Result<u64, StoreError> {
        let _class = StatementClass::Background.enter();
        let sql = "DELETE FROM pages WHERE id IN (SELECT id FROM pages WHERE host = ?1 LIMIT ?2)";
        self.database().delete_in_batches(|transaction| transaction.execute(sql, params![host, BATCH_ROWS]))
    }

    /// Returns the size of the cache.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn cache_size(&self) -> Result<CacheSize, StoreError> {
        self.database().read(size)
    }

    /// Changes pages in a transaction. They can be fetched again, so it survives a crash of the process only.
    fn write_pages<T>(&self, work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>) -> Result<T, StoreError> {
        self.database().write_rows(Durability::Process, work)
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

/// Stores a page, and evicts a part of the others if they are too many. Returns `None` if a newer version is stored.
fn put(
    transaction: &Transaction<'_>,
    entry: &Entry<'_>,
    bounds: CacheBounds,
) -> sql::Result<Option<Eviction>> {
    if let Some(owner) = entry.page.key.owner()
        && !owner_exists(transaction, owner)?
    {
        // Its team was deleted while the page was fetched, so no request could read it.
        return Ok(None);
    }
    let Some((bytes, oldest_ms)) = entry.insert(transaction)? else { return Ok(None) };
    if bytes.saturating_add(entry.size) <= bounds.max_bytes
        && oldest_ms.is_none_or(|oldest_ms| oldest_ms >= bounds.oldest_ms)
    {
        return Ok(Some(Eviction { evicted: 0, is_enough: true }));
    }
    evict(transaction, bounds, Some(&entry.page.key)).map(Some)
}

struct Eviction {
    evicted: u64,
    /// True if the entries fit now. More of them may still be too old.
    is_enough: bool,
}

/// Evicts at most one batch: the oldest entries but the one of `kept`, until the limits hold.
fn evict(
    transaction: &Transaction<'_>,
    bounds: CacheBounds,
    kept: Option<&PageKey>,
) -> sql::Result<Eviction> {
    let mut bytes = size(transaction)?.bytes;
    let oldest = format!(
        "SELECT id, fetched_at, size FROM pages WHERE NOT (url = ?2 AND variant = ?3) \
         ORDER BY fetched_at, size, id LIMIT ?1{}",
        transaction.skip_locked()
    );
    let kept = kept.map(|key| (key.url(), key.stored_variant())).unwrap_or_default();
    let rows: Vec<(i64, u64, u64)> =
        transaction.query(&oldest, params![BATCH_ROWS, kept.0, kept.1], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    // Without a row that it may evict, other transactions evict.
    let mut eviction = Eviction { evicted: 0, is_enough: rows.is_empty() };
    for (id, fetched_at, size) in rows {
        if bytes <= bounds.max_bytes && fetched_at >= bounds.oldest_ms {
            break;
        }
        transaction.enqueue("DELETE FROM pages WHERE id = ?1", params![id])?;
        bytes = bytes.saturating_sub(size);
        eviction.evicted += 1;
    }
    eviction.is_enough |= bytes <= bounds.max_bytes;
    Ok(eviction)
}

fn size(connection: &Connection) -> sql::Result<CacheSize> {
    connection.query_row(SIZE, params![], |row| Ok(CacheSize { pages: row.get(0)?, bytes: row.get(1)? }))
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

    /// Inserts the page in place of an older version. Returns the size of all pages and the time of the oldest one before
    /// that; `None` if a newer version is stored.
    fn insert(&self, transaction: &Transaction<'_>) -> sql::Result<Option<(u64, Option<u64>)>> {
        let Self { page, headers, body, encoding, size } = self;
        let CachedPage { key, final_url, status, headers: _, body: plain, fetched_at_ms, truncated } = page;
        let sql = format!(
            "INSERT INTO pages (url, variant, host, final_url, status, headers, fetched_at, truncated, size, \
             body_length, body_encoding, body, owner) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
             ON CONFLICT ({}) DO UPDATE SET url = excluded.url, variant = excluded.variant, host = excluded.host, \
             final_url = excluded.final_url, status = excluded.status, headers = excluded.headers, \
             fetched_at = excluded.fetched_at, truncated = excluded.truncated, size = excluded.size, \
             body_length = excluded.body_length, body_encoding = excluded.body_encoding, body = excluded.body, \
             owner = excluded.owner WHERE pages.fetched_at <= excluded.fetched_at OR pages.fetched_at > ?14 \
             RETURNING (SELECT CAST(sum(bytes) AS BIGINT) FROM page_totals), (SELECT min(fetched_at) FROM pages)",
            unique_columns(transaction)
        );
        let values = params![
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
            add_ms(*fetched_at_ms, MAX_LEAD),
        ];
        transaction.query_optional(&sql, values, |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

/// Returns what identifies a page in the table. On a server the texts may be too long for an index.
const fn unique_columns(connection: &Connection) -> &'static str {
    match connection {
        Connection::Sqlite(_) => "url, variant",
        Connection::Postgres(_) => "md5(url), md5(variant)",
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
