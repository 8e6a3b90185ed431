//! Counts of the requests and pages of teams that are in flight or wait, of the replicas that share a server.
//!
//! Each replica writes its counts about once a second. They need not survive a crash of the server. A database file has
//! none: its one process knows all counts.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

/// The requests and pages of a team in a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamActivity {
    /// Requests in flight, and pages of jobs that hold credits.
    pub requests: u64,
    /// Pages of jobs in flight.
    pub pages: u64,
    /// Queued requests.
    pub queued: u64,
}

impl TeamActivity {
    /// Returns the number of requests and pages in flight. Pages hold credits like requests, so they count already, except
    /// before their robots.txt is checked.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.requests.max(self.pages)
    }
}

impl Store {
    /// Writes the counts of this process for the other replicas. Does nothing if the database is a file, or this process has
    /// not joined the replicas.
    ///
    /// # Errors
    /// Failures of the database, without waiting if the last attempt to reach its server failed.
    pub fn publish_activity(&self, teams: &BTreeMap<String, TeamActivity>) -> Result<(), StoreError> {
        let Some(replica) = self.reachable_replica()? else { return Ok(()) };
        let database = self.database();
        let json = serde_json::to_string(teams).map_err(|error| database.corrupt(error.to_string()))?;
        // The statement writes one row of this process, without a flush to disk.
        database.read(|connection| {
            let sql = "INSERT INTO replica_activity (replica, teams) VALUES (?1, ?2) \
                       ON CONFLICT (replica) DO UPDATE SET teams = excluded.teams";
            connection.execute(sql, params![replica, json]).map(drop)
        })
    }

    /// Returns the sums of the counts of a team that the other replicas have written, as of about a second ago. They are 0 if
    /// the database is a file.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn activity_of_others(&self, team: &str) -> Result<TeamActivity, StoreError> {
        let database = self.database();
        if !database.is_server() {
            return Ok(TeamActivity::default());
        }
        let replica = self.membership().id().unwrap_or_default();
        let counts: Vec<Option<String>> = database.read(|connection| {
            let sql = "SELECT CAST(CAST(teams AS JSONB) -> CAST(?1 AS TEXT) AS TEXT) FROM replica_activity \
                       WHERE replica <> ?2";
            connection.query(sql, params![team, replica], |row| row.get(0))
        })?;
        let mut sum = TeamActivity::default();
        for counts in counts.iter().flatten() {
            sum += serde_json::from_str::<TeamActivity>(counts)
                .map_err(|error| database.corrupt(error.to_string()))?;
        }
        Ok(sum)
    }
}

impl AddAssign for TeamActivity {
    fn add_assign(&mut self, other: Self) {
        let Self { requests, pages, queued } = other;
        self.requests = self.requests.saturating_add(requests);
        self.pages = self.pages.saturating_add(pages);
        self.queued = self.queued.saturating_add(queued);
    }
}
