//! Compares the rows of a table in both databases.

use super::TableReport;
use super::digest::TableDigest;
use super::error::{MigrateError, TableDifference};
use super::source::Source;
use super::table::{KeyRange, MAX_BATCH_ROWS, Table};
use super::target::url;
use super::value::Value;
use crate::database::Database;

/// Numbers and hashes of the rows of both databases so far.
#[derive(Default)]
struct Digests {
    source: TableDigest,
    target: TableDigest,
}

/// Compares all rows of a table, in ranges of the primary key, so that an error can say where they differ. Calls
/// `progress` with the number of rows that were compared.
///
/// # Errors
/// [`MigrateError::Difference`].
pub(super) fn verify_table(
    source: &Source<'_>,
    target: &Database,
    table: &Table,
    progress: &mut dyn FnMut(u64),
) -> Result<TableReport, MigrateError> {
    let mut digests = Digests::default();
    let mut last: Option<Vec<Value>> = None;
    loop {
        let range = KeyRange { after: last.as_deref(), up_to: None };
        let rows = source.read(|connection| table.rows(connection, range, MAX_BATCH_ROWS))?;
        rows.iter().for_each(|row| digests.source.add(row));
        let next = rows.last().map(|row| table.key_of(row));
        let range = KeyRange { up_to: next.as_deref(), ..range };
        // One more than expected, to notice additional rows, also after the last row of the source.
        let max_rows = rows.len() + 1;
        drop(rows);
        let rows = target.read(|connection| table.rows(connection, range, max_rows))?;
        rows.iter().for_each(|row| digests.target.add(row));
        let Digests { source: expected, target: found } = &digests;
        if (expected.rows(), expected.sha256()) != (found.rows(), found.sha256()) {
            return Err(difference(source, target, table, &digests, range));
        }
        progress(expected.rows());
        if next.is_none() {
            return Ok(report(table, expected));
        }
        last = next;
    }
}

fn report(table: &Table, digest: &TableDigest) -> TableReport {
    TableReport {
        table: table.name,
        rows: digest.rows(),
        sha256: digest.sha256(),
        texts_with_nul: digest.texts_with_nul(),
    }
}

fn difference(
    source: &Source<'_>,
    target: &Database,
    table: &Table,
    digests: &Digests,
    range: KeyRange<'_>,
) -> MigrateError {
    MigrateError::Difference(Box::new(TableDifference {
        table: table.name,
        place: place(range),
        path: source.path().to_owned(),
        url: url(target.location()),
        source_rows: digests.source.rows(),
        source_hash: digests.source.sha256(),
        target_rows: digests.target.rows(),
        target_hash: digests.target.sha256(),
    }))
}

/// Describes the rows up to the end of a range, which contains the first difference.
fn place(range: KeyRange<'_>) -> String {
    match (range.after, range.up_to) {
        (_, None) => "at the end of the table".to_owned(),
        (None, Some(last)) => format!("up to the key {}", describe(last)),
        (Some(first), Some(last)) => {
            format!("between the keys {} and {}", describe(first), describe(last))
        }
    }
}

fn describe(key: &[Value]) -> String {
    let values: Vec<String> = key
        .iter()
        .map(|value| match value {
            Value::Null => "NULL".to_owned(),
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => text.clone(),
            Value::Blob(bytes) => format!("{} bytes", bytes.len()),
        })
        .collect();
    format!("({})", values.join(", "))
}
