//! The tables, and the statements that read and write their rows.

use std::ops::ControlFlow;

use super::value::{Value, read_values};
use crate::sql::{self, Connection, ToSql, params};

/// The tables whose rows are copied, in an order in which no row refers to a later table.
pub(super) const COPIED: &[&str] = &[
    "teams",
    "page_owners",
    "keys",
    "oauth_clients",
    "oauth_grants",
    "sign_in_keys",
    "threat_values",
    "access_version",
    "secrets",
    "webhook_secrets",
    "grants",
    "usage_daily",
    "usage_log",
    "artifacts",
    "profiles",
    "page_snapshots",
    "jobs",
    "job_urls",
    "job_documents",
    "job_storage",
    "monitors",
    "monitor_checks",
    "monitor_pages",
    "monitor_baselines",
    "monitor_storage",
    "monitor_recipients",
    "monitor_messages",
    "monitor_confirmations",
    "agent_runs",
    "agent_events",
    "agent_snapshots",
    "agent_messages",
    "webhooks",
    "webhook_events",
    "browser_sessions",
    "feedback",
    "index_outbox",
    "pages",
    "page_totals",
];

/// The copied tables in which the schema creates a row.
pub(super) const SEEDED: &[&str] =
    &["page_owners", "access_version", "job_storage", "monitor_storage", "page_totals"];

/// The tables that describe running processes only. They are not copied.
pub(super) const NOT_COPIED: &[&str] = &["replicas", "spenders", "leases"];

/// Maximum of rows and bytes that are read at a time. A single row may have more bytes.
pub(super) const MAX_BATCH_ROWS: usize = 1_000;
const MAX_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// A table with its columns.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: Vec<Column>,
    /// The columns of the primary key.
    key: Vec<usize>,
}

#[derive(Debug)]
struct Column {
    name: String,
    is_text: bool,
}

/// Rows after one primary key, up to and including another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeyRange<'a> {
    pub(super) after: Option<&'a [Value]>,
    pub(super) up_to: Option<&'a [Value]>,
}

impl Table {
    /// Reads the columns of a table from a SQLite file, so that new columns are copied without a change here.
    pub(super) fn read(connection: &Connection, name: &'static str) -> sql::Result<Self> {
        let sql = "SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY cid";
        let rows = connection.query(sql, params![name], |row| {
            let column = Column { name: row.get(0)?, is_text: row.get::<String>(1)? == "TEXT" };
            Ok((column, row.get::<usize>(2)?))
        })?;
        let mut key: Vec<(usize, usize)> =
            rows.iter().enumerate().filter(|(_, (_, pk))| *pk > 0).map(|(at, (_, pk))| (*pk, at)).collect();
        key.sort_unstable();
        let columns = rows.into_iter().map(|(column, _)| column).collect();
        Ok(Self { name, columns, key: key.into_iter().map(|(_, at)| at).collect() })
    }

    /// Returns the primary key of a row.
    pub(super) fn key_of(&self, row: &[Value]) -> Vec<Value> {
        self.key.iter().map(|&column| row[column].clone()).collect()
    }

    /// Returns the number of rows, or of those up to and including a primary key.
    pub(super) fn count(&self, connection: &Connection, up_to: Option<&[Value]>) -> sql::Result<u64> {
        let (condition, params) = self.condition(connection, KeyRange { after: None, up_to });
        let sql = format!("SELECT count(*) FROM \"{}\"{condition}", self.name);
        connection.query_row(&sql, &params, |row| row.get(0))
    }

    /// Returns the highest primary key.
    pub(super) fn last_key(&self, connection: &Connection) -> sql::Result<Option<Vec<Value>>> {
        let terms = self.key_terms(connection);
        let order: Vec<String> = terms.iter().map(|term| format!("{term} DESC")).collect();
        let key: Vec<String> = self.key.iter().map(|&column| self.quoted(column)).collect();
        let (key, order, name) = (key.join(", "), order.join(", "), self.name);
        let sql = format!("SELECT {key} FROM \"{name}\" ORDER BY {order} LIMIT 1");
        connection.query_optional(&sql, params![], |row| read_values(row, self.key.len()))
    }

