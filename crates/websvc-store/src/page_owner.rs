//! The owners of private pages.

use std::num::NonZeroU64;

use crate::sql::{self, Connection, Row, Transaction, params};

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
