//! Page scopes: the copies of pages that a request may read and store, by the index policy of its team.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Connection, Row, Transaction, params};
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

/// The owner of private pages: a number that is assigned to a team. It is never assigned again, not even to a later
/// team of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageOwner(NonZeroU64);

impl PageOwner {
    /// Creates an owner from its number; `None` for 0, the number of shared pages.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0.get()
    }
}

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
            loop {
                let sql = "DELETE FROM pages WHERE id IN \
                           (SELECT id FROM pages WHERE owner <> 0 AND owner = ?1 LIMIT ?2)";
                let rows = self.database().write_rows(Durability::Process, |transaction| {
                    transaction.execute(sql, params![owner, BATCH_ROWS])
                })?;
                if rows == 0 {
                    break;
                }
                deleted += rows;
            }
        }
        Ok(deleted)
    }
}

/// Reads an owner from a column; `NULL` is `None`.
pub(crate) fn owner_from_row(row: &Row<'_>, column: usize) -> sql::Result<Option<PageOwner>> {
    Ok(row.get::<Option<u64>>(column)?.and_then(PageOwner::new))
}

/// Assigns the next owner number.
pub(crate) fn next_owner(transaction: &Transaction<'_>) -> sql::Result<Option<PageOwner>> {
    let sql = "UPDATE page_owners SET last = last + 1 RETURNING last";
    transaction.query_row(sql, params![], |row| row.get(0)).map(PageOwner::new)
}

/// Returns whether the team of an owner exists.
pub(crate) fn owner_exists(connection: &Connection, owner: PageOwner) -> sql::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM teams WHERE page_owner = ?1)",
        params![owner.number()],
        |row| row.get(0),
    )
}
