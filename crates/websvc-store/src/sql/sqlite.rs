//! The engine SQLite.

use std::ops::ControlFlow;

use rusqlite::types::{ToSqlOutput, ValueRef as SqliteRef};
use rusqlite::{Connection, params_from_iter};

use super::{Durability, Error, Params, Result, Row, ValueRef};

/// A parameter in the form of rusqlite.
struct Parameter<'a>(ValueRef<'a>);

impl rusqlite::ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            ValueRef::Null => SqliteRef::Null,
            ValueRef::Integer(number) => SqliteRef::Integer(number),
            ValueRef::Real(number) => SqliteRef::Real(number),
            ValueRef::Text(text) => SqliteRef::Text(text.as_bytes()),
            ValueRef::Blob(bytes) => SqliteRef::Blob(bytes),
        }))
    }
}

fn bind<'a>(params: Params<'a>) -> Result<Vec<Parameter<'a>>> {
    params.iter().map(|value| value.to_sql().map(Parameter)).collect()
}

pub(super) fn execute(connection: &Connection, sql: &str, params: Params<'_>) -> Result<u64> {
    let rows = connection.prepare_cached(sql)?.execute(params_from_iter(bind(params)?))?;
    Ok(rows as u64)
}

/// Calls `next` with each row until it breaks.
pub(super) fn for_each(
    connection: &Connection,
    sql: &str,
    params: Params<'_>,
    next: &mut dyn FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(bind(params)?))?;
    while let Some(row) = rows.next()? {
        if next(&Row::Sqlite(row))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Begins a transaction. The durability is set each time, because the previous transaction may have had the other one.
pub(super) fn begin(connection: &Connection, durability: Durability, begin: &str) -> Result<()> {
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.prepare_cached(begin)?.execute([])?;
    Ok(())
}

pub(super) fn commit(connection: &Connection) -> Result<()> {
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}

/// Rolls the transaction back, unless it has ended: some errors end it.
pub(super) fn roll_back(connection: &Connection) {
    if !connection.is_autocommit() {
        // After a failure the connection stays in the transaction, and its next one fails with the reason.
        let _ = connection.execute_batch("ROLLBACK");
    }
}

pub(super) fn value<'a>(row: &'a rusqlite::Row<'_>, column: usize) -> Result<ValueRef<'a>> {
    Ok(match row.get_ref(column)? {
        SqliteRef::Null => ValueRef::Null,
        SqliteRef::Integer(number) => ValueRef::Integer(number),
        SqliteRef::Real(number) => ValueRef::Real(number),
        SqliteRef::Text(text) => ValueRef::Text(std::str::from_utf8(text).map_err(|error| {
            let source = super::ValueError::Invalid(Box::new(error));
            Error::Value { column, source }
        })?),
        SqliteRef::Blob(bytes) => ValueRef::Blob(bytes),
    })
}
