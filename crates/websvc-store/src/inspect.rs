//! Inspection of a database without changing it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use websvc_transport::Client;

use crate::database::{BUSY_TIMEOUT, Database, DatabaseUrl, FILE_NAME};
use crate::error::StoreError;
use crate::migration::postgres::SchemaState;
use crate::migration::{MIGRATIONS, version};
use crate::page::CacheSize;
use crate::store::Store;

/// Report about a database file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseReport {
    /// Version of the schema. [`Store::open`] migrates a version below [`supported`](Self::supported), and rejects one
    /// above.
    pub schema: u32,
    /// The newest schema version that this program supports.
    pub supported: u32,
    /// Number of valid keys.
    pub keys: u64,
    /// Number of revoked keys.
    pub revoked_keys: u64,
    /// Number of teams with audit events.
    pub audited_teams: u64,
    /// Size of the page cache.
    pub cache: CacheSize,
    /// Number of private pages in the page cache.
    pub owned_pages: u64,
}

/// Report about a database on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerReport {
    /// Version of the schema; 0 if there are no tables yet. [`Store::connect`] migrates a version below
    /// [`supported`](Self::supported).
    pub schema: u32,
    /// The newest schema version that this program supports.
    pub supported: u32,
}

impl Store {
    /// Connects to the server of a database and reads its schema version without changing anything.
    ///
    /// # Errors
    /// As for [`Store::connect`].
    pub fn inspect_server(url: &DatabaseUrl, client: Client) -> Result<ServerReport, StoreError> {
        let SchemaState { found, supported } = Database::inspect_server(url, client)?;
        if found > supported {
            return Err(StoreError::NewerSchema { path: url.location().to_owned(), found, supported });
        }
        Ok(ServerReport { schema: found, supported })
    }

    /// Reads the database in `dir` without changing it, also while a server runs, and checks its structure with
    /// SQLite's `quick_check`; `None` if there is no database. Takes seconds for gigabytes.
    ///
    /// # Errors
    /// As for [`Store::open`]. [`StoreError::Corrupt`] contains SQLite's first findings. [`StoreError::NewerSchema`] is
    /// returned before anything else is read.
    pub fn inspect(dir: impl AsRef<Path>) -> Result<Option<DatabaseReport>, StoreError> {
        let path = dir.as_ref().join(FILE_NAME);
        let length = match std::fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path, error)),
        };
        let failed = |error| StoreError::from_sqlite(&path, error);
        let connection = connect(&path).map_err(failed)?;
        let supported = u32::try_from(MIGRATIONS.len()).expect("there are few migrations");
        let schema = version(&connection).map_err(failed)?;
        if schema > supported {
            return Err(StoreError::NewerSchema { path, found: schema, supported });
        }
        let findings = findings(&connection).map_err(failed)?;
        if findings != ["ok"] {
            return Err(StoreError::Corrupt { path, detail: findings.join("; ") });
        }
        if schema == 0 || length == 0 {
            // The first start was interrupted before the first migration.
            let cache = CacheSize { pages: 0, bytes: 0 };
            return Ok(Some(DatabaseReport {
                schema,
                supported,
                keys: 0,
                revoked_keys: 0,
                audited_teams: 0,
                cache,
                owned_pages: 0,
            }));
        }
        report(&connection, schema, supported).map(Some).map_err(failed)
    }
}

/// Opens the file read-only. Without a write-ahead log no process has the database open, so it is opened as immutable,
/// which keeps SQLite from creating files.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let connection = match (Path::new(&log).exists(), as_uri(path)) {
        (false, Some(uri)) => Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?,
        (true, _) | (_, None) => Connection::open_with_flags(path, flags)?,
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Returns a path as a URI for SQLite; `None` if it is not UTF-8.
fn as_uri(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let path = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Some(format!("file:{path}?immutable=1"))
}

fn findings(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection.prepare("PRAGMA quick_check(5)")?.query_map([], |row| row.get(0))?.collect()
}

fn report(connection: &Connection, schema: u32, supported: u32) -> rusqlite::Result<DatabaseReport> {
    let count = "SELECT count(*) - count(revoked_at), count(revoked_at) FROM keys";
    let (keys, revoked_keys) = connection.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let audited_teams =
        connection.query_row("SELECT count(*) FROM teams WHERE audit = 1", [], |row| row.get(0))?;
    let cache = connection.query_row("SELECT pages, bytes FROM page_totals", [], |row| {
        Ok(CacheSize { pages: row.get(0)?, bytes: row.get(1)? })
    })?;
    let owned_pages =
        connection.query_row("SELECT count(*) FROM pages WHERE owner <> 0", [], |row| row.get(0))?;
    Ok(DatabaseReport { schema, supported, keys, revoked_keys, audited_teams, cache, owned_pages })
}
