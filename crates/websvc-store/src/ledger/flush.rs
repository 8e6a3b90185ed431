//! Flushing of usage and charges to the database, and recovery of the leases of dead processes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::grant::{self, OrphanSpending};
use super::hold::IDLE_TTL;
use super::journal;
use super::lost;
use super::usage::{DAY_MS, DailySum, Pending, SumKey};
use super::write::{self, Batch};
use super::{Ledger, UnwrittenUsage, UsageLimits};
use crate::background_thread::{BackgroundThread, StopSignal};
use crate::database::{Database, Durability};
use crate::error::StoreError;
use crate::rate_bucket;
use crate::shared::Shared;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// Interval of the flush. Usage of this time may be lost: by a crash for teams without a budget, by a power failure for
/// teams with one.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which old usage is deleted.
const TRIM_INTERVAL_MS: u64 = 3_600_000;
/// The operation of charges that were recovered from a journal, in the daily sums.
const RECOVERED: &str = "recovered";

/// State of the flush, which one thread at a time performs.
#[derive(Debug, Default)]
pub(super) struct FlushState {
    /// A batch whose write failed. It is written again unchanged, so that it counts once even if it was committed.
    batch: Option<Batch>,
    /// Number of the last batch.
    number: u64,
    next_trim_ms: u64,
}

impl Store {
    /// Writes the usage that is still in memory. The store does so every second, and when its last handle is dropped.
    ///
    /// # Errors
    /// Failures of the database; then the usage stays in memory for the next attempt.
    pub fn flush_credits(&self) -> Result<(), StoreError> {
        self.ledger().flush(self.database())
    }

    /// Ends the leases of dead processes: charges what their journals contain, and returns the rest.
    pub(crate) fn recover_credit_leases(&self) -> Result<(), StoreError> {
        self.ledger().recover(self.database()).map(drop)
    }

    /// Sets the limits of stored usage. Older usage is deleted within the hour.
    pub fn limit_usage(&self, limits: UsageLimits) {
        *self.ledger().limits.lock() = limits;
    }
}

impl Ledger {
    /// Returns how many rows of the usage log wait to be written to the database.
    pub(crate) fn unwritten_rows(&self) -> u64 {
        // A batch that is being written right now is not counted.
        let retried =
            self.flush_state.try_lock().and_then(|state| Some(state.batch.as_ref()?.pending.log_rows.len()));
        (self.unwritten.lock().pending.log_rows.len() + retried.unwrap_or_default()) as u64
    }

    /// Writes all usage that is in memory.
    pub(super) fn flush(&self, database: &Database) -> Result<(), StoreError> {
        let mut state = self.flush_state.lock();
        // Two batches: one that failed before, and the usage since. Usage that arrives meanwhile is left to the next
        // flush.
        for _ in 0..2 {
            if state.batch.is_none() && !self.take_batch(database, &mut state)? {
                break;
            }
            let journal = self.journal_name(database)?;
            let Some(batch) = &state.batch else { break };
            // Charges are flushed to disk, so that a power failure loses only younger ones. Mere counts are not.
            let durability =
                if batch.pending.spent.is_empty() { Durability::Process } else { Durability::Power };
            database.write_shared(durability, |transaction| {
                if write::begin_batch(transaction, &journal, batch)? {
                    self.write_pending(transaction, &batch.pending)?;
                }
                Ok(())
            })?;
            if let Some(journal) = &mut self.unwritten.lock().journal {
                journal.set_applied(batch.last_charge);
            }
            state.batch = None;
        }
        drop(state);
        self.trim_log(database)
    }

