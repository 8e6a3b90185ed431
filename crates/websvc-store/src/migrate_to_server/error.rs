//! Errors of migrations.

use std::path::PathBuf;

use crate::error::StoreError;

/// A failure of a migration to a server.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A failure of either database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no database file.
    #[error("there is no database {}: give the data directory of the service with --from", path.display())]
    NoSource {
        /// The missing file.
        path: PathBuf,
    },
    /// A process spends credits of the file.
    #[error(
        "the database {} is in use: {processes} running process(es) have leased credits of it; wait until \
         they end, or stop them",
        path.display()
    )]
    SourceInUse {
        /// The database file.
        path: PathBuf,
        /// Number of processes.
        processes: u64,
    },
    /// The URL of the server is that of a pooler, which gives each transaction another session. The lock of a migration
    /// belongs to a session.
    #[error(
        "the URL {url} has pgbouncer=true: give --to the URL of the PostgreSQL server itself, because a migration \
         holds a lock of its session"
    )]
    Pooler {
        /// URL of the pooler, without credentials.
        url: String,
    },
    /// A text of a primary key contains NUL, which PostgreSQL cannot store.
    #[error(
        "a primary key in the table {table} contains a NUL character, which PostgreSQL cannot store: delete \
         that row"
    )]
    NulInKey {
        /// The table.
        table: &'static str,
    },
    /// The target contains rows that are not of an unfinished migration.
    #[error(
        "the database {url} is not empty: it contains {found}; use an empty database or schema. If an earlier \
         migration has succeeded, there is nothing left to do"
    )]
    TargetNotEmpty {
        /// URL of the server, without credentials.
        url: String,
        /// The tables with rows, and how many they have.
        found: String,
    },
    /// The target contains rows of an unfinished migration from another database.
    #[error(
        "the database {url} contains an unfinished migration from another database, that of {from}: finish \
         that one, or delete what it has copied and begin again with --restart"
    )]
    OtherSource {
        /// URL of the server, without credentials.
        url: String,
        /// The data directory of the other database.
        from: String,
    },
    /// The rows of a table differ between the databases.
    #[error(transparent)]
    Difference(Box<TableDifference>),
}

/// The first difference between the rows of a table in both databases. The numbers and hashes are those of all rows up
/// to the end of `place`.
#[derive(Debug, thiserror::Error)]
#[error(
    "the table {table} differs {place}: {source_path} has {source_rows} row(s) with the SHA-256 {source_hash}, \
     {url} has {target_rows} with {target_hash}; the source has changed since the migration began, or another \
     program has written to the target. Begin again with --restart",
    source_path = path.display()
)]
pub struct TableDifference {
    /// The table.
    pub table: &'static str,
    /// The range of primary keys that contains the difference.
    pub place: String,
    /// The database file.
    pub path: PathBuf,
    /// URL of the server, without credentials.
    pub url: String,
    /// Number of rows in the file.
    pub source_rows: u64,
    /// Hash of the rows in the file.
    pub source_hash: String,
    /// Number of rows on the server.
    pub target_rows: u64,
    /// Hash of the rows on the server.
    pub target_hash: String,
}
