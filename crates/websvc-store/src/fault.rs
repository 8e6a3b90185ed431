//! Faults of the database that outlast the statement that found them: a full disk, and damage.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

/// Interval of the attempts to write again after a failed write.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Size of the row that such an attempt writes: more than the free space within the pages of a full file.
const PROBE_BYTES: usize = 64 * 1024;

/// A fault of the database. The texts are for everyone, so they contain no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// The disk is full.
    #[error("the disk of the database is full: nothing can be stored until there is space")]
    Full,
    /// Writes fail for another reason.
    #[error("the database cannot be written: the log of the service has the reason")]
    NotWritable,
    /// A statement found damage.
    #[error("the database is damaged: run websvc doctor, and restore a backup")]
    Damaged,
}

/// The fault that was found last.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    fault: Option<StoreFault>,
    probed: Option<Instant>,
}

impl Faults {
    /// Records the failure of a read or a write.
    pub(crate) fn record(&self, error: &StoreError) {
        self.set(match error {
            StoreError::Full { .. } => Some(StoreFault::Full),
            StoreError::Corrupt { .. } => Some(StoreFault::Damaged),
            _ => None,
        });
    }

    /// Records the failure of a write.
    pub(crate) fn record_write(&self, error: &StoreError) {
        self.set(matches!(error, StoreError::Io { .. }).then_some(StoreFault::NotWritable));
    }

    fn set(&self, found: Option<StoreFault>) {
        let mut state = self.0.lock();
        if found.is_some() && state.fault != Some(StoreFault::Damaged) {
            state.fault = found;
        }
    }

    /// Returns the fault, and whether to find out by a write if it has gone.
    fn current(&self, now: Instant) -> (Option<StoreFault>, bool) {
        let mut state = self.0.lock();
        let is_due =
            state.probed.is_none_or(|probed| now.saturating_duration_since(probed) >= PROBE_INTERVAL);
        let probes = is_due && matches!(state.fault, Some(StoreFault::Full | StoreFault::NotWritable));
        if probes {
            state.probed = Some(now);
        }
        (state.fault, probes)
    }

    fn known(&self) -> Option<StoreFault> {
        self.0.lock().fault
    }

    fn clear(&self) {
        let mut state = self.0.lock();
        state.fault = state.fault.filter(|fault| *fault == StoreFault::Damaged);
    }
}

impl Store {
    /// Returns the fault of the database that statements have found. Damage stays until the next start. After a failed
    /// write this writes a row and deletes it, at most once a second, to see whether there is space again.
    #[must_use]
    pub fn fault(&self, now: Instant) -> Option<StoreFault> {
        let faults = self.database().faults();
        let (fault, probes) = faults.current(now);
        if probes && self.probe().is_ok() {
            faults.clear();
            return None;
        }
        fault
    }

    /// Returns the fault that was found last, without any access to the database.
    #[must_use]
    pub fn known_fault(&self) -> Option<StoreFault> {
        self.database().faults().known()
    }

    /// Returns whether the database can be read. For a server this is what the last read of the watch has found, so it
    /// does not wait.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        match self.database().server_state() {
            Some(server) => server.check_reachable().is_ok(),
            None => self.list_teams().is_ok(),
        }
    }

    /// Checks that results can be stored, before the work on them begins.
    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        let path = || self.database().location().to_owned();
        match self.fault(Instant::now()) {
            None | Some(StoreFault::Damaged) => Ok(()),
            Some(StoreFault::Full) => Err(StoreError::Full { path: path() }),
            Some(fault @ StoreFault::NotWritable) => {
                Err(StoreError::Io { path: path(), source: Box::new(fault) })
            }
        }
    }

    /// Writes a row that needs space, and deletes it. No team has an empty name.
    fn probe(&self) -> Result<(), StoreError> {
        self.database().write(Durability::Process, |transaction| {
            let sql = "INSERT INTO profiles (team, name, saved_at, state) VALUES ('', 'probe', 0, ?1)";
            transaction.execute(sql, params![vec![0_u8; PROBE_BYTES]])?;
            transaction.execute("DELETE FROM profiles WHERE team = ''", params![]).map(drop)
        })
    }

    /// Checks the structure of a database file of at most `max_bytes` with SQLite's `quick_check`. A larger file, or a
    /// server, is not checked, because that takes long; statements that find damage [record](Self::fault) it.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with SQLite's first findings; otherwise failures of the database.
    pub fn check_structure(&self, max_bytes: u64) -> Result<(), StoreError> {
        let database = self.database();
        if database.is_server()
            || std::fs::metadata(database.location()).is_ok_and(|file| file.len() > max_bytes)
        {
            return Ok(());
        }
        let findings: Vec<String> = database
            .read(|connection| connection.query("PRAGMA quick_check(5)", params![], |row| row.get(0)))?;
        if findings == ["ok"] {
            return Ok(());
        }
        let error = database.corrupt(findings.join("; "));
        database.faults().record(&error);
        Err(error)
    }
}
