//! Snapshots of pages: the versions that later scrapes of a team compare with.
//!
//! They are not a cache: a snapshot cannot be fetched again, so it is never shared between teams, and is removed only because
//! it was not used for long, because of the quota of its team, or with its team. No other row depends on a snapshot, so that
//! of a scrape is written durably without a lock of the database; of two scrapes of a page, the last one wins.
//!
//! The snapshot of a page of a job is written in the transaction that completes the page, with its durability. A page that is read again,
//! because the process ended before that, must not be compared with itself.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Row, Transaction, params};
use crate::store::Store;
use crate::team::DEFAULT_TEAM;

/// Snapshots are stored for months, so a better ratio is worth a few milliseconds.
const COMPRESSION_LEVEL: i32 = 3;
/// Approximate size of a row and its index entries, without its texts.
const ROW_OVERHEAD_BYTES: usize = 256;
/// Maximum of rows that one transaction of the sweep deletes.
const BATCH_ROWS: u32 = 64;
/// Maximum size of a markdown. A larger one in the database is damage, which must not cause a huge allocation.
const MAX_MARKDOWN_BYTES: u64 = 1 << 28;

/// Counts the snapshots of a team that exceed its quota, without the one of a history, those with the oldest use first.
const COUNT_EXCESS: &str = "SELECT count(*) FROM ( \
     SELECT sum(bytes) OVER newest AS bytes, row_number() OVER newest AS pages \
     FROM page_snapshots WHERE team = ?1 AND id <> ?2 \
     WINDOW newest AS (ORDER BY used_at DESC, id DESC ROWS UNBOUNDED PRECEDING) \
     ) AS totals WHERE bytes > CAST(?3 AS BIGINT) OR pages > ?4";

/// The history that a snapshot belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotKey {
    /// Team that scraped the page.
    pub team: String,
    /// URL as it was requested.
    pub url: String,
    /// Name of a separate history; `None` is a history of its own.
    pub tag: Option<String>,
}

/// A version of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSnapshot {
    /// The page as markdown.
    pub markdown: String,
    /// Hash of the options that shaped the markdown.
    pub options: [u8; 32],
    /// Time of the scrape, in milliseconds since the Unix epoch.
    pub taken_at_ms: u64,
}

/// The limits of snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Maximum number of snapshots of a team.
    pub max_pages_per_team: u64,
    /// Maximum size of the snapshots of a team, compressed, with 256 bytes for each in addition to its texts.
    pub max_bytes_per_team: u64,
    /// Time since the last use after which a snapshot is deleted.
    pub max_unused: Duration,
}

impl Default for SnapshotLimits {
    /// 10000 snapshots and 1 GiB per team, and 365 days.
    fn default() -> Self {
        Self {
            max_pages_per_team: 10_000,
            max_bytes_per_team: 1024 * 1024 * 1024,
            max_unused: Duration::from_secs(365 * 86_400),
        }
    }
}

/// Outcome of storing a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutSnapshotOutcome {
    /// The snapshot is stored, and survives a power failure.
    Stored {
        /// Number of snapshots of the team that were deleted because of its quota: those not used for the longest time.
        evicted: u64,
    },
    /// The snapshot is larger than the quota of the team. Nothing was changed.
    TooLarge {
        /// Size that counts against the quota.
        bytes: u64,
        /// The quota.
        limit: u64,
    },
    /// The team was deleted in the meantime. Nothing was changed.
    TeamDeleted,
}

/// A snapshot with its markdown compressed, to be written with the completion of a page: see
/// [`UrlCompletion::snapshot`](crate::UrlCompletion::snapshot).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedSnapshot {
    key: SnapshotKey,
    options: [u8; 32],
    taken_at_ms: u64,
    /// Size of the markdown before compression.
    length: u64,
    /// Size that counts against the quota.
    bytes: u64,
    compressed: Vec<u8>,
    limits: SnapshotLimits,
}

impl PreparedSnapshot {
    /// Compresses a snapshot. Returns the outcome of storing it if it is too large.
    fn new(
        key: &SnapshotKey,
        snapshot: &PageSnapshot,
        limits: &SnapshotLimits,
    ) -> Result<Self, PutSnapshotOutcome> {
        let PageSnapshot { markdown, options, taken_at_ms } = snapshot;
        let compressed = zstd::bulk::compress(markdown.as_bytes(), COMPRESSION_LEVEL)
            .expect("compressing into memory cannot fail");
        let tag_bytes = key.tag.as_ref().map_or(0, String::len);
        let bytes = (compressed.len() + key.url.len() + tag_bytes + ROW_OVERHEAD_BYTES) as u64;
        let (length, limit) = (markdown.len() as u64, limits.max_bytes_per_team);
        if bytes > limit || length > MAX_MARKDOWN_BYTES || limits.max_pages_per_team == 0 {
            return Err(PutSnapshotOutcome::TooLarge { bytes, limit });
        }
        let (key, options, taken_at_ms, limits) = (key.clone(), *options, *taken_at_ms, *limits);
        Ok(Self { key, options, taken_at_ms, length, bytes, compressed, limits })
    }

