//! Credits in memory: the lease of each team, and the holds of requests on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::usage::SpendingLease;

/// Credits of one grant that the database has leased to this process.
#[derive(Debug)]
pub(super) struct CreditLease {
    pub(super) id: i64,
    pub(super) grant: i64,
    balance: Mutex<LeaseBalance>,
}

#[derive(Debug, Default)]
struct LeaseBalance {
    /// Credits that no request holds.
    free: u64,
    /// Credits that requests in flight hold.
    held: u64,
    /// True if no more credits may be held: the lease is returned as soon as the last hold ends.
    retired: bool,
}

/// The state of a lease after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseStatus {
    /// It stays with this process.
    Active,
    /// It must be returned to the database: it is retired, and no hold is left.
    Returnable,
}

impl CreditLease {
    pub(super) fn new(id: i64, grant: i64) -> Self {
        Self { id, grant, balance: Mutex::default() }
    }

    pub(super) fn spending(&self) -> SpendingLease {
        SpendingLease { grant: self.grant, lease: self.id }
    }

    /// Adds credits that the database has leased.
    pub(super) fn add(&self, credits: u64) {
        let mut balance = self.balance.lock();
        balance.free = balance.free.saturating_add(credits);
    }

    pub(super) fn free(&self) -> u64 {
        self.balance.lock().free
    }

    /// Holds `credits` if all of them are free.
    pub(super) fn hold(&self, credits: u64) -> bool {
        let mut balance = self.balance.lock();
        let suffices = !balance.retired && balance.free >= credits;
        if suffices {
            balance.free -= credits;
            balance.held += credits;
        }
        suffices
    }

    /// Holds up to `credits` free credits, and returns how many.
    pub(super) fn hold_up_to(&self, credits: u64) -> u64 {
        let mut balance = self.balance.lock();
        let held = credits.min(balance.free);
        balance.free -= held;
        balance.held += held;
        held
    }

    /// Ends a hold of `held` credits of which `spent` were charged.
    pub(super) fn release(&self, held: u64, spent: u64) -> LeaseStatus {
        let mut balance = self.balance.lock();
        balance.held -= held;
        balance.free += held - spent;
        if balance.retired && balance.held == 0 { LeaseStatus::Returnable } else { LeaseStatus::Active }
    }

    /// Permits no more holds.
    pub(super) fn retire(&self) -> LeaseStatus {
        let mut balance = self.balance.lock();
        balance.retired = true;
        if balance.held == 0 { LeaseStatus::Returnable } else { LeaseStatus::Active }
    }

    /// Retires the lease if nothing is held, and returns whether it did.
    pub(super) fn retire_if_unused(&self) -> bool {
        let mut balance = self.balance.lock();
        if balance.held == 0 {
            balance.retired = true;
        }
        balance.held == 0
    }
}

/// The credits of a team in this process.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) team: Arc<str>,
    /// Number of requests in flight.
    pub(super) in_flight: AtomicU32,
    /// Time of the last hold, in milliseconds since the ledger was opened.
    pub(super) used_ms: AtomicU64,
    slot: Mutex<LeaseSlot>,
    /// Locked by the thread that borrows from the database, so that the others wait for its credits.
    pub(super) borrow_lock: Mutex<()>,
}

#[derive(Debug, Default)]
struct LeaseSlot {
    lease: Option<Arc<CreditLease>>,
    /// The newest grant of any team when this lease was last known to be of the team's current grant.
    confirmed_at: i64,
    shortfall: Option<ShortfallMemo>,
}

/// A record that the database did not have enough credits, valid for a short time.
#[derive(Debug, Clone, Copy)]
struct ShortfallMemo {
    until_ms: u64,
    newest_grant: i64,
    /// The balance of the grant, without the lease.
    balance: u64,
}

/// Outcome of a hold without access to the database.
#[derive(Debug)]
pub(super) enum HoldAttempt {
    Held(Arc<CreditLease>),
    /// Only this many credits remain.
    Insufficient(u64),
    /// Only the database can decide.
    Unknown,
}

impl Account {
    pub(super) fn new(team: &str) -> Self {
        Self {
            team: team.into(),
            in_flight: AtomicU32::new(0),
            used_ms: AtomicU64::new(0),
            slot: Mutex::default(),
            borrow_lock: Mutex::default(),
        }
    }

    /// Holds credits of the lease, if it is of the current grant and has enough.
    pub(super) fn hold(&self, credits: u64, newest_grant: i64, now_ms: u64) -> HoldAttempt {
        let slot = self.slot.lock();
        let free = match &slot.lease {
            Some(lease) if slot.confirmed_at == newest_grant => {
                if lease.hold(credits) {
                    self.used_ms.store(now_ms, Ordering::Relaxed);
                    return HoldAttempt::Held(Arc::clone(lease));
                }
                lease.free()
            }
            Some(_) | None => 0,
        };
        match slot.shortfall {
            Some(shortfall) if shortfall.newest_grant == newest_grant && now_ms < shortfall.until_ms => {
                let remaining = free.saturating_add(shortfall.balance);
                // Credits that were released meanwhile may suffice together with the balance.
                if remaining < credits { HoldAttempt::Insufficient(remaining) } else { HoldAttempt::Unknown }
            }
            Some(_) | None => HoldAttempt::Unknown,
        }
    }

    pub(super) fn lease(&self) -> Option<Arc<CreditLease>> {
        self.slot.lock().lease.clone()
    }

    /// Replaces the lease, and returns the previous one if it is a different one.
    pub(super) fn replace_lease(
        &self,
        lease: &Arc<CreditLease>,
        newest_grant: i64,
    ) -> Option<Arc<CreditLease>> {
        let mut slot = self.slot.lock();
        slot.confirmed_at = newest_grant;
        slot.shortfall = None;
        let previous = slot.lease.replace(Arc::clone(lease));
        previous.filter(|previous| previous.id != lease.id)
    }

    /// Records that the lease is of the current grant.
    pub(super) fn confirm(&self, newest_grant: i64) {
        self.slot.lock().confirmed_at = newest_grant;
    }

    /// Records that the database has only `balance` more credits, and that the lease is of the current grant.
    pub(super) fn remember_shortfall(&self, newest_grant: i64, balance: u64, until_ms: u64) {
        let mut slot = self.slot.lock();
        slot.confirmed_at = newest_grant;
        slot.shortfall = Some(ShortfallMemo { until_ms, newest_grant, balance });
    }

    /// Removes the lease from the account.
    pub(super) fn take_lease(&self) -> Option<Arc<CreditLease>> {
        self.slot.lock().lease.take()
    }

    /// Removes the lease from the account, unless some of it is held or a thread is borrowing more.
    pub(super) fn take_unused_lease(&self) -> Option<Arc<CreditLease>> {
        let _borrowing = self.borrow_lock.try_lock()?;
        let mut slot = self.slot.lock();
        if slot.lease.as_ref().is_some_and(|lease| lease.retire_if_unused()) {
            slot.lease.take()
        } else {
            None
        }
    }
}
