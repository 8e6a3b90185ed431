//! Errors of the store, grouped by what the caller can do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process kept the database locked for longer than the waiting time: try again.
    #[error("the database {} is locked by another process", path.display())]
    Busy {
        /// The database file.
        path: PathBuf,
    },
    /// The file is damaged or is not a websvc database: restore a copy, or move it away to start afresh.
    #[error("the database {} is damaged: {detail}", path.display())]
    Corrupt {
        /// The database file.
        path: PathBuf,
        /// Detail from SQLite or the decoder.
        detail: String,
    },
    /// A newer websvc wrote the file: use that version.
    #[error(
        "the database {} has schema version {found}, this program knows versions up to {known}: use a newer websvc",
        path.display()
    )]
    NewerSchema {
        /// The database file.
        path: PathBuf,
        /// The version found in the file.
        found: u32,
        /// The newest version this program knows.
        known: u32,
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
    /// A statement failed in a way that is a defect of this crate.
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
        /// The id that was given.
        id: String,
    },
    /// The key was revoked before.
    #[error("the key \"{id}\" is already revoked")]
    AlreadyRevoked {
        /// The id that was given.
        id: String,
        /// When it was revoked, in milliseconds since the Unix epoch.
        revoked_at_ms: u64,
    },
    /// The team cannot be deleted.
    #[error("team \"{team}\" cannot be deleted: keys of the configuration belong to it")]
    TeamNeeded {
        /// The team.
        team: String,
    },
    /// The file that a backup was to be written into is there already.
    #[error("{} exists already", path.display())]
    BackupExists {
        /// The file.
        path: PathBuf,
    },
    /// A team name or key label is not acceptable.
    #[error("{what} \"{}\" is not valid: {rule}", name.escape_debug())]
    InvalidName {
        /// Which name it is: `team`, `label`, `format` or `network`.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// A key given by configuration cannot be used; its text is not repeated here because it is a secret.
    #[error("the configured API key is not valid: {rule}")]
    InvalidStaticKey {
        /// The rule it breaks.
        rule: &'static str,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes")]
    Random {
        /// Error of the operating system.
        #[source]
        source: getrandom::Error,
    },
}

impl StoreError {
    /// Sorts an error of SQLite into what the caller can do about it.
    pub(crate) fn from_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
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

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source: Box::new(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_sqlite_are_sorted_by_what_can_be_done() {
        let sorted = |code| {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            StoreError::from_sqlite(Path::new("data/websvc.db"), error)
        };
        assert!(matches!(sorted(rusqlite::ffi::SQLITE_BUSY), StoreError::Busy { .. }));
        assert!(matches!(sorted(rusqlite::ffi::SQLITE_BUSY_SNAPSHOT), StoreError::Busy { .. }));
        assert!(matches!(sorted(rusqlite::ffi::SQLITE_CORRUPT), StoreError::Corrupt { .. }));
        assert!(matches!(sorted(rusqlite::ffi::SQLITE_FULL), StoreError::Full { .. }));
        assert!(matches!(sorted(rusqlite::ffi::SQLITE_IOERR_READ), StoreError::Io { .. }));
        assert!(matches!(sorted(rusqlite::ffi::SQLITE_MISUSE), StoreError::Statement { .. }));
        let busy = sorted(rusqlite::ffi::SQLITE_BUSY).to_string();
        assert_eq!(busy, "the database data/websvc.db is locked by another process");
    }
}
