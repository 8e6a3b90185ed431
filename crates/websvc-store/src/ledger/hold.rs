//! Holds of credits before a request is executed, and its charge afterwards.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::grant::{self, BorrowAmount, BorrowRequest, BorrowResponse, CurrentLease};
use super::lease::{Account, CreditLease, HoldAttempt, LeaseStatus};
use super::usage::{Pending, Usage};
use super::{Ledger, REFRESH};
use crate::database::{Database, Durability, Locked};
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::team::Team;

/// Number of unwritten charges above which requests of teams with a budget wait until the database is written.
const MAX_UNWRITTEN: u64 = super::journal::SLOTS / 2;

/// Outcome of a hold on a team's budget.
#[derive(Debug)]
pub enum HoldOutcome {
    /// The credits are held.
    Granted(CreditHold),
    /// The team does not have enough credits.
    Insufficient {
        /// Credits that no other request holds.
        remaining: u64,
    },
}

/// Credits held for a request in flight. Dropping the hold releases them; [`settle`](Self::settle) charges for the
/// request.
#[derive(Debug)]
pub struct CreditHold {
    store: Store,
    account: Arc<Account>,
    /// `None` for a team without a budget.
    lease: Option<Arc<CreditLease>>,
    credits: u64,
}

impl Store {
    /// Holds credits of a team for a request without blocking; `None` if only [`hold`](Self::hold) can decide.
    ///
    /// Takes about a microsecond, so it may be called on an async thread.
    ///
    /// # Errors
    /// Failures of the database; then the request must be rejected.
    pub fn try_hold(&self, team: &Team, credits: u64) -> Result<Option<HoldOutcome>, StoreError> {
        let ledger = self.ledger();
        if team.credits.is_none() {
            return Ok(Some(HoldOutcome::Granted(self.hold_unlimited(&team.name))));
        }
        if ledger.has_too_many_unwritten_charges() {
            return Ok(None);
        }
        let account = ledger.account(&team.name);
        let now_ms = ledger.now_ms();
        let newest = ledger.newest_grant(now_ms).map_err(|error| self.database().error(error))?;
        Ok(match account.hold(credits, newest, now_ms) {
            HoldAttempt::Held(lease) => {
                Some(HoldOutcome::Granted(self.new_hold(account, Some(lease), credits)))
            }
            HoldAttempt::Insufficient(remaining) => Some(HoldOutcome::Insufficient { remaining }),
            HoldAttempt::Unknown => None,
        })
    }

    /// Holds credits of a team for a request. Borrows missing credits from the database, which blocks for as long as a
    /// disk flush takes.
    ///
    /// # Errors
    /// Failures of the database; then the request must be rejected.
    pub fn hold(&self, team: &Team, credits: u64) -> Result<HoldOutcome, StoreError> {
        let ledger = self.ledger();
        let account = ledger.account(&team.name);
        let _borrowing = account.borrow_lock.lock();
        if ledger.has_too_many_unwritten_charges() {
            ledger.flush(self.database())?;
        }
        ledger.confirm(self.database(), &account)?;
        // The thread that had the lock before may have borrowed enough for this request too.
        if let Some(outcome) = self.try_hold(team, credits)? {
            return Ok(outcome);
        }
        loop {
            let remaining = match ledger.borrow(self.database(), &account, credits, BorrowAmount::All)? {
                BorrowOutcome::Unlimited => {
                    return Ok(HoldOutcome::Granted(self.new_hold(Arc::clone(&account), None, 0)));
                }
                BorrowOutcome::Borrowed(lease) if lease.hold(credits) => {
                    account.used_ms.store(ledger.now_ms(), Ordering::Relaxed);
                    let hold = self.new_hold(Arc::clone(&account), Some(lease), credits);
                    return Ok(HoldOutcome::Granted(hold));
                }
                // Other requests held the credits in the meantime.
                BorrowOutcome::Borrowed(_) => continue,
                BorrowOutcome::Insufficient(remaining) => remaining,
            };
            if !ledger.recover(self.database())? {
                return Ok(HoldOutcome::Insufficient { remaining });
            }
        }
    }

    /// Counts a request as in flight without holding credits, for a team without a budget and for anonymous requests.
    #[must_use]
    pub fn hold_unlimited(&self, team: &str) -> CreditHold {
        self.new_hold(self.ledger().account(team), None, 0)
    }

    /// Returns the number of requests of a team that are in flight in this process.
    #[must_use]
    pub fn requests_in_flight(&self, team: &str) -> u32 {
        self.ledger().account(team).in_flight.load(Ordering::Relaxed)
    }

    /// Returns the numbers of requests in flight in this process, of the teams that have some.
    #[must_use]
    pub fn requests_in_flight_by_team(&self) -> Vec<(String, u32)> {
        let accounts = self.ledger().all_accounts();
        let counts =
            accounts.iter().map(|account| (&account.team, account.in_flight.load(Ordering::Relaxed)));
        counts.filter(|(_, count)| *count > 0).map(|(team, count)| (team.to_string(), count)).collect()
    }

