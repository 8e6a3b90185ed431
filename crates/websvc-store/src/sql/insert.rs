//! Insertion of many rows.

use super::{Result, ToSql, Transaction};

/// Rows that one statement inserts, the largest number first. Each number is a statement of its own.
const ROWS_PER_STATEMENT: [usize; 4] = [128, 32, 8, 1];

/// The values of a row.
pub(crate) type SqlValues<'a> = Vec<Box<dyn ToSql + 'a>>;

/// Makes the values of a row, which own what they contain.
macro_rules! sql_values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as Box<dyn $crate::sql::ToSql + '_>),*]
    };
}
pub(crate) use sql_values;

/// Inserts rows into a table, which is given with its columns: `table (a, b)`. On a server this costs no round trip.
pub(crate) fn insert_rows(
    transaction: &Transaction<'_>,
    table: &str,
    mut rows: &[SqlValues<'_>],
) -> Result<()> {
    let columns = rows.first().map_or(0, Vec::len);
    for size in ROWS_PER_STATEMENT {
        while let Some((chunk, rest)) = rows.split_at_checked(size) {
            let values: Vec<&dyn ToSql> = chunk.iter().flatten().map(|value| &**value).collect();
            transaction.enqueue(&insert_sql(table, columns, size), &values)?;
            rows = rest;
        }
    }
    Ok(())
}

fn insert_sql(table: &str, columns: usize, rows: usize) -> String {
    let row = |row: usize| {
        let values: Vec<String> =
            (1..=columns).map(|column| format!("?{}", row * columns + column)).collect();
        format!("({})", values.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("INSERT INTO {table} VALUES {}", rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::insert_sql;

    #[test]
    fn each_value_of_each_row_has_a_placeholder() {
        assert_eq!(insert_sql("t (a, b)", 2, 1), "INSERT INTO t (a, b) VALUES (?1, ?2)");
        assert_eq!(insert_sql("t (a, b)", 2, 2), "INSERT INTO t (a, b) VALUES (?1, ?2), (?3, ?4)");
    }
}
