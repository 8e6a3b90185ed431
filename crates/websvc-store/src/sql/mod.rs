//! SQL statements, parameters and rows, independent of the database engine.
//!
//! The rest of the crate uses these types only. Statements are written in the SQL that SQLite and PostgreSQL share:
//! numbered parameters (`?1`), `coalesce`, `CASE`, `ON CONFLICT`, `RETURNING`, and integers for Boolean columns.

mod error;
mod sqlite;
mod value;

use std::ops::{ControlFlow, Deref};

pub(crate) use error::{Error, Result};
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
pub(crate) struct Connection(rusqlite::Connection);

impl Connection {
    pub(crate) fn new(connection: rusqlite::Connection) -> Self {
        Self(connection)
    }

    /// Executes a statement and returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64> {
        sqlite::execute(&self.0, sql, params)
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
        sqlite::for_each(&self.0, sql, params, &mut next)
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

    /// Runs `work` in a write transaction and commits it. An error rolls the transaction back.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        sqlite::begin(&self.0)?;
        let transaction = Transaction(self);
        let value = work(&transaction)?;
        sqlite::commit(&self.0)?;
        Ok(value)
    }

    /// Returns the connection of SQLite, for what only SQLite has: pragmas and copies of the file.
    pub(crate) fn sqlite(&self) -> &rusqlite::Connection {
        &self.0
    }
}

/// A write transaction. Dropped before the commit, it is rolled back.
#[derive(Debug)]
pub(crate) struct Transaction<'a>(&'a Connection);

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        sqlite::roll_back(&self.0.0);
    }
}

/// A row of a query.
#[derive(Debug)]
pub(crate) struct Row<'a>(&'a rusqlite::Row<'a>);

impl Row<'_> {
    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// [`Error::Value`] if the column has another type or range.
    pub(crate) fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        let value = sqlite::value(self.0, column)?;
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
        let parsed = match sqlite::value(self.0, column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => {
                parse(text).map(Some).map_err(|error| ValueError::Invalid(Box::new(error)))
            }
            other => Err(ValueError::Type { expected: "text", found: other.type_name() }),
        };
        parsed.map_err(|source| Error::Value { column, source })
    }
}
