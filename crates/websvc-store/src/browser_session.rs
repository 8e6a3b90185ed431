//! Browser sessions that clients control: their rows, which outlive them for a day.
//!
//! The browser of a session runs in one process. Its row refers to the row of that process in the table `replicas`, so a
//! session whose process has ended counts as destroyed, without any other write.

use std::time::Duration;

use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::key::KeyId;
use crate::sql::{self, Row, Transaction, params};
use crate::store::Store;

/// The time for which a destroyed session is listed.
const LISTED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserSessionStatus {
    /// Its browser runs.
    Active,
    /// It has ended, or its process has.
    Destroyed,
}

/// A session to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBrowserSession {
    /// ID of the session.
    pub id: String,
    /// Team that owns it.
    pub team: String,
    /// Key that created it; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Scrape whose page it shows; `None` for a session without one.
    pub scrape: Option<String>,
    /// The value of the request, which is only listed.
    pub stream_web_view: bool,
    /// Time to live.
    pub ttl: Duration,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSessionRecord {
    /// ID of the session.
    pub id: String,
    /// Team that owns it.
    pub team: String,
    /// Scrape whose page it shows.
    pub scrape: Option<String>,
    /// The value of the request.
    pub stream_web_view: bool,
    /// Its status.
    pub status: BrowserSessionStatus,
    /// True if its browser runs, or ran, in this process.
    pub is_own: bool,
    /// Creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Last use by the client, in milliseconds since the Unix epoch.
    pub active_at_ms: u64,
    /// End of its time to live, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
    /// Its end, in milliseconds since the Unix epoch; `None` if it is active or its process was lost.
    pub destroyed_at_ms: Option<u64>,
}

/// Outcome of creating a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateBrowserSessionOutcome {
    /// The session is recorded.
    Created(BrowserSessionRecord),
    /// The team has as many active sessions as it may have.
    TooMany,
    /// The scrape had a session before.
    ScrapeUsed,
    /// This process has not joined the replicas, so it cannot own sessions.
    NotJoined,
}

const COLUMNS: &str =
    "id, team, scrape, stream_web_view, replica, created_at, active_at, expires_at, destroyed_at";

