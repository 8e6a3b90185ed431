//! The handle on the durable state.

use std::path::Path;
use std::sync::Arc;

use crate::access::Access;
use crate::database::Database;
use crate::error::StoreError;
use crate::ledger::{Ledger, LedgerFlusher};
use crate::usage::UsageWriter;

/// The durable state of a data directory. Clones share one set of connections.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Before `shared`: their threads write a last time before the database closes.
    _usage_writer: UsageWriter,
    _ledger_writer: LedgerFlusher,
    shared: Arc<Shared>,
}

/// State shared by the store and its thread.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) database: Database,
    pub(crate) access: Access,
    pub(crate) ledger: Ledger,
}

impl Store {
    /// Opens the database in `dir`, creating both if they are absent.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`], [`StoreError::Corrupt`], [`StoreError::Io`] when the directory or file cannot be
    /// created or opened, [`StoreError::Busy`] when another process keeps it locked for 5 seconds.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        let database = Database::open(dir.as_ref())?;
        let access = Access::new(&database)?;
        let ledger = Ledger::new(&database, dir.as_ref())?;
        let shared = Arc::new(Shared { database, access, ledger });
        let usage_writer = UsageWriter::start(Arc::clone(&shared))
            .map_err(|error| StoreError::io(shared.database.path(), error))?;
        let ledger_writer = LedgerFlusher::start(Arc::clone(&shared))
            .map_err(|error| StoreError::io(shared.database.path(), error))?;
        let inner = Inner { _usage_writer: usage_writer, _ledger_writer: ledger_writer, shared };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Reads the whole database and checks that it is sound. Takes seconds for gigabytes.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with SQLite's first findings; otherwise failures of the database.
    pub fn verify(&self) -> Result<(), StoreError> {
        let findings: Vec<String> = self.database().read(|connection| {
            connection.prepare("PRAGMA integrity_check(5)")?.query_map([], |row| row.get(0))?.collect()
        })?;
        if findings != ["ok"] {
            return Err(self.database().corrupt(findings.join("; ")));
        }
        Ok(())
    }

    /// Bounds the database file, as a disk of that size would: what does not fit is [`StoreError::Full`]. For as long as
    /// this store is open; the log beside the file does not count.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn bound_file(&self, max_bytes: u64) -> Result<(), StoreError> {
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
