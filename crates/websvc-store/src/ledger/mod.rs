//! Credits: what teams may spend, what they have spent, and for what.
//!
//! A team's budget is a grant in the database. A process borrows a part of it (a lease), durably, and holds, spends and
//! releases credits of the lease in memory; a charge is written to the process's journal before its request is answered,
//! and to the database, with the usage, about once a second. So
//!
//! - what was lent to one process is gone from the balance before another can see it: no budget is overspent, whatever
//!   the number of requests and processes;
//! - a process that is killed leaves its leases and its journal: the next one that looks spends what the journal says
//!   and gives the rest back. Every answered request is charged, once; one that was not answered is charged at most
//!   when it died between its charge and its answer;
//! - a power failure may forgive the charges of the last second or so, never more than a lease.
//!
//! Teams without a budget are counted only: a crash may lose the last second of their usage.

mod flush;
mod grant;
mod hold;
mod journal;
mod lease;
mod usage;
mod usage_report;
mod write;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::database::{Database, lock};
use crate::error::StoreError;
use flush::FlushState;
use journal::Journal;
use lease::Account;
use usage::Pending;

pub(crate) use flush::LedgerFlusher;
pub use grant::Budget;
pub(crate) use grant::grant;
pub use hold::{CreditHold, HoldOutcome};
pub use usage::{Usage, UsageItem, UsageRetention, UsageStage};
pub use usage_report::{DailyUsage, DayTotal, LoggedRequest, MonthlyUsage, UsageFilter};
pub use write::UsageLimits;

/// The longest time that a grant made by another process stays unseen, and that a lack of credits is believed.
const REFRESH: Duration = Duration::from_millis(250);

/// In-memory state of the ledger.
#[derive(Debug)]
pub(crate) struct Ledger {
    data_dir: PathBuf,
    started: Instant,
    accounts: RwLock<HashMap<Arc<str>, Arc<Account>>>,
    book: Mutex<UnwrittenUsage>,
    writing: Mutex<FlushState>,
    limits: Mutex<UsageLimits>,
    /// The newest grant of any team, as of at most [`REFRESH`] ago.
    newest_grant: AtomicI64,
    next_check: AtomicU64,
    source: Mutex<Connection>,
}

/// Usage that is not in the database yet.
#[derive(Debug, Default)]
struct UnwrittenUsage {
    /// Made when the process first borrows or writes.
    journal: Option<Journal>,
    pending: Pending,
}

impl Ledger {
    pub(crate) fn new(database: &Database, data_dir: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            data_dir: data_dir.to_owned(),
            started: Instant::now(),
            accounts: RwLock::default(),
            book: Mutex::default(),
            writing: Mutex::default(),
            limits: Mutex::default(),
            newest_grant: AtomicI64::new(0),
            next_check: AtomicU64::new(0),
            source: Mutex::new(database.reader()?),
        })
    }

    /// Returns the account of a team; it is remembered for as long as the store is open.
    fn account(&self, team: &str) -> Arc<Account> {
        let known = self.accounts.read().unwrap_or_else(PoisonError::into_inner).get(team).cloned();
        known.unwrap_or_else(|| {
            let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
            let account = Account::new(team);
            Arc::clone(accounts.entry(Arc::clone(&account.team)).or_insert_with(|| Arc::new(account)))
        })
    }

    fn known_accounts(&self) -> Vec<Arc<Account>> {
        self.accounts.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Returns the newest grant; one thread reads it when it is time to, the others go on with what was true a moment
    /// ago.
    fn newest_grant(&self, now_ms: u64) -> rusqlite::Result<i64> {
        let due = self.next_check.load(Ordering::Acquire);
        let next = now_ms.saturating_add(REFRESH.as_millis() as u64);
        if now_ms >= due
            && self.next_check.compare_exchange(due, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            match grant::newest(&lock(&self.source)) {
                Ok(newest) => drop(self.newest_grant.fetch_max(newest, Ordering::AcqRel)),
                Err(error) => {
                    self.next_check.store(0, Ordering::Release);
                    return Err(error);
                }
            }
        }
        Ok(self.newest_grant.load(Ordering::Acquire))
    }

    /// Looks for new grants with the next request, because this process made one.
    pub(crate) fn forget(&self) {
        self.next_check.store(0, Ordering::Release);
    }

    /// Returns the name of the journal of this process, which is made now if there is none.
    fn journal_name(&self, database: &Database) -> Result<String, StoreError> {
        let mut book = lock(&self.book);
        let journal = match book.journal.take() {
            Some(journal) => journal,
            None => {
                Journal::create(&self.data_dir).map_err(|error| StoreError::io(database.path(), error))?
            }
        };
        Ok(book.journal.insert(journal).name().to_owned())
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
