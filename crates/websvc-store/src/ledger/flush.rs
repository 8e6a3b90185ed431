//! From memory to the database: the thread that writes, what is left behind at the end, and what others left behind.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::grant::{self, OrphanSpending};
use super::hold::IDLE;
use super::journal;
use super::usage::{DailySum, SumKey};
use super::write::{self, Batch};
use super::{Ledger, UnwrittenUsage, UsageLimits};
use crate::clock::now_ms;
use crate::database::{Database, Durability, lock};
use crate::error::StoreError;
use crate::store::{Shared, Store};

/// How long usage waits in memory: what a crash may lose of the usage of teams without a budget, and what a power failure
/// may forgive to those with one.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often what is too old is removed.
const TRIM_INTERVAL_MS: u64 = 3_600_000;
/// The operation under which charges are counted that only a journal knew.
const RECOVERED: &str = "recovered";
const DAY_MS: u64 = 86_400_000;

/// State of the flush, which one thread at a time performs.
#[derive(Debug, Default)]
pub(super) struct FlushState {
    /// One that could not be written: it is tried again as it is, so that it counts once even if it was written.
    batch: Option<Batch>,
    number: u64,
    next_trim_ms: u64,
}

impl Store {
    /// Writes the usage that is still in memory. The store does so by itself every second and when its last handle is
    /// dropped.
    ///
    /// # Errors
    /// Failures of the database; the usage is then kept for the next attempt.
    pub fn flush_credits(&self) -> Result<(), StoreError> {
        self.ledger().flush(self.database())
    }

    /// Sets how much of the usage is kept; what is more goes within the hour.
    pub fn limit_usage(&self, limits: UsageLimits) {
        *lock(&self.ledger().limits) = limits;
    }
}

impl Ledger {
    /// Writes what is in memory.
    pub(super) fn flush(&self, database: &Database) -> Result<(), StoreError> {
        let mut writing = lock(&self.writing);
        let limits = *lock(&self.limits);
        // What an earlier attempt left, and what came together since; what comes meanwhile has its own turn.
        for _ in 0..2 {
            if writing.batch.is_none() && !self.take_batch(database, &mut writing)? {
                break;
            }
            let journal = self.journal_name(database)?;
            let Some(batch) = &writing.batch else { break };
            // Charges go to the disk: what a power failure may forgive is younger. Mere counts can be done without.
            let durability =
                if batch.pending.spent.is_empty() { Durability::Process } else { Durability::Power };
            database.write(durability, |transaction| write::write(transaction, &journal, batch, limits))?;
            if let Some(journal) = &mut lock(&self.book).journal {
                journal.applied(batch.last_charge);
            }
            writing.batch = None;
        }
        Ok(())
    }

    /// Takes what has come together as the next batch; returns whether there is anything.
    fn take_batch(&self, database: &Database, writing: &mut FlushState) -> Result<bool, StoreError> {
        if lock(&self.book).pending.is_empty() {
            return Ok(false);
        }
        self.journal_name(database)?;
        let mut book = lock(&self.book);
        let UnwrittenUsage { journal, pending } = &mut *book;
        writing.number += 1;
        writing.batch = Some(Batch {
            number: writing.number,
            last_charge: journal.as_ref().map_or(0, journal::Journal::last),
            pending: std::mem::take(pending),
        });
        Ok(true)
    }

    /// Removes what is too old, from time to time.
    fn trim(&self, database: &Database) -> Result<(), StoreError> {
        let now_ms = now_ms();
        let limits = *lock(&self.limits);
        {
            let mut writing = lock(&self.writing);
            // Whoever never wrote leaves this to those who do.
            if writing.number == 0 || now_ms < writing.next_trim_ms {
                return Ok(());
            }
            writing.next_trim_ms = now_ms.saturating_add(TRIM_INTERVAL_MS);
        }
        database.write(Durability::Process, |transaction| write::trim(transaction, limits, now_ms))
    }

    /// Lets leases go back that nobody uses, for other processes.
    fn return_idle(&self) {
        let now_ms = self.now_ms();
        for account in self.known_accounts() {
            let idle_ms = now_ms.saturating_sub(account.used_ms.load(Ordering::Relaxed));
            if idle_ms >= IDLE.as_millis() as u64 {
                self.retire(account.take_unheld());
            }
        }
    }

    /// Ends the leases of processes that died; returns whether there were any.
    pub(super) fn recover(&self, database: &Database) -> Result<bool, StoreError> {
        let io = |error| StoreError::io(database.path(), error);
        let mut any = false;
        for mut orphan in journal::orphans(&self.data_dir).map_err(io)? {
            let charges = orphan.charges().map_err(io)?;
            database.write(Durability::Power, |transaction| {
                let recovered = grant::settle_orphan(transaction, &orphan.name, &charges)?;
                count(transaction, recovered)
            })?;
            orphan.remove().map_err(io)?;
            any = true;
        }
        Ok(self.recover_lost(database)? || any)
    }

    /// Ends the leases of processes whose journal is gone, as it is when a copy of the database was put in its place. A
    /// living process has its journal before it is in the table, and until after it is out of it.
    fn recover_lost(&self, database: &Database) -> Result<bool, StoreError> {
        let names: Vec<String> = database.read(|connection| {
            connection
                .prepare_cached("SELECT journal FROM spenders")?
                .query_map([], |row| row.get(0))?
                .collect()
        })?;
        let mut any = false;
        for name in names.iter().filter(|name| !journal::exists(&self.data_dir, name)) {
            database.write(Durability::Power, |transaction| grant::settle_orphan(transaction, name, &[]))?;
            any = true;
        }
        Ok(any)
    }

    /// Writes what is left and gives all leases back. What cannot be written now, others recover.
    fn close(&self, database: &Database) -> Result<(), StoreError> {
        for account in self.known_accounts() {
            self.retire(account.take_lease());
        }
        self.flush(database)?;
        let journal = lock(&self.book).journal.take();
        let Some(journal) = journal else { return Ok(()) };
        database.write(Durability::Process, |transaction| {
            transaction.execute("DELETE FROM spenders WHERE journal = ?1", [journal.name()])
        })?;
        journal.remove().map_err(|error| StoreError::io(database.path(), error))
    }
}

/// Counts recovered charges in the sums of today.
fn count(transaction: &rusqlite::Transaction<'_>, recovered: OrphanSpending) -> rusqlite::Result<()> {
    for (team, requests, credits) in recovered {
        let key = SumKey { day: now_ms() / DAY_MS, team: team.into(), key: None, operation: RECOVERED };
        write::add(transaction, &key, &DailySum { requests, credits, ..DailySum::default() })?;
    }
    Ok(())
}

/// The thread that writes; dropping it stops and joins the thread.
#[derive(Debug)]
pub(crate) struct LedgerFlusher {
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl LedgerFlusher {
    pub(crate) fn start(shared: Arc<Shared>) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name("websvc-ledger".to_owned())
            .spawn(move || write_until_stopped(&shared, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for LedgerFlusher {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported by the panic hook.
            let _ = thread.join();
        }
    }
}

fn write_until_stopped(shared: &Shared, stopped: &Receiver<Infallible>) {
    let Shared { database, ledger, .. } = shared;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(INTERVAL) {
        ledger.return_idle();
        // A failure keeps everything in memory, and the next round tries again.
        let _ = ledger.flush(database).and_then(|()| ledger.trim(database));
    }
    // At worst the next process does it, from the journal.
    let _ = ledger.close(database);
}
