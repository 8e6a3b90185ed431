//! The handle of the store.

use std::path::Path;
use std::sync::Arc;

use crate::access::Access;
use crate::database::Database;
use crate::error::StoreError;
use crate::key_use::KeyUseFlusher;
use crate::ledger::{Ledger, LedgerFlusher};
use crate::sql::params;

/// The durable state in a data directory. Clones share one set of connections.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Dropped before `shared`: their threads flush a last time before the database closes.
    _key_use_flusher: KeyUseFlusher,
    _ledger_flusher: LedgerFlusher,
    shared: Arc<Shared>,
}

/// State shared by the store and its threads.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) database: Database,
    pub(crate) access: Access,
    pub(crate) ledger: Ledger,
}

impl Store {
    /// Opens the database in `dir`, and creates both if they do not exist.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`], [`StoreError::Corrupt`], [`StoreError::Io`] if the directory or file cannot be
    /// created or opened, [`StoreError::Busy`] if another process has it locked for 5 seconds.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        let database = Database::open(dir.as_ref())?;
        let access = Access::new(&database)?;
        let ledger = Ledger::new(&database, dir.as_ref())?;
        let shared = Arc::new(Shared { database, access, ledger });
        let io = |error| StoreError::io(shared.database.path(), error);
        let key_use_flusher = KeyUseFlusher::start(Arc::clone(&shared)).map_err(io)?;
        let ledger_flusher = LedgerFlusher::start(Arc::clone(&shared)).map_err(io)?;
        let inner = Inner { _key_use_flusher: key_use_flusher, _ledger_flusher: ledger_flusher, shared };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Reads and checks the whole database with SQLite's `integrity_check`. Takes seconds for gigabytes.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with SQLite's first findings; otherwise failures of the database.
    pub fn verify(&self) -> Result<(), StoreError> {
        let findings: Vec<String> = self
            .database()
            .read(|connection| connection.query("PRAGMA integrity_check(5)", params![], |row| row.get(0)))?;
        if findings != ["ok"] {
            return Err(self.database().corrupt(findings.join("; ")));
        }
        Ok(())
    }

    /// Limits the size of the database file while this store is open. Writes that exceed the limit fail with
    /// [`StoreError::Full`], as on a full disk. The write-ahead log does not count.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn limit_file_size(&self, max_bytes: u64) -> Result<(), StoreError> {
        self.database().limit_file_size(max_bytes)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    pub(crate) fn database(&self) -> &Database {
        &self.shared().database
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.shared().ledger
    }

    pub(crate) fn access(&self) -> &Access {
        &self.shared().access
    }
}
