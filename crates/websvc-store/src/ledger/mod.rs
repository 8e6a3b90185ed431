//! Credits: budgets of teams, holds and charges of requests, and the usage behind them.
//!
//! A team's budget is a grant in the database. A process borrows a part of it (a lease), durably. It holds, charges and
//! releases credits of the lease in memory. A charge is written to the journal of the process before the response is
//! sent, and to the database, with the usage, about once a second. So:
//!
//! - Credits that are leased to one process leave the balance before another process can see them. No budget is overspent,
//!   whatever the number of requests and processes.
//! - A killed process leaves its leases and its journal. The next process that recovers them charges what is in the
//!   journal, and returns the rest. So every request with a response is charged once. A request without a response is
//!   charged only if the process died between the charge and the response.
//! - A power failure may lose the charges of about the last second, at most those of one lease.
//! - On a server, the other processes return the leases of a process that is silent for [`SPENDER_LOST_AFTER`]. Charges
//!   in its journal are then late: they are taken from the balance, as far as it goes, when its data directory is used
//!   again.
//!
//! The usage of teams without a budget is only counted; a crash may lose the last second of it.

mod flush;
mod grant;
mod hold;
mod journal;
mod lease;
mod lost;
mod usage;
mod usage_report;
mod write;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};

use crate::clock::Clock;
use crate::database::{Database, Reader};
use crate::error::StoreError;
use crate::sql;
use crate::sql::postgres::ServerState;
use flush::FlushState;
use journal::Journal;
use lease::Account;
use usage::Pending;

pub(crate) use flush::LedgerFlusher;
pub use grant::Budget;
pub(crate) use grant::grant;
pub(crate) use hold::Charges;
pub use hold::{CreditHold, HoldOutcome};
pub(crate) use lost::SPENDER_LOST_AFTER;
pub use usage::{Usage, UsageItem, UsageRetention, UsageStage};
pub use usage_report::{DailyUsage, LoggedRequest, MonthlyUsage, UsageFilter};
pub use write::UsageLimits;

/// Maximum time until a grant by another process is seen, and until a shortfall is checked again.
const REFRESH: Duration = Duration::from_millis(250);

/// In-memory state of the ledger.
#[derive(Debug)]
pub(crate) struct Ledger {
    data_dir: PathBuf,
    started: Instant,
    clock: Clock,
    accounts: RwLock<HashMap<Arc<str>, Arc<Account>>>,
    unwritten: Mutex<UnwrittenUsage>,
    flush_state: Mutex<FlushState>,
    limits: Mutex<UsageLimits>,
    /// Rows that were written to the log since it was last trimmed to its limit.
    log_growth: AtomicU64,
    /// The newest grant of any team, as of at most [`REFRESH`] ago.
    newest_grant: AtomicI64,
    /// Time of the next read of the newest grant, in milliseconds since `started`.
    next_check: AtomicU64,
    /// The state of the server, if the database is on one. Its watch reads the newest grant then.
    server: Option<Arc<ServerState>>,
    reader: Mutex<Reader>,
}

/// Usage that is not in the database yet.
#[derive(Debug, Default)]
struct UnwrittenUsage {
    /// Created when the process first borrows or writes.
    journal: Option<Journal>,
    pending: Pending,
}

impl Ledger {
    pub(crate) fn new(database: &Arc<Database>, data_dir: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            data_dir: data_dir.to_owned(),
            started: Instant::now(),
            clock: database.clock().clone(),
            accounts: RwLock::default(),
            unwritten: Mutex::default(),
            flush_state: Mutex::default(),
            limits: Mutex::default(),
            log_growth: AtomicU64::new(0),
            newest_grant: AtomicI64::new(0),
            next_check: AtomicU64::new(0),
            server: database.server_state().cloned(),
            reader: Mutex::new(database.reader()?),
        })
    }

    /// Returns the account of a team. It stays in memory while the store is open.
    fn account(&self, team: &str) -> Arc<Account> {
        let account = self.accounts.read().get(team).cloned();
        account.unwrap_or_else(|| {
            let mut accounts = self.accounts.write();
            let account = Account::new(team);
            Arc::clone(accounts.entry(Arc::clone(&account.team)).or_insert_with(|| Arc::new(account)))
        })
    }

    fn all_accounts(&self) -> Vec<Arc<Account>> {
        self.accounts.read().values().cloned().collect()
    }

    /// Records the number of the newest grant that the watch of a server has read.
    pub(crate) fn record_newest_grant(&self, newest: i64) {
        self.newest_grant.fetch_max(newest, Ordering::AcqRel);
    }

    /// Returns the number of the newest grant. When a check is due, one thread reads it from the database; the others
    /// use the value of the last check meanwhile.
    fn newest_grant(&self, now_ms: u64) -> sql::Result<i64> {
        if let Some(server) = &self.server {
            server.check_cache()?;
            return Ok(self.newest_grant.load(Ordering::Acquire));
        }
        let due = self.next_check.load(Ordering::Acquire);
        let next = now_ms.saturating_add(REFRESH.as_millis() as u64);
        if now_ms >= due
            && self.next_check.compare_exchange(due, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            match self.reader.lock().read(grant::newest) {
                Ok(newest) => drop(self.newest_grant.fetch_max(newest, Ordering::AcqRel)),
                Err(error) => {
                    self.next_check.store(0, Ordering::Release);
                    return Err(error);
                }
            }
        }
        Ok(self.newest_grant.load(Ordering::Acquire))
    }

    /// Makes the next request know the newest grant, because this process created one.
    pub(crate) fn invalidate(&self, database: &Database) {
        if self.server.is_some() {
            // After a failure the watch reads it.
            if let Ok(newest) = database.read(grant::newest) {
                self.record_newest_grant(newest);
            }
        }
        self.next_check.store(0, Ordering::Release);
    }

    /// Returns the name of the journal of this process. Creates the journal if there is none.
    fn journal_name(&self, database: &Database) -> Result<String, StoreError> {
        let mut unwritten = self.unwritten.lock();
        let journal = match unwritten.journal.take() {
            Some(journal) => journal,
            None => {
                Journal::create(&self.data_dir).map_err(|error| StoreError::io(database.location(), error))?
            }
        };
        Ok(unwritten.journal.insert(journal).name().to_owned())
    }

    /// Returns the milliseconds since the ledger was opened.
    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