    /// Returns the next rows of a range in the order of their primary keys: at most `max_rows`, and from a file so many
    /// that they exceed the maximum of bytes by less than a row. A server sends all rows that a statement selects.
    pub(super) fn rows(
        &self,
        connection: &Connection,
        range: KeyRange<'_>,
        max_rows: usize,
    ) -> sql::Result<Vec<Vec<Value>>> {
        let (condition, mut params) = self.condition(connection, range);
        params.push(&max_rows);
        let sql = format!(
            "SELECT {} FROM \"{}\"{condition} ORDER BY {} LIMIT ?{}",
            self.column_list(),
            self.name,
            self.key_terms(connection).join(", "),
            params.len()
        );
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let is_file = matches!(connection, Connection::Sqlite(_));
        connection.for_each(&sql, &params, |row| {
            let row = read_values(row, self.columns.len())?;
            bytes += row.iter().map(Value::size_bytes).sum::<usize>();
            rows.push(row);
            let is_full = is_file && bytes >= MAX_BATCH_BYTES;
            Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(rows)
    }

    /// Returns the statement that inserts a number of rows on a server, with their numbers.
    pub(super) fn insert(&self, rows: usize) -> String {
        let columns = self.columns.len();
        let row = |row: usize| {
            let params: Vec<String> =
                (1..=columns).map(|column| format!("?{}", row * columns + column)).collect();
            format!("({})", params.join(", "))
        };
        let values: Vec<String> = (0..rows).map(row).collect();
        format!(
            "INSERT INTO \"{}\" ({}) OVERRIDING SYSTEM VALUE VALUES {}",
            self.name,
            self.column_list(),
            values.join(", ")
        )
    }

    fn column_list(&self) -> String {
        let columns: Vec<String> = (0..self.columns.len()).map(|column| self.quoted(column)).collect();
        columns.join(", ")
    }

    /// Returns the columns of the primary key, compared by the bytes of texts in both engines.
    fn key_terms(&self, connection: &Connection) -> Vec<String> {
        let collation = match connection {
            Connection::Sqlite(_) => "",
            Connection::Postgres(_) => " COLLATE \"C\"",
        };
        let term = |&column: &usize| {
            let collation = if self.columns[column].is_text { collation } else { "" };
            format!("{}{collation}", self.quoted(column))
        };
        self.key.iter().map(term).collect()
    }

    /// Returns the condition of a range with its parameters.
    fn condition<'a>(&self, connection: &Connection, range: KeyRange<'a>) -> (String, Vec<&'a dyn ToSql>) {
        let terms = self.key_terms(connection).join(", ");
        let (mut conditions, mut params) = (Vec::new(), Vec::<&dyn ToSql>::new());
        for (comparison, key) in [(">", range.after), ("<=", range.up_to)] {
            let Some(key) = key else { continue };
            let numbers: Vec<String> =
                (1..=key.len()).map(|number| format!("?{}", params.len() + number)).collect();
            conditions.push(format!("({terms}) {comparison} ({})", numbers.join(", ")));
            params.extend(key.iter().map(|value| value as &dyn ToSql));
        }
        let keyword = if conditions.is_empty() { "" } else { " WHERE " };
        (format!("{keyword}{}", conditions.join(" AND ")), params)
    }

    fn quoted(&self, column: usize) -> String {
        format!("\"{}\"", self.columns[column].name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::Store;

    #[test]
    fn every_table_of_the_schema_is_copied_or_listed_as_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
        let names: Vec<String> =
            store.database().read(|connection| connection.query(sql, params![], |row| row.get(0))).unwrap();
        let tables: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let listed: BTreeSet<&str> = COPIED.iter().chain(NOT_COPIED).copied().collect();
        assert_eq!(tables, listed, "add a new table to COPIED or NOT_COPIED");
        assert_eq!(listed.len(), COPIED.len() + NOT_COPIED.len(), "a table is listed twice");
    }

    #[test]
    fn seeded_tables_are_those_with_rows_in_a_new_database() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for &name in COPIED {
            let has_rows = store
                .database()
                .read(|connection| Ok(Table::read(connection, name)?.count(connection, None)? > 0))
                .unwrap();
            assert_eq!(has_rows, SEEDED.contains(&name), "{name}");
        }
    }

    #[test]
    fn tables_follow_those_that_they_refer_to() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for (at, name) in COPIED.iter().enumerate() {
            let sql = "SELECT \"table\" FROM pragma_foreign_key_list(?1)";
            let parents: Vec<String> = store
                .database()
                .read(|connection| connection.query(sql, params![name], |row| row.get(0)))
                .unwrap();
            for parent in parents {
                // What refers to processes is null in the source.
                let is_known =
                    COPIED[..at].contains(&parent.as_str()) || NOT_COPIED.contains(&parent.as_str());
                assert!(is_known, "{name} is copied before {parent}");
            }
        }
    }

    #[test]
    fn file_is_read_in_batches_of_limited_rows_and_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let insert = "INSERT INTO profiles (team, name, saved_at, state) VALUES ('tea', ?1, 1, ?2)";
        let state = vec![7_u8; 3 * 1024 * 1024];
        let written = store.database().write(crate::database::Durability::Process, |transaction| {
            for name in ["a", "b", "c", "d", "e"] {
                transaction.execute(insert, params![name, state])?;
            }
            let table = Table::read(transaction, "profiles")?;
            let rows = table.rows(transaction, KeyRange::default(), MAX_BATCH_ROWS)?;
            assert_eq!(rows.len(), 3, "the third row exceeds the bytes");
            let last = table.key_of(&rows[2]);
            let rest = KeyRange { after: Some(&last), up_to: None };
            assert_eq!(table.rows(transaction, rest, MAX_BATCH_ROWS)?.len(), 2);
            assert_eq!(table.rows(transaction, rest, 1)?.len(), 1);
            assert_eq!(table.count(transaction, Some(&last))?, 3);
            assert_eq!(table.last_key(transaction)?, Some(vec![text("tea"), text("e")]));
            Ok(())
        });
        written.unwrap();
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}
