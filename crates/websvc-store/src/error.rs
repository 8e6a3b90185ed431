//! Errors of the store, grouped by how the caller can react.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use tokio_postgres::error::SqlState;

use crate::sql;
use crate::sql::postgres::is_unreachable;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process had the database locked for longer than the timeout, or all reading connections were in use as
    /// long: try again.
    #[error("the database {} is locked by another process", path.display())]
    Busy {
        /// The database file.
        path: PathBuf,
    },
    /// The file is damaged or is not a websvc database: restore a backup, or move the file away to start with an empty
    /// one.
    #[error("the database {} is damaged: {detail}", path.display())]
    Corrupt {
        /// The database file.
        path: PathBuf,
        /// Detail from SQLite or the decoder.
        detail: String,
    },
    /// A newer websvc migrated the file: use that version.
    #[error(
        "the database {} has schema version {found}, this program supports versions up to {supported}: use a newer websvc",
        path.display()
    )]
    NewerSchema {
        /// The database file.
        path: PathBuf,
        /// The version found in the file.
        found: u32,
        /// The newest version that this program supports.
        supported: u32,
    },
    /// The server of the database cannot be reached, or is not ready: try again.
    #[error("the database {url} cannot be reached")]
    Unreachable {
        /// URL of the server, without credentials.
        url: String,
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The operation needs a database file, and the database is on a server.
    #[error("the database {url} is not a file: use the tools of PostgreSQL, such as pg_dump, to copy it")]
    NotAFile {
        /// URL of the server, without credentials.
        url: String,
    },
    /// Another migration into the database runs.
    #[error("another migration into the database {url} runs: wait for its end")]
    InUse {
        /// URL of the server, without credentials.
        url: String,
    },
    /// A migration into the database was interrupted, so it contains a part of the state.
    #[error(
        "the database {url} is incomplete, because a migration into it has not finished: run `websvc store migrate \
         --from {from}` again"
    )]
    UnfinishedMigration {
        /// URL of the server, without credentials.
        url: String,
        /// The data directory that is copied.
        from: String,
    },
    /// The database was copied to a server, and may be older than that one.
    #[error(
        "the database of this data directory was copied to {url} by `websvc store migrate`: set store.url, or remove {} to \
         use the old state",
        mark.display()
    )]
    Moved {
        /// URL of the server, without credentials.
        url: String,
        /// The file that marks the data directory.
        mark: PathBuf,
    },
    /// The disk is full.
    #[error("no space left for the database {}", path.display())]
    Full {
        /// The database file.
        path: PathBuf,
    },
    /// The file or its directory cannot be opened, read or written.
    #[error("cannot use the database {}", path.display())]
    Io {
        /// The database file or its directory.
        path: PathBuf,
        /// Error of the operating system or SQLite.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A statement failed, which is a bug in this crate.
    #[error("a statement on the database {} failed", path.display())]
    Statement {
        /// The database file.
        path: PathBuf,
        /// Error of SQLite.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No key has this id.
    #[error("there is no key with the id \"{id}\"")]
    UnknownKey {
        /// The requested id.
        id: String,
    },
    /// The key was revoked before.
    #[error("the key \"{id}\" is already revoked")]
    AlreadyRevoked {
        /// The requested id.
        id: String,
        /// Time of the revocation, in milliseconds since the Unix epoch.
        revoked_at_ms: u64,
    },
    /// The team cannot be deleted, because keys of the configuration belong to it.
    #[error("team \"{team}\" cannot be deleted: keys of the configuration belong to it")]
    TeamNeeded {
        /// The team.
        team: String,
    },
    /// The target file of a backup already exists.
    #[error("{} already exists", path.display())]
    BackupExists {
        /// The file.
        path: PathBuf,
    },
    /// The name of a team, key label, format or network is not valid.
    #[error("{what} \"{}\" is not valid: {rule}", name.escape_debug())]
    InvalidName {
        /// Kind of the name: `team`, `label`, `format` or `network`.
        what: &'static str,
        /// The invalid name.
        name: String,
        /// The violated rule.
        rule: &'static str,
    },
    /// A key from the configuration is not valid. The error does not contain the key, because it is a secret.
    #[error("the configured API key is not valid: {rule}")]
    InvalidStaticKey {
        /// The violated rule.
        rule: String,
    },
    /// The invitation cannot be created.
    #[error("the invitation is not valid: {rule}")]
    InvalidInvitation {
        /// The violated rule.
        rule: &'static str,
    },
    /// The operating system returned no random bytes.
    #[error("the operating system returned no random bytes")]
    Random {
        /// Error of the operating system.
        #[source]
        source: getrandom::Error,
    },
}

impl StoreError {
    /// Converts an error of a statement.
    pub(crate) fn from_sql(path: &Path, error: sql::Error) -> Self {
        match error {
            sql::Error::Sqlite(error) => Self::from_sqlite(path, error),
            sql::Error::Postgres(error) => Self::from_postgres(path, error),
            sql::Error::Unreachable(source) => Self::Unreachable { url: path.display().to_string(), source },
            sql::Error::PoolTimeout => Self::Busy { path: path.to_path_buf() },
            sql::Error::Random(source) => Self::Random { source },
            error => Self::Statement { path: path.to_path_buf(), source: Box::new(error) },
        }
    }

    /// Converts an error of SQLite.
    pub(crate) fn from_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        // The file that the connections share grows with the log.
        let code = error.sqlite_error().map(|error| error.extended_code);
        if code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) {
            return Self::Full { path };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path, detail: error.to_string() }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Io { path, source: Box::new(error) },
            _ => Self::Statement { path, source: Box::new(error) },
        }
    }

    /// Converts an error of PostgreSQL.
    fn from_postgres(path: &Path, error: tokio_postgres::Error) -> Self {
        if is_unreachable(&error) {
            return Self::Unreachable { url: path.display().to_string(), source: Box::new(error) };
        }
        let path = path.to_path_buf();
        let Some(code) = error.code() else { return Self::Statement { path, source: Box::new(error) } };
        match *code {
            SqlState::LOCK_NOT_AVAILABLE
            | SqlState::QUERY_CANCELED
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE => Self::Busy { path },
            SqlState::DISK_FULL => Self::Full { path },
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
                Self::Corrupt { path, detail: error.to_string() }
            }
            SqlState::INVALID_PASSWORD
            | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | SqlState::INVALID_CATALOG_NAME
            | SqlState::INSUFFICIENT_PRIVILEGE => Self::Io { path, source: Box::new(error) },
            _ => Self::Statement { path, source: Box::new(error) },
        }
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source: Box::new(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_errors_are_classified() {
        let classify = |code| {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            StoreError::from_sqlite(Path::new("data/websvc.db"), error)
        };
        assert!(matches!(classify(rusqlite::ffi::SQLITE_BUSY), StoreError::Busy { .. }));
        assert!(matches!(classify(rusqlite::ffi::SQLITE_BUSY_SNAPSHOT), StoreError::Busy { .. }));
        assert!(matches!(classify(rusqlite::ffi::SQLITE_CORRUPT), StoreError::Corrupt { .. }));
        assert!(matches!(classify(rusqlite::ffi::SQLITE_FULL), StoreError::Full { .. }));
        assert!(matches!(classify(rusqlite::ffi::SQLITE_IOERR_SHMSIZE), StoreError::Full { .. }));
        assert!(matches!(classify(rusqlite::ffi::SQLITE_IOERR_READ), StoreError::Io { .. }));
        assert!(matches!(classify(rusqlite::ffi::SQLITE_MISUSE), StoreError::Statement { .. }));
        let busy = classify(rusqlite::ffi::SQLITE_BUSY).to_string();
        assert_eq!(busy, "the database data/websvc.db is locked by another process");
    }
}