    /// Writes the snapshot in a transaction, in place of the last one of its history, and deletes others of the team
    /// while its quota is exceeded.
    pub(crate) fn write(&self, transaction: &Transaction<'_>) -> sql::Result<PutSnapshotOutcome> {
        let Self { key, options, taken_at_ms, length, bytes, compressed, limits } = self;
        if !team_exists(transaction, &key.team)? {
            return Ok(PutSnapshotOutcome::TeamDeleted);
        }
        let sql = "INSERT INTO page_snapshots (id, team, url, tag, options, taken_at, used_at, length, bytes, markdown) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9) \
                   ON CONFLICT (id) DO UPDATE SET team = excluded.team, url = excluded.url, tag = excluded.tag, \
                       options = excluded.options, taken_at = excluded.taken_at, used_at = excluded.used_at, \
                       length = excluded.length, bytes = excluded.bytes, markdown = excluded.markdown";
        transaction.execute(
            sql,
            params![key.id(), key.team, key.url, key.tag, options, taken_at_ms, length, bytes, compressed],
        )?;
        Ok(PutSnapshotOutcome::Stored { evicted: enforce_quota(transaction, &key.team, limits)? })
    }
}

impl SnapshotKey {
    /// Returns the ID of the row. The key itself may be longer than an entry of an index.
    fn id(&self) -> [u8; 32] {
        let Self { team, url, tag } = self;
        let mut hash = Sha256::new();
        for text in [team, url] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        if let Some(tag) = tag {
            hash.update([1]);
            hash.update(tag);
        }
        hash.finalize().into()
    }
}

impl Store {
    /// Returns the snapshot of a history; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it cannot be decoded; otherwise failures of the database.
    pub fn page_snapshot(&self, key: &SnapshotKey) -> Result<Option<PageSnapshot>, StoreError> {
        let sql =
            "SELECT options, taken_at, length, markdown FROM page_snapshots WHERE id = ?1 AND team = ?2";
        let row = self.database().read(|connection| {
            connection.query_optional(sql, params![key.id(), key.team], StoredSnapshot::from_row)
        })?;
        let decoded = row.map(StoredSnapshot::decode).transpose();
        decoded.map_err(|detail| {
            self.database().corrupt(format!("snapshot of {} of team {}: {detail}", key.url, key.team))
        })
    }

    /// Stores the snapshot of a history in place of the last one, and deletes others of the team while its quota is
    /// exceeded. The time of the snapshot is that of its last use.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn put_page_snapshot(
        &self,
        key: &SnapshotKey,
        snapshot: &PageSnapshot,
        limits: &SnapshotLimits,
    ) -> Result<PutSnapshotOutcome, StoreError> {
        match PreparedSnapshot::new(key, snapshot, limits) {
            Ok(prepared) => {
                self.database().write_rows(Durability::Power, |transaction| prepared.write(transaction))
            }
            Err(outcome) => Ok(outcome),
        }
    }

    /// Prepares the snapshot of a history to be written later, with the completion of its page. Returns the outcome that
    /// writing it would have now, and the snapshot if it can be written.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn prepare_page_snapshot(
        &self,
        key: &SnapshotKey,
        snapshot: &PageSnapshot,
        limits: &SnapshotLimits,
    ) -> Result<(PutSnapshotOutcome, Option<PreparedSnapshot>), StoreError> {
        let prepared = match PreparedSnapshot::new(key, snapshot, limits) {
            Ok(prepared) => prepared,
            Err(outcome) => return Ok((outcome, None)),
        };
        let evicted = self.database().read(|connection| {
            let max_bytes = limits.max_bytes_per_team - prepared.bytes;
            let max_pages = limits.max_pages_per_team - 1;
            let values = params![key.team, key.id(), max_bytes, max_pages];
            connection.query_row(COUNT_EXCESS, values, |row| row.get(0))
        })?;
        Ok((PutSnapshotOutcome::Stored { evicted }, Some(prepared)))
    }

    /// Records that the snapshot of a history was used at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn touch_page_snapshot(&self, key: &SnapshotKey, now_ms: u64) -> Result<(), StoreError> {
        let sql = "UPDATE page_snapshots SET used_at = ?3 WHERE id = ?1 AND team = ?2";
        self.database().write_rows(Durability::Process, |transaction| {
            transaction.execute(sql, params![key.id(), key.team, now_ms]).map(drop)
        })
    }

    /// Deletes the snapshots that were not used for long at `now_ms` (milliseconds since the Unix epoch), those of
    /// deleted teams, and those that exceed the quota of their team. Returns how many.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn evict_page_snapshots(&self, limits: &SnapshotLimits, now_ms: u64) -> Result<u64, StoreError> {
        let _class = StatementClass::Background.enter();
        let unused_ms = u64::try_from(limits.max_unused.as_millis()).unwrap_or(u64::MAX);
        let oldest_ms = now_ms.saturating_sub(unused_ms);
        let unused = "DELETE FROM page_snapshots WHERE id IN \
                      (SELECT id FROM page_snapshots WHERE used_at < ?1 LIMIT ?2)";
        let mut evicted = self
            .database()
            .delete_in_batches(|transaction| transaction.execute(unused, params![oldest_ms, BATCH_ROWS]))?;
        let teams: Vec<String> = self.database().read(|connection| {
            connection.query("SELECT DISTINCT team FROM page_snapshots", params![], |row| row.get(0))
        })?;
        let of_team = "DELETE FROM page_snapshots WHERE id IN \
                       (SELECT id FROM page_snapshots WHERE team = ?1 LIMIT ?2)";
        for team in teams {
            // A team without a row was deleted while a scrape was in flight.
            evicted += self.database().delete_in_batches(|transaction| {
                if team_exists(transaction, &team)? {
                    return Ok(0);
                }
                transaction.execute(of_team, params![team, BATCH_ROWS])
            })?;
            evicted += self
                .database()
                .write_rows(Durability::Process, |transaction| enforce_quota(transaction, &team, limits))?;
        }
        Ok(evicted)
    }
}

