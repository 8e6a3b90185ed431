//! Errors of statements.

use super::ValueError;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A failure of a statement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A failure of SQLite.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A failure of PostgreSQL.
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// The server cannot be reached.
    #[error("the server cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No connection of the pool became free in time.
    #[error("all connections are in use")]
    PoolTimeout,
    /// A query that always has a row returned none.
    #[error("the query returned no row")]
    NoRows,
    /// A column does not have the expected value.
    #[error("column {column}: {source}")]
    Value {
        /// The index of the column, from 0.
        column: usize,
        /// The reason.
        #[source]
        source: ValueError,
    },
    /// A parameter is outside of the range of the database.
    #[error("the parameter {0} is larger than the database can store")]
    ParameterRange(u64),
    /// The operating system returned no random bytes for a new row.
    #[error("the operating system returned no random bytes")]
    Random(#[source] getrandom::Error),
}
