//! The mark of an unfinished migration in a database on a server.
//!
//! It is a table that exists from the first change of a migration until its verification has succeeded, in the same
//! transactions as these. So no other process takes a part of the state for the whole.

use crate::sql::{self, Connection, params};

/// The identity of a database file, so that a migration is only continued from the same one.
#[derive(Debug)]
pub(crate) struct SourceIdentity {
    /// Random hex digits that are stored in the file.
    pub(crate) id: String,
    /// The data directory, for messages.
    pub(crate) dir: String,
}

/// Returns the source of an unfinished migration; `None` if there is none.
pub(crate) fn read(connection: &Connection) -> sql::Result<Option<SourceIdentity>> {
    let exists = "SELECT 1 WHERE to_regclass('unfinished_migration') IS NOT NULL";
    if !connection.exists(exists, params![])? {
        return Ok(None);
    }
    let sql = "SELECT source_id, source_dir FROM unfinished_migration";
    connection.query_optional(sql, params![], |row| Ok(SourceIdentity { id: row.get(0)?, dir: row.get(1)? }))
}

/// Returns the data directory that an unfinished migration copies; `None` if there is none.
pub(crate) fn source_of_unfinished(connection: &Connection) -> sql::Result<Option<String>> {
    Ok(read(connection)?.map(|source| source.dir))
}

/// Marks the migration as unfinished.
pub(crate) fn mark(connection: &Connection, source: &SourceIdentity) -> sql::Result<()> {
    let create =
        "CREATE TABLE IF NOT EXISTS unfinished_migration (source_id TEXT NOT NULL, source_dir TEXT NOT NULL)";
    connection.execute(create, params![])?;
    connection.execute("DELETE FROM unfinished_migration", params![])?;
    let insert = "INSERT INTO unfinished_migration (source_id, source_dir) VALUES (?1, ?2)";
    connection.execute(insert, params![source.id, source.dir])?;
    Ok(())
}

/// Removes the mark.
pub(crate) fn unmark(connection: &Connection) -> sql::Result<()> {
    connection.execute("DROP TABLE unfinished_migration", params![])?;
    Ok(())
}
