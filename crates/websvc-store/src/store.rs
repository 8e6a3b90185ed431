//! The handle of the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use websvc_transport::Client;

use crate::access::Access;
use crate::clock::{Clock, add_ms};
use crate::database::{Database, DatabaseUrl, Durability};
use crate::error::StoreError;
use crate::key_use::KeyUseFlusher;
use crate::ledger::{Ledger, LedgerFlusher};
use crate::migrate_to_server::refuse_moved;
use crate::pending_work::PendingWork;
use crate::private_file::create_private_dir;
use crate::replica::membership::Membership;
use crate::server_watch::ServerWatch;
use crate::shared::Shared;
use crate::sql::params;
use crate::sql::postgres::StatementClass;

/// The durable state, in a data directory or on a server. Clones share one set of connections.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Dropped before `shared`: their threads flush a last time before the database closes.
    _key_use_flusher: KeyUseFlusher,
    _ledger_flusher: LedgerFlusher,
    _server_watch: Option<ServerWatch>,
    shared: Arc<Shared>,
    directory: PathBuf,
}

impl Store {
    /// Opens the database in `dir`, and creates both if they do not exist.
    ///
    /// # Errors
    /// [`StoreError::Moved`], [`StoreError::NewerSchema`], [`StoreError::Corrupt`], [`StoreError::Io`] if the directory or
    /// file cannot be created or opened, [`StoreError::Busy`] if another process has it locked for 5 seconds.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        refuse_moved(dir.as_ref())?;
        Self::open_moved(dir.as_ref())
    }

    /// Opens the database in `dir`, even if it was copied to a server.
    pub(crate) fn open_moved(dir: &Path) -> Result<Self, StoreError> {
        Self::with_database(Database::open(dir)?, dir)
    }

    /// Connects to a database on a PostgreSQL server, and creates its tables if they do not exist. `dir` contains the
    /// journals of credits of this process, and the newest timeline of the server. `client` opens the connections; its guard must allow the hosts of `url`.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`], [`StoreError::NewerSchema`], [`StoreError::UnfinishedMigration`], [`StoreError::Io`]
    /// if the server rejects the user or the database, or the directory cannot be used.
    pub fn connect(url: &DatabaseUrl, client: Client, dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        create_private_dir(dir.as_ref()).map_err(|error| StoreError::io(dir.as_ref(), error))?;
        Self::with_database(Database::connect(url, client, dir.as_ref())?, dir.as_ref())
    }

    fn with_database(database: Database, dir: &Path) -> Result<Self, StoreError> {
        let database = Arc::new(database);
        let access = Access::new(&database)?;
        let ledger = Ledger::new(&database, dir)?;
        let (membership, pending_work) = (Membership::default(), PendingWork::default());
        let shared = Arc::new(Shared { database, access, ledger, membership, pending_work });
        let io = |error| StoreError::io(shared.database.location(), error);
        let key_use_flusher = KeyUseFlusher::start(Arc::clone(&shared)).map_err(io)?;
        let ledger_flusher = LedgerFlusher::start(Arc::clone(&shared)).map_err(io)?;
        let server_watch = ServerWatch::start(&shared).map_err(io)?;
        Ok(Self {
            inner: Arc::new(Inner {
                _key_use_flusher: key_use_flusher,
                _ledger_flusher: ledger_flusher,
                _server_watch: server_watch,
                shared,
                directory: dir.to_owned(),
            }),
        })
    }

    /// Reads and checks the whole database. Takes seconds for gigabytes. A file is checked with SQLite's
    /// `integrity_check`; on a server the maintained totals are compared with the rows.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with SQLite's first findings or the wrong total; otherwise failures of the database.
    pub fn verify(&self) -> Result<(), StoreError> {
        let _class = StatementClass::Background.enter();
        if self.database().is_server() {
            return self.verify_totals();
        }
        let findings: Vec<String> = self
            .database()
            .read(|connection| connection.query("PRAGMA integrity_check(5)", params![], |row| row.get(0)))?;
        if findings != ["ok"] {
            return Err(self.database().corrupt(findings.join("; ")));
        }
        Ok(())
    }

    fn verify_totals(&self) -> Result<(), StoreError> {
        let totals = [
            ("cached pages", "SELECT sum(pages) = (SELECT count(*) FROM pages) FROM page_totals"),
            (
                "bytes of cached pages",
                "SELECT sum(bytes) = (SELECT coalesce(sum(size), 0) FROM pages) FROM page_totals",
            ),
            (
                "bytes of job documents",
                "SELECT sum(bytes) = (SELECT coalesce(sum(length(document)), 0) FROM job_documents) \
                 FROM job_storage",
            ),
            (
                "bytes of baselines",
                "SELECT sum(baseline_bytes) = (SELECT coalesce(sum(length(document)), 0) FROM monitor_baselines) \
                 FROM monitor_storage",
            ),
            (
                "bytes of checks",
                "SELECT sum(check_bytes) = (SELECT coalesce(sum(bytes), 0) FROM monitor_checks) \
                 FROM monitor_storage",
            ),
        ];
        for (name, sql) in totals {
            let is_exact: bool =
                self.database().read(|connection| connection.query_row(sql, params![], |row| row.get(0)))?;
            if !is_exact {
                return Err(self.database().corrupt(format!("the total of {name} differs from the rows")));
            }
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

    /// Returns whether the database is on a server, which other processes and machines may use at the same time.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.database().is_server()
    }

    /// Returns the data directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.inner.directory
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

    pub(crate) fn membership(&self) -> &Membership {
        &self.shared().membership
    }

    pub(crate) fn access(&self) -> &Access {
        &self.shared().access
    }

    /// Returns the clock, by which all times of the store are set and compared.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        self.database().clock()
    }

    /// Returns the time of the [clock](Self::clock) in milliseconds since the Unix epoch.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.clock().now_ms()
    }

    /// Makes the events of webhooks and the messages about checks due at `now_ms` that are due more than `max_delay` after
    /// it: the clock was ahead when they were stored. Call it after the clock was set. Confirmations may wait for weeks, so
    /// they stay as they are.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn bring_deliveries_forward(&self, now_ms: u64, max_delay: Duration) -> Result<(), StoreError> {
        let latest_ms = add_ms(now_ms, max_delay);
        self.database().write(Durability::Process, |transaction| {
            let events = "UPDATE webhook_events SET due_at = ?1 WHERE forget_at IS NULL AND due_at > ?2";
            transaction.execute(events, params![now_ms, latest_ms])?;
            let messages =
                "UPDATE monitor_messages SET due_at = ?1 WHERE kind <> 'confirmation' AND due_at > ?2";
            transaction.execute(messages, params![now_ms, latest_ms]).map(drop)
        })
    }

    /// Writes the times of last use that are still in memory. The store does so every minute, and when its last handle
    /// is dropped.
    ///
    /// # Errors
    /// Failures of the database; then the times stay in memory for the next attempt.
    pub fn flush_key_uses(&self) -> Result<(), StoreError> {
        self.shared().flush_key_uses()
    }
}
