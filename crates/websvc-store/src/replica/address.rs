//! The addresses of replicas, for requests that only another replica can answer.

use super::membership::ReplicaAddress;
use crate::error::StoreError;
use crate::sql;
use crate::sql::{Row, params};
use crate::store::Store;

/// The maximum number of replicas that are returned.
const MAX_REPLICAS: u64 = 64;

/// An active browser session of another replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSession {
    /// Team that owns it.
    pub team: String,
    /// The replica with its browser; `None` if that announces no address.
    pub replica: Option<ReplicaAddress>,
}

impl Store {
    /// Announces the address of this process, from the next time it [joins](Self::join_replicas) the replicas.
    pub fn announce_replica(&self, address: ReplicaAddress) {
        self.membership().announce(address);
    }

    /// Returns an active browser session of another replica, of any team; `None` if there is none with this ID.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn foreign_browser_session(&self, id: &str) -> Result<Option<ForeignSession>, StoreError> {
        self.foreign_session("id", id)
    }

    /// Does the same for the session that a scrape has opened.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn foreign_browser_session_of_scrape(
        &self,
        scrape: &str,
    ) -> Result<Option<ForeignSession>, StoreError> {
        self.foreign_session("scrape", scrape)
    }

    fn foreign_session(&self, column: &str, value: &str) -> Result<Option<ForeignSession>, StoreError> {
        let own = self.membership().own();
        let sql = format!(
            "SELECT replicas.url, replicas.secret, browser_sessions.team FROM browser_sessions \
             JOIN replicas ON replicas.id = browser_sessions.replica \
             WHERE browser_sessions.{column} = ?1 AND browser_sessions.destroyed_at IS NULL AND replicas.id <> ?2"
        );
        self.database().read(|connection| {
            connection.query_optional(&sql, params![value, own], |row| {
                Ok(ForeignSession { team: row.get(2)?, replica: address(row)? })
            })
        })
    }

    /// Returns the number of this replica; 0 without other replicas.
    #[must_use]
    pub fn replica_number(&self) -> i64 {
        self.membership().own()
    }

    /// Returns the address of the replica with this number. `Some(None)` is one that announces no address.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn replica_address(&self, number: i64) -> Result<Option<Option<ReplicaAddress>>, StoreError> {
        let sql = "SELECT url, secret FROM replicas WHERE id = ?1";
        self.database().read(|connection| connection.query_optional(sql, params![number], address))
    }

    /// Returns the addresses of the other replicas that have active browser sessions of a team.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn replicas_with_sessions(&self, team: &str) -> Result<Vec<ReplicaAddress>, StoreError> {
        let own = self.membership().own();
        let sql = "SELECT url, secret FROM replicas WHERE id <> ?1 AND url IS NOT NULL AND id IN \
                   (SELECT replica FROM browser_sessions WHERE team = ?2 AND destroyed_at IS NULL) \
                   ORDER BY id LIMIT ?3";
        let rows = self
            .database()
            .read(|connection| connection.query(sql, params![own, team, MAX_REPLICAS], address))?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Returns the other replicas that work on all jobs, which are those that serve requests. `None` is one that
    /// announces no address.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn other_replicas(&self) -> Result<Vec<Option<ReplicaAddress>>, StoreError> {
        let own = self.membership().own();
        let sql =
            "SELECT url, secret FROM replicas WHERE id <> ?1 AND is_worker = 1 ORDER BY id DESC LIMIT ?2";
        self.database().read(|connection| connection.query(sql, params![own, MAX_REPLICAS], address))
    }
}

/// Returns the address in the first two columns of a row.
fn address(row: &Row<'_>) -> sql::Result<Option<ReplicaAddress>> {
    let (url, secret): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
    Ok(url.zip(secret).map(|(url, secret)| ReplicaAddress { url, secret }))
}
