//! Copies the rows of a table.

use super::error::MigrateError;
use super::source::Source;
use super::table::{KeyRange, MAX_BATCH_ROWS, Table};
use super::value::Value;
use crate::database::{Database, Durability};
use crate::error::StoreError;
use crate::sql::ToSql;

/// Number of rows that one statement inserts, below the limit of parameters of a statement.
const ROWS_PER_STATEMENT: usize = 64;

/// Copies the rows after the last one on the server. Calls `progress` with the number of rows on the server, at the
/// start and after each transaction.
pub(super) fn copy_table(
    source: &Source<'_>,
    target: &Database,
    table: &Table,
    progress: &mut dyn FnMut(u64),
) -> Result<(), MigrateError> {
    let mut last = target.read(|connection| table.last_key(connection))?;
    let mut copied = match &last {
        None => 0,
        Some(key) => source.read(|connection| table.count(connection, Some(key)))?,
    };
    progress(copied);
    loop {
        let range = KeyRange { after: last.as_deref(), up_to: None };
        let rows = source.read(|connection| table.rows(connection, range, MAX_BATCH_ROWS))?;
        let Some(row) = rows.last() else { return Ok(()) };
        if rows.iter().flat_map(|row| table.key_of(row)).any(|value| value.has_nul()) {
            return Err(MigrateError::NulInKey { table: table.name });
        }
        last = Some(table.key_of(row));
        insert(target, table, &rows)?;
        copied += rows.len() as u64;
        progress(copied);
    }
}

fn insert(target: &Database, table: &Table, rows: &[Vec<Value>]) -> Result<(), StoreError> {
    // A power failure of the server may undo the last transactions, which are then copied again.
    target.write(Durability::Process, |transaction| {
        for chunk in rows.chunks(ROWS_PER_STATEMENT) {
            let params: Vec<&dyn ToSql> = chunk.iter().flatten().map(|value| value as &dyn ToSql).collect();
            transaction.execute(&table.insert(chunk.len()), &params)?;
        }
        Ok(())
    })
}
