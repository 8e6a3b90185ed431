//! Credits that a team may spend without access to the database: leases, and the holds of requests on them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use crate::database::lock;

/// Credits of one grant that the database has lent to this process.
#[derive(Debug)]
pub(super) struct CreditLease {
    pub(super) id: i64,
    pub(super) grant: i64,
    sums: Mutex<LeaseBalance>,
}

#[derive(Debug, Default)]
struct LeaseBalance {
    /// Promised to nobody.
    free: u64,
    /// Promised to requests in work.
    held: u64,
    /// Nothing new is taken from it: it goes back as soon as nothing is held.
    retired: bool,
}

/// Next state of a lease: kept, or returned to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseStatus {
    /// It stays.
    Kept,
    /// It goes back: it is retired, and this was the last hold on it.
    Returnable,
}

impl CreditLease {
    pub(super) fn new(id: i64, grant: i64) -> Self {
        Self { id, grant, sums: Mutex::default() }
    }

    /// Adds what the database lent.
    pub(super) fn fill(&self, credits: u64) {
        let mut sums = lock(&self.sums);
        sums.free = sums.free.saturating_add(credits);
    }

    pub(super) fn free(&self) -> u64 {
        lock(&self.sums).free
    }

    /// Holds `credits` if all of them are free.
    pub(super) fn hold(&self, credits: u64) -> bool {
        let mut sums = lock(&self.sums);
        let fits = !sums.retired && sums.free >= credits;
        if fits {
            sums.free -= credits;
            sums.held += credits;
        }
        fits
    }

    /// Holds as many as are free, up to `credits`, and returns how many.
    pub(super) fn hold_some(&self, credits: u64) -> u64 {
        let mut sums = lock(&self.sums);
        let some = credits.min(sums.free);
        sums.free -= some;
        sums.held += some;
        some
    }

    /// Ends a hold of `held` credits of which `spent` are gone.
    pub(super) fn release(&self, held: u64, spent: u64) -> LeaseStatus {
        let mut sums = lock(&self.sums);
        sums.held -= held;
        sums.free += held - spent;
        if sums.retired && sums.held == 0 { LeaseStatus::Returnable } else { LeaseStatus::Kept }
    }

    /// Takes nothing new from it.
    pub(super) fn retire(&self) -> LeaseStatus {
        let mut sums = lock(&self.sums);
        sums.retired = true;
        if sums.held == 0 { LeaseStatus::Returnable } else { LeaseStatus::Kept }
    }

    /// Retires it when nothing is held, and returns whether it did.
    pub(super) fn retire_unheld(&self) -> bool {
        let mut sums = lock(&self.sums);
        if sums.held == 0 {
            sums.retired = true;
        }
        sums.held == 0
    }
}

/// A team, as this process knows it.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) team: Arc<str>,
    /// Requests in work.
    pub(super) active: AtomicU32,
    /// When something was last held, in milliseconds since the ledger was opened.
    pub(super) used_ms: AtomicU64,
    purse: Mutex<LeaseSlot>,
    /// Held by whoever asks the database for more, so that the others wait for what it brings.
    pub(super) drawing: Mutex<()>,
}

#[derive(Debug, Default)]
struct LeaseSlot {
    lease: Option<Arc<CreditLease>>,
    /// The newest grant of any team when this lease was last known to be of the current grant.
    checked: i64,
    /// The database had not enough.
    dry: Option<ShortfallMemo>,
}

/// That the database had not enough, which is believed for a moment.
#[derive(Debug, Clone, Copy)]
struct ShortfallMemo {
    until_ms: u64,
    newest_grant: i64,
    /// Balance beside the lease.
    balance: u64,
}

/// Outcome of a hold on a lease.
#[derive(Debug)]
pub(super) enum HoldAttempt {
    Held(Arc<CreditLease>),
    /// There is not enough, and so many are there.
    Short(u64),
    /// The database has to be asked.
    Unknown,
}

impl Account {
    pub(super) fn new(team: &str) -> Self {
        Self {
            team: team.into(),
            active: AtomicU32::new(0),
            used_ms: AtomicU64::new(0),
            purse: Mutex::default(),
            drawing: Mutex::default(),
        }
    }

    /// Holds credits of the lease, if it is of the current grant and has them.
    pub(super) fn hold(&self, credits: u64, newest_grant: i64, now_ms: u64) -> HoldAttempt {
        let purse = lock(&self.purse);
        let free = match &purse.lease {
            Some(lease) if purse.checked == newest_grant => {
                if lease.hold(credits) {
                    self.used_ms.store(now_ms, Ordering::Relaxed);
                    return HoldAttempt::Held(Arc::clone(lease));
                }
                lease.free()
            }
            Some(_) | None => 0,
        };
        match purse.dry {
            Some(dry) if dry.newest_grant == newest_grant && now_ms < dry.until_ms => {
                let there = free.saturating_add(dry.balance);
                // Credits came back meanwhile: together with the balance they may do.
                if there < credits { HoldAttempt::Short(there) } else { HoldAttempt::Unknown }
            }
            Some(_) | None => HoldAttempt::Unknown,
        }
    }

    pub(super) fn lease(&self) -> Option<Arc<CreditLease>> {
        lock(&self.purse).lease.clone()
    }

    /// Puts a lease in the place of the one before, which is returned if it is another one.
    pub(super) fn put(&self, lease: &Arc<CreditLease>, newest_grant: i64) -> Option<Arc<CreditLease>> {
        let mut purse = lock(&self.purse);
        purse.checked = newest_grant;
        purse.dry = None;
        let before = purse.lease.replace(Arc::clone(lease));
        before.filter(|before| before.id != lease.id)
    }

    /// Notes that the lease is of the current grant.
    pub(super) fn confirm(&self, newest_grant: i64) {
        lock(&self.purse).checked = newest_grant;
    }

    /// Notes that the database had only `balance` more, and that the lease is of the current grant.
    pub(super) fn remember_shortfall(&self, newest_grant: i64, balance: u64, until_ms: u64) {
        let mut purse = lock(&self.purse);
        purse.checked = newest_grant;
        purse.dry = Some(ShortfallMemo { until_ms, newest_grant, balance });
    }

    /// Takes the lease out of the purse.
    pub(super) fn take_lease(&self) -> Option<Arc<CreditLease>> {
        lock(&self.purse).lease.take()
    }

    /// Takes the lease out of the purse if nothing of it is held and nobody is about to fill it.
    pub(super) fn take_unheld(&self) -> Option<Arc<CreditLease>> {
        let _drawing = match self.drawing.try_lock() {
            Ok(drawing) => drawing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let mut purse = lock(&self.purse);
        if purse.lease.as_ref().is_some_and(|lease| lease.retire_unheld()) {
            purse.lease.take()
        } else {
            None
        }
    }
}