impl Store {
    /// Records a session of this process at `now_ms` (milliseconds since the Unix epoch), unless its team has
    /// `max_active` active sessions. Deletes the sessions that are no longer listed.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn create_browser_session(
        &self,
        session: &NewBrowserSession,
        max_active: u64,
        now_ms: u64,
    ) -> Result<CreateBrowserSessionOutcome, StoreError> {
        let Some(replica) = self.membership().id() else { return Ok(CreateBrowserSessionOutcome::NotJoined) };
        let NewBrowserSession { id, team, key, scrape, stream_web_view, ttl } = session;
        let expires_at = crate::clock::add_ms(now_ms, *ttl);
        self.database().write_locked(Locked::Team(team), Durability::Process, |transaction| {
            sweep(transaction, now_ms)?;
            let used = "SELECT number FROM browser_sessions WHERE scrape = ?1";
            if scrape.is_some()
                && transaction.query_optional(used, params![scrape], |row| row.get::<i64>(0))?.is_some()
            {
                return Ok(CreateBrowserSessionOutcome::ScrapeUsed);
            }
            let count = "SELECT count(*) FROM browser_sessions \
                         WHERE team = ?1 AND destroyed_at IS NULL AND replica IS NOT NULL";
            let active: u64 = transaction.query_row(count, params![team], |row| row.get(0))?;
            if active >= max_active {
                return Ok(CreateBrowserSessionOutcome::TooMany);
            }
            let sql = "INSERT INTO browser_sessions \
                       (id, team, key, scrape, stream_web_view, replica, created_at, active_at, expires_at) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)";
            let key = key.as_ref().map(KeyId::as_str);
            let values = params![id, team, key, scrape, stream_web_view, replica, now_ms, expires_at];
            transaction.execute(sql, values)?;
            Ok(CreateBrowserSessionOutcome::Created(BrowserSessionRecord {
                id: id.clone(),
                team: team.clone(),
                scrape: scrape.clone(),
                stream_web_view: *stream_web_view,
                status: BrowserSessionStatus::Active,
                is_own: true,
                created_at_ms: now_ms,
                active_at_ms: now_ms,
                expires_at_ms: expires_at,
                destroyed_at_ms: None,
            }))
        })
    }

    /// Returns a session of any team.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn browser_session(&self, id: &str) -> Result<Option<BrowserSessionRecord>, StoreError> {
        self.one_browser_session("id", id)
    }

    /// Returns the session that a scrape has opened, of any team.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn browser_session_of_scrape(
        &self,
        scrape: &str,
    ) -> Result<Option<BrowserSessionRecord>, StoreError> {
        self.one_browser_session("scrape", scrape)
    }

    fn one_browser_session(
        &self,
        column: &str,
        value: &str,
    ) -> Result<Option<BrowserSessionRecord>, StoreError> {
        let own = self.membership().id();
        let sql = format!("SELECT {COLUMNS} FROM browser_sessions WHERE {column} = ?1");
        self.database()
            .read(|connection| connection.query_optional(&sql, params![value], |row| record(row, own)))
    }

    /// Returns up to `max` sessions of a team, the newest first: those with a status, or all. Destroyed ones are listed for
    /// a day.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn browser_sessions(
        &self,
        team: &str,
        status: Option<BrowserSessionStatus>,
        max: u64,
        now_ms: u64,
    ) -> Result<Vec<BrowserSessionRecord>, StoreError> {
        let own = self.membership().id();
        let condition = match status {
            None => "",
            Some(BrowserSessionStatus::Active) => "AND destroyed_at IS NULL AND replica IS NOT NULL",
            Some(BrowserSessionStatus::Destroyed) => "AND (destroyed_at IS NOT NULL OR replica IS NULL)",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM browser_sessions WHERE team = ?1 \
             AND coalesce(destroyed_at, CASE WHEN replica IS NULL THEN active_at END, ?2) > ?3 {condition} \
             ORDER BY number DESC LIMIT ?4"
        );
        let values = params![team, now_ms, listed_since(now_ms), max];
        self.database().read(|connection| connection.query(&sql, values, |row| record(row, own)))
    }

    /// Records that the client used a session at `now_ms`.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn touch_browser_session(&self, id: &str, now_ms: u64) -> Result<(), StoreError> {
        self.database().write_rows(Durability::Process, |transaction| {
            let sql = "UPDATE browser_sessions SET active_at = ?2 WHERE id = ?1 AND destroyed_at IS NULL";
            transaction.execute(sql, params![id, now_ms]).map(drop)
        })
    }

    /// Records the end of a session at `now_ms`. Returns false if it had ended before.
    ///
    /// # Errors
    /// Failures of the database; then it counts as destroyed once this process has ended.
    pub fn end_browser_session(&self, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        self.database().write_rows(Durability::Process, |transaction| {
            let sql = "UPDATE browser_sessions SET destroyed_at = ?2 WHERE id = ?1 AND destroyed_at IS NULL";
            transaction.last().execute(sql, params![id, now_ms]).map(|rows| rows == 1)
        })
    }

    /// Deletes a session that did not start, so that its scrape may open another one.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn delete_browser_session(&self, id: &str) -> Result<(), StoreError> {
        self.database().write_rows(Durability::Process, |transaction| {
            transaction.execute("DELETE FROM browser_sessions WHERE id = ?1", params![id]).map(drop)
        })
    }
}

/// Deletes the sessions that are no longer listed.
fn sweep(transaction: &Transaction<'_>, now_ms: u64) -> sql::Result<()> {
    let sql =
        "DELETE FROM browser_sessions WHERE destroyed_at <= ?1 OR (replica IS NULL AND active_at <= ?1)";
    transaction.execute(sql, params![listed_since(now_ms)]).map(drop)
}

fn listed_since(now_ms: u64) -> u64 {
    now_ms.saturating_sub(u64::try_from(LISTED_FOR.as_millis()).unwrap_or(u64::MAX))
}

fn record(row: &Row<'_>, own: Option<i64>) -> sql::Result<BrowserSessionRecord> {
    let replica: Option<i64> = row.get(4)?;
    let destroyed_at_ms: Option<u64> = row.get(8)?;
    let is_active = replica.is_some() && destroyed_at_ms.is_none();
    Ok(BrowserSessionRecord {
        id: row.get(0)?,
        team: row.get(1)?,
        scrape: row.get(2)?,
        stream_web_view: row.get(3)?,
        status: if is_active { BrowserSessionStatus::Active } else { BrowserSessionStatus::Destroyed },
        is_own: replica.is_some() && replica == own,
        created_at_ms: row.get(5)?,
        active_at_ms: row.get(6)?,
        expires_at_ms: row.get(7)?,
        destroyed_at_ms,
    })
}
