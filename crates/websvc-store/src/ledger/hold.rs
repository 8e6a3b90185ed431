//! Holding credits before a request is worked on, and charging for it after.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::Transaction;

use super::grant::{self, BorrowAmount, BorrowRequest, BorrowResponse, CurrentLease};
use super::lease::{Account, CreditLease, HoldAttempt, LeaseStatus};
use super::usage::{Pending, Usage};
use super::{Ledger, REFRESH, write};
use crate::clock::now_ms;
use crate::database::{Database, Durability, lock};
use crate::error::StoreError;
use crate::store::Store;
use crate::team::Team;

/// Before so many charges wait to be written, requests of teams with a budget go on; then they wait for the database.
const UNWRITTEN_MAX: u64 = super::journal::PLACES / 2;

/// Outcome of a hold on a team's budget.
#[derive(Debug)]
pub enum HoldOutcome {
    /// The credits are held for it.
    Granted(CreditHold),
    /// They do not reach.
    Insufficient {
        /// Credits that no other request holds.
        remaining: u64,
    },
}

/// Credits held for a request in work. They are free again when it is dropped, and spent when it is settled.
#[derive(Debug)]
pub struct CreditHold {
    store: Store,
    account: Arc<Account>,
    /// `None` for a team without a budget.
    lease: Option<Arc<CreditLease>>,
    credits: u64,
}

impl Store {
    /// Holds credits of a team for a request, if that needs no wait; `None` when [`hold`](Self::hold) has to be asked.
    ///
    /// Takes about a microsecond, so it may be called on an async thread.
    ///
    /// # Errors
    /// Failures of the database; the request must then be refused.
    pub fn try_hold(&self, team: &Team, credits: u64) -> Result<Option<HoldOutcome>, StoreError> {
        let ledger = self.ledger();
        if team.credits.is_none() {
            return Ok(Some(HoldOutcome::Granted(self.hold_unlimited(&team.name))));
        }
        if lock(&ledger.book).journal.as_ref().is_some_and(|journal| journal.unapplied() > UNWRITTEN_MAX) {
            return Ok(None);
        }
        let account = ledger.account(&team.name);
        let now_ms = ledger.now_ms();
        let newest = ledger.newest_grant(now_ms).map_err(|error| self.database().error(error))?;
        Ok(match account.hold(credits, newest, now_ms) {
            HoldAttempt::Held(lease) => Some(HoldOutcome::Granted(self.held(account, Some(lease), credits))),
            HoldAttempt::Short(remaining) => Some(HoldOutcome::Insufficient { remaining }),
            HoldAttempt::Unknown => None,
        })
    }

    /// Holds credits of a team for a request, borrowing from the database what is not there. Blocks for as long as a
    /// disk flush takes.
    ///
    /// # Errors
    /// Failures of the database; the request must then be refused.
    pub fn hold(&self, team: &Team, credits: u64) -> Result<HoldOutcome, StoreError> {
        let ledger = self.ledger();
        let account = ledger.account(&team.name);
        let _drawing = lock(&account.drawing);
        if lock(&ledger.book).journal.as_ref().is_some_and(|journal| journal.unapplied() > UNWRITTEN_MAX) {
            ledger.flush(self.database())?;
        }
        ledger.confirm(self.database(), &account)?;
        // Whoever drew before may have brought enough for this one, too.
        if let Some(held) = self.try_hold(team, credits)? {
            return Ok(held);
        }
        loop {
            let lent = ledger.borrow(self.database(), &account, credits, BorrowAmount::All)?;
            let there = match lent {
                BorrowOutcome::Unlimited => {
                    return Ok(HoldOutcome::Granted(self.held(Arc::clone(&account), None, 0)));
                }
                BorrowOutcome::More(lease) if lease.hold(credits) => {
                    account.used_ms.store(ledger.now_ms(), Ordering::Relaxed);
                    return Ok(HoldOutcome::Granted(self.held(Arc::clone(&account), Some(lease), credits)));
                }
                // Others took it in the same moment.
                BorrowOutcome::More(_) => continue,
                BorrowOutcome::Short(there) => there,
            };
            if !ledger.recover(self.database())? {
                return Ok(HoldOutcome::Insufficient { remaining: there });
            }
        }
    }

