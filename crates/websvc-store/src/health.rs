//! The faults of the database as the store reports them, and checks that it can be read and written.

use std::time::Instant;

use crate::database::Durability;
use crate::error::StoreError;
use crate::fault::StoreFault;
use crate::sql::params;
use crate::store::Store;

/// Size of the row that an attempt to write again writes: more than the free space within the pages of a full file.
const PROBE_BYTES: usize = 64 * 1024;

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
