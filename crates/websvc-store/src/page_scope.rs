//! Page scopes: the copies of pages that a request may read and store, by the index policy of its team.

use std::collections::BTreeSet;

use crate::error::StoreError;
pub use crate::page_owner::PageOwner;
use crate::sql::params;
use crate::sql::postgres::StatementClass;
use crate::store::Store;
use crate::team::{DEFAULT_TEAM, IndexPolicy, Team};

/// Maximum of rows that one transaction deletes.
const BATCH_ROWS: u32 = 64;

/// Selects the owners in the cache whose teams do not exist. It reads one entry of the index per owner, however many
/// pages the owner has.
const OWNERS_WITHOUT_TEAM: &str = "WITH RECURSIVE owners (owner) AS ( \
     SELECT min(owner) FROM pages WHERE owner <> 0 \
     UNION ALL \
     SELECT (SELECT min(owner) FROM pages WHERE owner <> 0 AND owner > owners.owner) FROM owners \
     WHERE owners.owner IS NOT NULL) \
     SELECT owner FROM owners WHERE owner IS NOT NULL \
     AND owner NOT IN (SELECT page_owner FROM teams WHERE page_owner IS NOT NULL)";

/// The copies of pages that a request reads and stores, in the index and in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PageScope {
    /// It reads and stores shared copies.
    #[default]
    Shared,
    /// It stores private copies of its team, and reads these and the shared ones.
    Team(PageOwner),
    /// It stores nothing, and reads shared copies.
    Off,
}

impl PageScope {
    /// Returns the owner whose private copies precede the shared ones.
    #[must_use]
    pub fn owner(self) -> Option<PageOwner> {
        match self {
            Self::Team(owner) => Some(owner),
            Self::Shared | Self::Off => None,
        }
    }
}

impl Team {
    /// Returns the page scope of its requests.
    #[must_use]
    pub fn page_scope(&self) -> PageScope {
        match (self.index, self.page_owner) {
            (IndexPolicy::Shared, _) => PageScope::Shared,
            (IndexPolicy::Team, Some(owner)) => PageScope::Team(owner),
            // The owner is assigned together with the policy. Without one, nothing may be stored.
            (IndexPolicy::Team, None) | (IndexPolicy::Off, _) => PageScope::Off,
        }
    }
}

impl Store {
    /// Returns the page scope of a team's requests, as of at most [`ACCESS_REFRESH`](crate::ACCESS_REFRESH) ago. Takes
    /// about a microsecond for a cached team, so it may be called on an async thread.
    ///
    /// A team that does not exist was deleted while it had requests in flight: nothing of them is stored. Only the team
    /// `default` need not exist.
    ///
    /// # Errors
    /// Failures of the database; then the caller must reject the request.
    pub fn page_scope(&self, team: &str) -> Result<PageScope, StoreError> {
        let found = self.access().team(team).map_err(|error| self.database().error(error))?;
        Ok(match found {
            Some(team) => team.page_scope(),
            None if team == DEFAULT_TEAM => PageScope::Shared,
            None => PageScope::Off,
        })
    }

    /// Returns the owners of all teams that exist.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn page_owners(&self) -> Result<BTreeSet<PageOwner>, StoreError> {
        let sql = "SELECT page_owner FROM teams WHERE page_owner IS NOT NULL";
        let numbers: Vec<u64> =
            self.database().read(|connection| connection.query(sql, params![], |row| row.get(0)))?;
        Ok(numbers.into_iter().filter_map(PageOwner::new).collect())
    }

    /// Deletes the private cached pages of deleted teams, and returns how many. No request can read them any more.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn purge_ownerless(&self) -> Result<u64, StoreError> {
        let _class = StatementClass::Background.enter();
        // A read first: this is called often, and a write transaction would block other writers in vain.
        let owners: Vec<u64> = self
            .database()
            .read(|connection| connection.query(OWNERS_WITHOUT_TEAM, params![], |row| row.get(0)))?;
        let mut deleted = 0;
        for owner in owners {
            let sql = "DELETE FROM pages WHERE id IN \
                       (SELECT id FROM pages WHERE owner <> 0 AND owner = ?1 LIMIT ?2)";
            deleted += self
                .database()
                .delete_in_batches(|transaction| transaction.execute(sql, params![owner, BATCH_ROWS]))?;
        }
        Ok(deleted)
    }
}