    /// Writes recorded usage with the commit of a transaction.
    pub(super) fn write_pending(&self, transaction: &Transaction<'_>, pending: &Pending) -> sql::Result<()> {
        let max_log_rows = self.limits.lock().log_rows;
        let log_rows = write::write_pending(transaction, pending, max_log_rows)?;
        // A transaction that fails makes the log be trimmed early, which does no harm.
        self.log_growth.fetch_add(log_rows, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes the oldest rows of the log beyond its limit, if it has grown by a tenth of it.
    fn trim_log(&self, database: &Database) -> Result<(), StoreError> {
        let max_rows = self.limits.lock().log_rows;
        if self.log_growth.load(Ordering::Relaxed) <= max_rows / 10 {
            return Ok(());
        }
        self.log_growth.store(0, Ordering::Relaxed);
        while database
            .write_rows(Durability::Process, |transaction| write::trim_log(transaction, max_rows))?
        {}
        Ok(())
    }

    /// Makes the next batch of the unwritten usage; returns whether there is any.
    fn take_batch(&self, database: &Database, state: &mut FlushState) -> Result<bool, StoreError> {
        if self.unwritten.lock().pending.is_empty() {
            return Ok(false);
        }
        self.journal_name(database)?;
        let mut unwritten = self.unwritten.lock();
        let UnwrittenUsage { journal, pending } = &mut *unwritten;
        state.number += 1;
        state.batch = Some(Batch {
            number: state.number,
            last_charge: journal.as_ref().map_or(0, journal::Journal::last),
            pending: std::mem::take(pending),
        });
        Ok(true)
    }

    /// Deletes old usage, if the last time is long enough ago.
    fn trim(&self, database: &Database) -> Result<(), StoreError> {
        let now_ms = database.clock().now_ms();
        let limits = *self.limits.lock();
        {
            let mut state = self.flush_state.lock();
            // A process that wrote no usage leaves this to those that do.
            if state.number == 0 || now_ms < state.next_trim_ms {
                return Ok(());
            }
            state.next_trim_ms = now_ms.saturating_add(TRIM_INTERVAL_MS);
        }
        database.write_shared(Durability::Process, |transaction| {
            write::trim(transaction, limits, now_ms)?;
            lost::trim(transaction, now_ms)?;
            if database.is_server() {
                rate_bucket::trim(transaction)?;
            }
            Ok(())
        })
    }

    /// Returns idle leases, so that other processes can borrow the credits.
    fn return_idle(&self) {
        let now_ms = self.now_ms();
        for account in self.all_accounts() {
            let idle_ms = now_ms.saturating_sub(account.used_ms.load(Ordering::Relaxed));
            if idle_ms >= IDLE_TTL.as_millis() as u64 {
                self.retire(account.take_unused_lease());
            }
        }
    }

    /// Ends the leases of dead processes; returns whether there were any.
    pub(crate) fn recover(&self, database: &Database) -> Result<bool, StoreError> {
        let io = |error| StoreError::io(database.location(), error);
        let mut has_recovered = false;
        for mut orphan in journal::orphans(&self.data_dir).map_err(io)? {
            let charges = orphan.charges().map_err(io)?;
            database.write(Durability::Power, |transaction| {
                let recovered = grant::settle_orphan(transaction, &orphan.name, &charges)?;
                count_recovered(transaction, recovered)
            })?;
            orphan.remove().map_err(io)?;
            has_recovered = true;
        }
        // The journals of other machines are not visible here: their processes have a heartbeat instead.
        if !database.is_server() {
            has_recovered |= self.recover_without_journal(database)?;
        }
        Ok(has_recovered)
    }

    /// Ends the leases of processes without a journal, which exist after a backup of the database was restored. A
    /// living process creates its journal before its row in the table, and removes the row before the journal.
    fn recover_without_journal(&self, database: &Database) -> Result<bool, StoreError> {
        let names: Vec<String> = database.read(|connection| {
            connection.query("SELECT journal FROM spenders", params![], |row| row.get(0))
        })?;
        let mut has_recovered = false;
        for name in names.iter().filter(|name| !journal::exists(&self.data_dir, name)) {
            database.write(Durability::Power, |transaction| grant::settle_orphan(transaction, name, &[]))?;
            has_recovered = true;
        }
        Ok(has_recovered)
    }

    /// Flushes all usage and returns all leases. If this fails, another process recovers them from the journal.
    fn close(&self, database: &Database) -> Result<(), StoreError> {
        for account in self.all_accounts() {
            self.retire(account.take_lease());
        }
        self.flush(database)?;
        let journal = self.unwritten.lock().journal.take();
        let Some(journal) = journal else { return Ok(()) };
        database.write_shared(Durability::Process, |transaction| {
            transaction.execute("DELETE FROM spenders WHERE journal = ?1", params![journal.name()])
        })?;
        journal.remove().map_err(|error| StoreError::io(database.location(), error))
    }
}

/// Adds recovered charges to the sums of today.
fn count_recovered(transaction: &Transaction<'_>, recovered: OrphanSpending) -> sql::Result<()> {
    for (team, requests, credits) in recovered {
        let key =
            SumKey { day: transaction.now_ms() / DAY_MS, team: team.into(), key: None, operation: RECOVERED };
        write::add_to_sum(transaction, &key, &DailySum { requests, credits, ..DailySum::default() })?;
    }
    Ok(())
}

/// The thread that flushes the ledger.
#[derive(Debug)]
pub(crate) struct LedgerFlusher(#[expect(dead_code, reason = "dropped, not read")] BackgroundThread);

impl LedgerFlusher {
    pub(crate) fn start(shared: Arc<Shared>) -> io::Result<Self> {
        BackgroundThread::start("websvc-ledger", move |signal| flush_until_stopped(&shared, signal)).map(Self)
    }
}

fn flush_until_stopped(shared: &Shared, signal: &StopSignal) {
    let Shared { database, ledger, .. } = shared;
    while signal.wait(FLUSH_INTERVAL) {
        ledger.return_idle();
        // After a failure everything stays in memory, and the next flush tries again.
        let _ = ledger.flush(database).and_then(|()| ledger.trim(database));
    }
    // If this fails, the next process recovers the charges from the journal.
    let _ = ledger.close(database);
}