    /// Counts a request as in work for a team that spends what it wants, such as one of whom nobody asks a key.
    #[must_use]
    pub fn hold_unlimited(&self, team: &str) -> CreditHold {
        self.held(self.ledger().account(team), None, 0)
    }

    /// Returns how many requests of a team this process works on.
    #[must_use]
    pub fn requests_in_work(&self, team: &str) -> u32 {
        self.ledger().account(team).active.load(Ordering::Relaxed)
    }

    fn held(&self, account: Arc<Account>, lease: Option<Arc<CreditLease>>, credits: u64) -> CreditHold {
        account.active.fetch_add(1, Ordering::Relaxed);
        CreditHold { store: self.clone(), account, lease, credits }
    }
}

impl CreditHold {
    /// Returns whether a request of this price can be settled without asking the database for more: what is held
    /// suffices, or what this process has beside it, or the team has no budget.
    #[must_use]
    pub fn covers(&self, price: u64) -> bool {
        self.lease.as_ref().is_none_or(|lease| price <= self.credits || price - self.credits <= lease.free())
    }

    /// Borrows what is missing to this price, as far as the budget reaches. Blocks for as long as a disk flush takes.
    ///
    /// # Errors
    /// Failures of the database; what is held stays so.
    pub fn extend(&self, price: u64) -> Result<(), StoreError> {
        let missing = price.saturating_sub(self.credits);
        if self.lease.is_none() || missing == 0 {
            return Ok(());
        }
        let _drawing = lock(&self.account.drawing);
        self.store.ledger().borrow(self.store.database(), &self.account, missing, BorrowAmount::Partial)?;
        Ok(())
    }

    /// Charges for the request and notes it, and returns what was charged: its price, or as much of it as is held and
    /// free. The charge outlives the process when this returns.
    ///
    /// Takes a few microseconds, so it may be called on an async thread.
    pub fn settle(mut self, usage: Usage) -> u64 {
        let price = usage.price();
        let ledger = self.store.ledger();
        let Some(lease) = &self.lease else {
            ledger.note(&self.account, None, price, usage);
            return price;
        };
        self.credits += lease.hold_some(price.saturating_sub(self.credits));
        let charged = price.min(self.credits);
        ledger.note(&self.account, Some(lease), charged, usage);
        // After the note: a lease without holds may go back, and all that was spent of it must be known then.
        ledger.release(lease, std::mem::take(&mut self.credits), charged);
        self.lease = None;
        charged
    }

    /// Charges for a request as [`settle`](Self::settle) does, as a part of a transaction: the charge is durable when that
    /// is, and otherwise never was. [`settled`](Self::settled) has to follow the commit.
    pub(crate) fn settle_in_transaction(
        &mut self,
        transaction: &Transaction<'_>,
        usage: Usage,
    ) -> rusqlite::Result<u64> {
        let price = usage.price();
        let mut pending = Pending::default();
        let charged = match &self.lease {
            None => price,
            Some(lease) => {
                self.credits += lease.hold_some(price.saturating_sub(self.credits));
                let charged = price.min(self.credits);
                pending.spent.insert(lease.id, charged);
                charged
            }
        };
        pending.note(&self.account.team, charged, now_ms(), usage);
        let limits = *lock(&self.store.ledger().limits);
        write::note(transaction, &pending, limits)?;
        Ok(charged)
    }

    /// Ends a hold of which `charged` credits were spent by a transaction that is committed.
    pub(crate) fn finish_settlement(mut self, charged: u64) {
        if let Some(lease) = self.lease.take() {
            self.store.ledger().release(&lease, std::mem::take(&mut self.credits), charged);
        }
    }
}

