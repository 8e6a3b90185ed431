//! SQL statements, parameters and rows, independent of the database engine.
//!
//! The rest of the crate uses these types only. Statements are written in the SQL that SQLite and PostgreSQL share:
//! numbered parameters (`?1`), `coalesce`, `CASE`, `ON CONFLICT`, `RETURNING`, and integers for Boolean columns.

mod durability;
mod error;
mod insert;
mod name;
pub(crate) mod postgres;
mod sqlite;
mod value;

use std::ops::{ControlFlow, Deref};

use crate::clock::Clock;

pub use durability::Durability;
pub(crate) use error::{Error, Result};
pub(crate) use insert::{SqlValues, insert_rows, sql_values};
pub(crate) use name::names;
pub(crate) use value::{FromSql, ToSql, ValueError, ValueRef};

/// The parameters of a statement, as made by [`params!`].
pub(crate) type Params<'a> = &'a [&'a dyn ToSql];

/// Makes the parameters of a statement: the first value is `?1`.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$(&$value as &dyn $crate::sql::ToSql),*]
    };
}
pub(crate) use params;

/// A connection to the database. Statements are prepared once per connection.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(postgres::Session),
}

impl Connection {
    /// Executes a statement and returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64> {
        match self {
            Self::Sqlite(connection) => sqlite::execute(connection, sql, params),
            Self::Postgres(session) => session.execute(sql, params),
        }
    }

    /// Returns all rows of a query.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut values = Vec::new();
        self.for_each(sql, params, |row| {
            values.push(read(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(values)
    }

    /// Calls `next` with the rows of a query until it breaks. `next` must not use this connection.
    pub(crate) fn for_each(
        &self,
        sql: &str,
        params: Params<'_>,
        mut next: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        match self {
            Self::Sqlite(connection) => sqlite::for_each(connection, sql, params, &mut next),
            Self::Postgres(session) => session.for_each(sql, params, &mut next),
        }
    }

    /// Returns whether a query has a row.
    pub(crate) fn exists(&self, sql: &str, params: Params<'_>) -> Result<bool> {
        Ok(self.query_optional(sql, params, |_| Ok(()))?.is_some())
    }

    /// Returns the first row of a query; `None` if there is none.
    pub(crate) fn query_optional<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let (mut read, mut value) = (Some(read), None);
        self.for_each(sql, params, |row| {
            value = read.take().map(|read| read(row)).transpose()?;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(value)
    }

    /// Returns the first row of a query that always has one.
    ///
    /// # Errors
    /// [`Error::NoRows`] if there is none.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.query_optional(sql, params, read)?.ok_or(Error::NoRows)
    }

    /// Calls `read` with the first row of a query for each of the parameters; `None` if it has none. A server receives all
    /// of them at once.
    pub(crate) fn query_each<T>(
        &self,
        sql: &str,
        params: &[Params<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        if let Self::Postgres(session) = self {
            return session.query_each(sql, params, &mut read);
        }
        params.iter().map(|params| self.query_optional(sql, params, &mut read)).collect()
    }

    /// Returns what a query ends with so that its rows are locked until the end of the transaction, without those that
    /// others have locked. A file has one transaction at a time.
    pub(crate) const fn skip_locked(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// Returns what a query ends with so that its rows are locked until the end of the transaction.
    pub(crate) const fn for_update(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " FOR UPDATE",
        }
    }

    /// Returns whether the connection can be used again.
    pub(crate) fn is_usable(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            Self::Postgres(session) => session.is_usable(),
        }
    }

    /// Begins a transaction with the statement `begin`. It ends with [`transaction`](Self::transaction).
    pub(crate) fn begin(&self, durability: Durability, begin: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => sqlite::begin(connection, durability, begin),
            Self::Postgres(session) => session.begin(begin),
        }
    }

    /// Returns the transaction that was begun.
    pub(crate) fn transaction<'a>(&'a self, clock: &'a Clock) -> Transaction<'a> {
        Transaction { connection: self, clock }
    }
}

/// A write transaction. Dropped before the commit, it is rolled back.
#[derive(Debug)]
pub(crate) struct Transaction<'a> {
    connection: &'a Connection,
    clock: &'a Clock,
}

impl Transaction<'_> {
    /// Executes a statement whose result is not needed. On a server it costs no round trip, because it is sent with the
    /// next statement. A failure is that of the next statement.
    pub(crate) fn enqueue(&self, sql: &str, params: Params<'_>) -> Result<()> {
        match self.connection {
            Connection::Sqlite(connection) => sqlite::execute(connection, sql, params).map(drop),
            Connection::Postgres(session) => session.enqueue(sql, params),
        }
    }

    /// Executes a statement on a row that many transactions change, and whose result is not needed. On a server it is sent
    /// with the commit, so that its lock is held for a moment only. Such statements have the same order of rows in all
    /// transactions.
    pub(crate) fn execute_at_commit(&self, sql: &str, params: Params<'_>) -> Result<()> {
        match self.connection {
            Connection::Sqlite(connection) => sqlite::execute(connection, sql, params).map(drop),
            Connection::Postgres(session) => session.execute_at_commit(sql, params),
        }
    }

    /// Makes the next statement the last one of the transaction, so that a server receives it together with the commit. Its
    /// result must not decide whether the transaction is committed.
    pub(crate) fn last(&self) -> &Self {
        if let Connection::Postgres(session) = self.connection {
            session.commit_with_next();
        }
        self
    }

    /// Returns the time of the clock of the store in milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(crate) fn commit(self) -> Result<()> {
        match self.connection {
            Connection::Sqlite(connection) => sqlite::commit(connection),
            Connection::Postgres(session) => session.commit(),
        }
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        match self.connection {
            Connection::Sqlite(connection) => sqlite::roll_back(connection),
            Connection::Postgres(session) => session.roll_back(),
        }
    }
}

/// A row of a query.
#[derive(Debug)]
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    fn value(&self, column: usize) -> Result<ValueRef<'_>> {
        match self {
            Self::Sqlite(row) => sqlite::value(row, column),
            Self::Postgres(row) => postgres::value(row, column),
        }
    }

    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// [`Error::Value`] if the column has another type or range.
    pub(crate) fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        let value = self.value(column)?;
        T::from_sql(value).map_err(|source| Error::Value { column, source })
    }

    /// Returns the value of a column that `parse` makes from its text.
    ///
    /// # Errors
    /// [`Error::Value`] if the column is not text, or `parse` fails.
    pub(crate) fn parse<T, E>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> std::result::Result<T, E>,
    ) -> Result<T>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let null = || ValueError::Type { expected: "text", found: ValueRef::Null.type_name() };
        self.parse_optional(column, parse)?.ok_or_else(|| Error::Value { column, source: null() })
    }

    /// Returns the value of a column that `parse` makes from its text; `None` for null.
    ///
    /// # Errors
    /// [`Error::Value`] if the column is neither null nor text, or `parse` fails.
    pub(crate) fn parse_optional<T, E>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> std::result::Result<T, E>,
    ) -> Result<Option<T>>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let parsed = match self.value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => {
                parse(text).map(Some).map_err(|error| ValueError::Invalid(Box::new(error)))
            }
            other => Err(ValueError::Type { expected: "text", found: other.type_name() }),
        };
        parsed.map_err(|source| Error::Value { column, source })
    }
}
