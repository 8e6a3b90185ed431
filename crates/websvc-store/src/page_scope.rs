//! Page scopes: whose copies of pages a request reads and stores, by the setting of its team.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use rusqlite::{Connection, Row, Transaction, params};

use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;
use crate::team::{DEFAULT_TEAM, IndexPolicy, Team};

/// The most rows that one transaction removes.
const BATCH_ROWS: u32 = 64;

/// The owners in the cache whose team does not exist: one step in the index of owners for each owner, however many pages it has.
const OWNERS_WITHOUT_TEAM: &str = "WITH RECURSIVE owners (owner) AS ( \
     SELECT min(owner) FROM pages WHERE owner <> 0 \
     UNION ALL \
     SELECT (SELECT min(owner) FROM pages WHERE owner <> 0 AND owner > owners.owner) FROM owners \
     WHERE owners.owner IS NOT NULL) \
     SELECT owner FROM owners WHERE owner IS NOT NULL \
     AND owner NOT IN (SELECT page_owner FROM teams WHERE page_owner IS NOT NULL)";

/// The number under which the pages of a team are kept apart. It is never given to another team, not even to a later one
/// of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageOwner(NonZeroU64);

impl PageOwner {
    /// Makes an owner of its number; 0 is none.
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
    /// It reads and stores those of all teams.
    #[default]
    Shared,
    /// It stores copies that its team alone reads, and reads those of all teams beside them.
    Team(PageOwner),
    /// It stores nothing, and reads those of all teams.
    Off,
}

impl PageScope {
    /// Returns whose copies come before those of all teams.
    #[must_use]
    pub fn owner(self) -> Option<PageOwner> {
        match self {
            Self::Team(owner) => Some(owner),
            Self::Shared | Self::Off => None,
        }
    }
}

impl Team {
    /// Returns what its requests read and store.
    #[must_use]
    pub fn page_scope(&self) -> PageScope {
        match (self.index, self.page_owner) {
            (IndexPolicy::Shared, _) => PageScope::Shared,
            (IndexPolicy::Team, Some(owner)) => PageScope::Team(owner),
            // The number is given with the policy; without one nothing may be stored.
            (IndexPolicy::Team, None) | (IndexPolicy::Off, _) => PageScope::Off,
        }
    }
}

impl Store {
    /// Returns what the requests of a team read and store, as of at most [`ACCESS_REFRESH`](crate::ACCESS_REFRESH) ago. Takes
    /// about a microsecond for a team that was seen before, so it may be called on an async thread.
    ///
    /// A team that does not exist is one that was deleted while it had work to do: nothing of it is stored. Only team
    /// `default` need not exist.
    ///
    /// # Errors
    /// Failures of the database; the caller must then refuse the request.
    pub fn page_scope(&self, team: &str) -> Result<PageScope, StoreError> {
        let found = self.access().team(team).map_err(|error| self.database().error(error))?;
        Ok(match found {
            Some(team) => team.page_scope(),
            None if team == DEFAULT_TEAM => PageScope::Shared,
            None => PageScope::Off,
        })
    }

    /// Returns the owners whose teams exist.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn page_owners(&self) -> Result<BTreeSet<PageOwner>, StoreError> {
        let sql = "SELECT page_owner FROM teams WHERE page_owner IS NOT NULL";
        let numbers: Vec<u64> = self
            .database()
            .read(|connection| connection.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect())?;
        Ok(numbers.into_iter().filter_map(PageOwner::new).collect())
    }

    /// Removes the cached pages whose team was deleted, and returns how many there were. Nobody could read them any more.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn purge_ownerless(&self) -> Result<u64, StoreError> {
        // A look first: it is asked often, and a write would hold up others for nothing.
        let owners: Vec<u64> = self.database().read(|connection| {
            connection.prepare_cached(OWNERS_WITHOUT_TEAM)?.query_map([], |row| row.get(0))?.collect()
        })?;
        let mut removed = 0;
        for owner in owners {
            loop {
                let sql = "DELETE FROM pages WHERE id IN \
                           (SELECT id FROM pages WHERE owner <> 0 AND owner = ?1 LIMIT ?2)";
                let rows = self.database().write(Durability::Process, |transaction| {
                    transaction.prepare_cached(sql)?.execute(params![owner, BATCH_ROWS])
                })?;
                if rows == 0 {
                    break;
                }
                removed += rows as u64;
            }
        }
        Ok(removed)
    }
}

/// Reads an owner from a column; `NULL` is none.
pub(crate) fn owner_from_row(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<PageOwner>> {
    Ok(row.get::<_, Option<u64>>(column)?.and_then(PageOwner::new))
}

/// Gives the next number.
pub(crate) fn next_owner(transaction: &Transaction<'_>) -> rusqlite::Result<Option<PageOwner>> {
    let sql = "UPDATE page_owners SET last = last + 1 RETURNING last";
    transaction.query_row(sql, [], |row| row.get(0)).map(PageOwner::new)
}

/// Tells whether the team of an owner exists.
pub(crate) fn owner_exists(connection: &Connection, owner: PageOwner) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM teams WHERE page_owner = ?1)")?
        .query_row([owner.number()], |row| row.get(0))
}