    /// Returns whether credits of a team may become free without a new grant: requests in flight hold some, or another
    /// process has leased some.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn may_release_credits(&self, team: &str) -> Result<bool, StoreError> {
        if self.requests_in_flight(team) > 0 {
            return Ok(true);
        }
        if !self.is_shared() {
            return Ok(false);
        }
        let journal = self.ledger().journal_name(self.database())?;
        let sql = "SELECT 1 FROM leases JOIN grants ON grants.id = leases.grant_id \
                   WHERE grants.team = ?1 AND current = 1 AND rest > 0 AND journal <> ?2 LIMIT 1";
        self.database().read(|connection| connection.exists(sql, params![team, journal]))
    }

    fn new_hold(&self, account: Arc<Account>, lease: Option<Arc<CreditLease>>, credits: u64) -> CreditHold {
        account.in_flight.fetch_add(1, Ordering::Relaxed);
        CreditHold { store: self.clone(), account, lease, credits }
    }
}

impl CreditHold {
    /// Returns the held credits; `None` for a team without a budget.
    #[must_use]
    pub fn credits(&self) -> Option<u64> {
        self.lease.as_ref().map(|_lease| self.credits)
    }

    /// Returns whether a request of this price can be settled without access to the database: the held credits and the
    /// free ones of this process suffice, or the team has no budget.
    #[must_use]
    pub fn covers(&self, price: u64) -> bool {
        self.lease.as_ref().is_none_or(|lease| price <= self.credits || price - self.credits <= lease.free())
    }

    /// Adds the credits of another hold of the team, so that one charge can spend both. If the team got a new budget
    /// between the two holds, the larger one remains and the other one is released, because a charge is of one budget.
    pub fn absorb(&mut self, mut other: CreditHold) {
        match (&self.lease, &other.lease) {
            (Some(own), Some(others)) if Arc::ptr_eq(own, others) => {
                self.credits += std::mem::take(&mut other.credits);
            }
            (None, None) => {}
            (Some(_) | None, Some(_)) | (Some(_), None) => {
                if other.credits > self.credits {
                    std::mem::swap(self, &mut other);
                }
            }
        }
    }

    /// Borrows the credits that are missing to this price, as far as the budget permits. Blocks for as long as a disk
    /// flush takes.
    ///
    /// # Errors
    /// Failures of the database; then the hold is unchanged.
    pub fn extend(&self, price: u64) -> Result<(), StoreError> {
        let missing = price.saturating_sub(self.credits);
        if self.lease.is_none() || missing == 0 {
            return Ok(());
        }
        let _borrowing = self.account.borrow_lock.lock();
        self.store.ledger().borrow(self.store.database(), &self.account, missing, BorrowAmount::Partial)?;
        Ok(())
    }

    /// Charges for the request and records its usage. Returns the charged credits: the price, or the held and free
    /// credits if these are fewer. When this returns, the charge survives the end of the process.
    ///
    /// Takes a few microseconds, so it may be called on an async thread.
    pub fn settle(mut self, usage: Usage) -> u64 {
        let price = usage.price();
        let ledger = self.store.ledger();
        let Some(lease) = &self.lease else {
            ledger.record(&self.account, None, price, usage);
            return price;
        };
        self.credits += lease.hold_up_to(price.saturating_sub(self.credits));
        let charged = price.min(self.credits);
        ledger.record(&self.account, Some(lease), charged, usage);
        // After the record: a lease without holds may be returned, and all its charges must be recorded then.
        ledger.release(lease, std::mem::take(&mut self.credits), charged);
        self.lease = None;
        charged
    }

    /// Charges for a request as [`settle`](Self::settle) does, but as part of a transaction: the charge is stored with
    /// the transaction that writes `charges`, or not at all. After the commit, the caller must call
    /// [`finish_settlement`](Self::finish_settlement).
    pub(crate) fn settle_in_transaction(&mut self, charges: &mut Charges, usage: Usage) -> u64 {
        let charged = self.reserve(usage.price());
        self.charge_in_transaction(charges, charged, usage);
        charged
    }

    /// Returns the credits that a request of this price would be charged: the price, or the held and free credits if these
    /// are fewer. They are held from now on.
    pub(crate) fn reserve(&mut self, price: u64) -> u64 {
        let Some(lease) = &self.lease else { return price };
        self.credits += lease.hold_up_to(price.saturating_sub(self.credits));
        price.min(self.credits)
    }

    /// Charges [reserved](Self::reserve) credits for a request, as [`settle_in_transaction`](Self::settle_in_transaction)
    /// does.
    pub(crate) fn charge_in_transaction(&self, charges: &mut Charges, charged: u64, usage: Usage) {
        if let Some(lease) = &self.lease {
            let spent = charges.0.spent.entry(lease.spending()).or_default();
            *spent = spent.saturating_add(charged);
        }
        let now_ms = self.store.now_ms();
        charges.0.record(&self.account.team, charged, now_ms, usage);
    }