impl Drop for CreditHold {
    fn drop(&mut self) {
        if let Some(lease) = &self.lease {
            self.store.ledger().release(lease, self.credits, 0);
        }
        self.account.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Outcome of an attempt to borrow.
enum BorrowOutcome {
    /// The lease that was filled.
    More(Arc<CreditLease>),
    /// Only so many are there.
    Short(u64),
    Unlimited,
}

impl Ledger {
    /// Borrows for an account, whose `drawing` the caller holds.
    fn borrow(
        &self,
        database: &Database,
        account: &Account,
        credits: u64,
        portion: BorrowAmount,
    ) -> Result<BorrowOutcome, StoreError> {
        let journal = self.journal_name(database)?;
        let held = account.lease();
        let has = held.as_ref().map(|lease| CurrentLease {
            lease: lease.id,
            grant: lease.grant,
            free: lease.free(),
        });
        let wish = BorrowRequest { team: &account.team, journal: &journal, credits, has, portion };
        let lent = database.write(Durability::Power, |transaction| grant::borrow(transaction, wish))?;
        match lent {
            BorrowResponse::Unlimited => {
                self.retire(account.take_lease());
                Ok(BorrowOutcome::Unlimited)
            }
            BorrowResponse::Short { grant, balance, newest } => {
                let free = match has {
                    Some(has) if has.grant == grant => has.free,
                    Some(_) | None => {
                        self.retire(account.take_lease());
                        0
                    }
                };
                self.newest_grant.fetch_max(newest, Ordering::AcqRel);
                let until_ms = self.now_ms().saturating_add(REFRESH.as_millis() as u64);
                account.remember_shortfall(newest, balance, until_ms);
                Ok(BorrowOutcome::Short(free.saturating_add(balance)))
            }
            BorrowResponse::More { lease, grant, credits, newest } => {
                let lease = match held {
                    Some(held) if held.id == lease => held,
                    Some(_) | None => Arc::new(CreditLease::new(lease, grant)),
                };
                lease.fill(credits);
                self.newest_grant.fetch_max(newest, Ordering::AcqRel);
                self.retire(account.put(&lease, newest));
                Ok(BorrowOutcome::More(lease))
            }
        }
    }

    /// Looks whether the lease of an account is still of the current grant: the new one may be of another team.
    fn confirm(&self, database: &Database, account: &Account) -> Result<(), StoreError> {
        let Some(lease) = account.lease() else { return Ok(()) };
        // In this order: a grant that comes in between is another one than that of the lease.
        let (newest, current) = database.read(|connection| {
            Ok((grant::newest(connection)?, grant::current(connection, &account.team)?))
        })?;
        if current == Some(lease.grant) {
            self.newest_grant.fetch_max(newest, Ordering::AcqRel);
            account.confirm(newest);
        }
        Ok(())
    }

    /// Lets a lease go back to the database, now or when nothing is held of it.
    pub(super) fn retire(&self, lease: Option<Arc<CreditLease>>) {
        if let Some(lease) = lease
            && lease.retire() == LeaseStatus::Returnable
        {
            lock(&self.book).pending.returned.push(lease.id);
        }
    }

    fn release(&self, lease: &CreditLease, held: u64, spent: u64) {
        if lease.release(held, spent) == LeaseStatus::Returnable {
            lock(&self.book).pending.returned.push(lease.id);
        }
    }

    fn note(&self, account: &Account, lease: Option<&CreditLease>, charged: u64, usage: Usage) {
        let at_ms = now_ms();
        let mut book = lock(&self.book);
        if let Some(lease) = lease.filter(|_| charged > 0) {
            if let Some(journal) = &mut book.journal {
                // A failure loses the charge only if the process dies within the second: it is in memory all the same.
                let _ = journal.append(lease.id, charged);
            }
            let spent = book.pending.spent.entry(lease.id).or_default();
            *spent = spent.saturating_add(charged);
        }
        book.pending.note(&account.team, charged, at_ms, usage);
    }
}

/// How long a lease may be unused before it goes back.
pub(super) const IDLE: Duration = Duration::from_secs(10);