/// Gives the snapshots of a team that is deleted to no team, so that a later team with this name does not see them. The
/// sweep deletes them.
pub(crate) fn disown_snapshots(transaction: &Transaction<'_>, team: &str) -> sql::Result<()> {
    transaction.execute("UPDATE page_snapshots SET team = '' WHERE team = ?1", params![team]).map(drop)
}

/// Returns whether a team exists. Only the team `default` need not have a row.
fn team_exists(transaction: &Transaction<'_>, team: &str) -> sql::Result<bool> {
    Ok(team == DEFAULT_TEAM || transaction.exists("SELECT 1 FROM teams WHERE name = ?1", params![team])?)
}

/// Deletes the snapshots of a team that exceed its quota, those with the oldest use first. Returns how many.
fn enforce_quota(transaction: &Transaction<'_>, team: &str, limits: &SnapshotLimits) -> sql::Result<u64> {
    let SnapshotLimits { max_pages_per_team, max_bytes_per_team, max_unused: _ } = *limits;
    let sum = "SELECT count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM page_snapshots WHERE team = ?1";
    let (pages, bytes): (u64, u64) =
        transaction.query_row(sum, params![team], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if pages <= max_pages_per_team && bytes <= max_bytes_per_team {
        return Ok(0);
    }
    let excess = "DELETE FROM page_snapshots WHERE id IN ( \
                      SELECT id FROM ( \
                          SELECT id, sum(bytes) OVER newest AS bytes, row_number() OVER newest AS pages \
                          FROM page_snapshots WHERE team = ?1 \
                          WINDOW newest AS (ORDER BY used_at DESC, id DESC ROWS UNBOUNDED PRECEDING) \
                      ) AS totals WHERE bytes > CAST(?2 AS BIGINT) OR pages > ?3)";
    transaction.execute(excess, params![team, max_bytes_per_team, max_pages_per_team])
}

/// A row of the table, before decoding.
struct StoredSnapshot {
    options: Vec<u8>,
    taken_at_ms: u64,
    length: u64,
    compressed: Vec<u8>,
}

impl StoredSnapshot {
    fn from_row(row: &Row<'_>) -> sql::Result<Self> {
        Ok(Self {
            options: row.get(0)?,
            taken_at_ms: row.get(1)?,
            length: row.get(2)?,
            compressed: row.get(3)?,
        })
    }

    fn decode(self) -> Result<PageSnapshot, String> {
        let Self { options, taken_at_ms, length, compressed } = self;
        if length > MAX_MARKDOWN_BYTES {
            return Err(format!("a markdown of {length} bytes"));
        }
        let markdown =
            zstd::bulk::decompress(&compressed, length as usize).map_err(|error| error.to_string())?;
        if markdown.len() as u64 != length {
            return Err(format!("a markdown of {} bytes instead of {length}", markdown.len()));
        }
        let markdown = String::from_utf8(markdown).map_err(|error| error.to_string())?;
        let options =
            options.try_into().map_err(|options: Vec<u8>| format!("a hash of {} bytes", options.len()))?;
        Ok(PageSnapshot { markdown, options, taken_at_ms })
    }
}