    /// Ends a hold of which a committed transaction charged `charged` credits.
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
        self.account.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Charges that one transaction writes.
#[derive(Debug, Default)]
pub(crate) struct Charges(Pending);

impl Charges {
    /// Writes the charges with the commit of a transaction.
    pub(crate) fn write(&self, transaction: &Transaction<'_>, store: &Store) -> sql::Result<()> {
        let ledger = store.ledger();
        ledger.write_pending(transaction, &self.0)
    }
}

/// Outcome of an attempt to borrow.
enum BorrowOutcome {
    /// The lease with the borrowed credits.
    Borrowed(Arc<CreditLease>),
    /// Only this many credits remain.
    Insufficient(u64),
    /// The team has no budget.
    Unlimited,
}

impl Ledger {
    fn has_too_many_unwritten_charges(&self) -> bool {
        self.unwritten.lock().journal.as_ref().is_some_and(|journal| journal.unapplied() > MAX_UNWRITTEN)
    }

    /// Borrows credits for an account whose `borrow_lock` the caller holds.
    fn borrow(
        &self,
        database: &Database,
        account: &Account,
        credits: u64,
        amount: BorrowAmount,
    ) -> Result<BorrowOutcome, StoreError> {
        let journal = self.journal_name(database)?;
        let lease = account.lease();
        let current =
            lease.as_ref().map(|lease| CurrentLease { id: lease.id, grant: lease.grant, free: lease.free() });
        let min_loan = if database.is_server() { grant::MIN_SHARED_LOAN } else { grant::MIN_LOAN };
        let request = BorrowRequest {
            team: &account.team,
            journal: &journal,
            credits,
            lease: current,
            amount,
            min_loan,
        };
        let response =
            database.write_locked(Locked::Team(&account.team), Durability::Power, |transaction| {
                grant::borrow(transaction, request)
            })?;
        match response {
            BorrowResponse::Unlimited => {
                self.retire(account.take_lease());
                Ok(BorrowOutcome::Unlimited)
            }
            BorrowResponse::Insufficient { grant, balance, newest } => {
                let free = match current {
                    Some(current) if current.grant == grant => current.free,
                    Some(_) | None => {
                        self.retire(account.take_lease());
                        0
                    }
                };
                self.newest_grant.fetch_max(newest, Ordering::AcqRel);
                let until_ms = self.now_ms().saturating_add(REFRESH.as_millis() as u64);
                account.remember_shortfall(newest, balance, until_ms);
                Ok(BorrowOutcome::Insufficient(free.saturating_add(balance)))
            }
            BorrowResponse::Borrowed { lease: id, grant, credits, newest } => {
                let lease = match lease {
                    Some(lease) if lease.id == id => lease,
                    Some(_) | None => Arc::new(CreditLease::new(id, grant)),
                };
                lease.add(credits);
                self.newest_grant.fetch_max(newest, Ordering::AcqRel);
                self.retire(account.replace_lease(&lease, newest));
                Ok(BorrowOutcome::Borrowed(lease))
            }
        }
    }

    /// Checks whether the lease of an account is still of the current grant: a new grant may be that of another team.
    fn confirm(&self, database: &Database, account: &Account) -> Result<(), StoreError> {
        let Some(lease) = account.lease() else { return Ok(()) };
        // In this order: if the team gets a grant between the two reads, `current` is not that of the lease.
        let (newest, current) = database.read(|connection| {
            Ok((grant::newest(connection)?, grant::current(connection, &account.team)?))
        })?;
        if current == Some(lease.grant) {
            self.newest_grant.fetch_max(newest, Ordering::AcqRel);
            account.confirm(newest);
        }
        Ok(())
    }

    /// Returns a lease to the database, now or when its last hold ends.
    pub(super) fn retire(&self, lease: Option<Arc<CreditLease>>) {
        if let Some(lease) = lease
            && lease.retire() == LeaseStatus::Returnable
        {
            self.unwritten.lock().pending.returned.insert(lease.spending());
        }
    }

    fn release(&self, lease: &CreditLease, held: u64, spent: u64) {
        if lease.release(held, spent) == LeaseStatus::Returnable {
            self.unwritten.lock().pending.returned.insert(lease.spending());
        }
    }

    fn record(&self, account: &Account, lease: Option<&CreditLease>, charged: u64, usage: Usage) {
        let at_ms = self.clock.now_ms();
        let mut unwritten = self.unwritten.lock();
        if let Some(lease) = lease.filter(|_| charged > 0) {
            if let Some(journal) = &mut unwritten.journal {
                // After a failure the charge is only in memory: it is lost if the process dies before the next flush.
                let _ = journal.append(lease.id, charged);
            }
            let spent = unwritten.pending.spent.entry(lease.spending()).or_default();
            *spent = spent.saturating_add(charged);
        }
        unwritten.pending.record(&account.team, charged, at_ms, usage);
    }
}

/// How long a lease may be unused before it is returned.
pub(super) const IDLE_TTL: Duration = Duration::from_secs(10);
