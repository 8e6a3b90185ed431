//! The budget of a run: what its work has cost, what is reserved for the calls in flight, and the credits of the team that
//! it holds for both.

use parking_lot::Mutex;
use websvc_agent::Stop;
use websvc_engine::{Bill, ChargeKind};
use websvc_store::CreditHold;

use crate::credits::TeamCredits;

/// The budget of a run.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most that the work may cost.
    limit: u64,
    team: TeamCredits,
    state: Mutex<BudgetState>,
    /// Locked by the call that reserves, so that it fails only for credits that it needs itself.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct BudgetState {
    bill: Bill,
    /// The maximum price of the calls in flight.
    reserved: Price,
    hold: CreditHold,
}

/// The maximum price of a call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Price {
    /// The credits that the team must have. Like a request, a call does not hold those of further pages of a document.
    pub(crate) held: u64,
    /// All credits, which the limit of the run must permit.
    pub(crate) max: u64,
}

/// The credits that are reserved for a call. Dropping it releases them.
#[derive(Debug)]
#[must_use]
pub(crate) struct Reservation<'a> {
    budget: &'a Budget,
    price: Price,
}

impl Price {
    pub(crate) fn of(credits: u64) -> Self {
        Self { held: credits, max: credits }
    }
}

impl Budget {
    pub(crate) fn new(limit: u64, team: TeamCredits, hold: CreditHold) -> Self {
        let state = BudgetState { bill: Bill::default(), reserved: Price::default(), hold };
        Self { limit, team, state: Mutex::new(state), turn: tokio::sync::Mutex::default() }
    }

    /// Returns the charges so far.
    pub(crate) fn bill(&self) -> Bill {
        self.state.lock().bill.clone()
    }

    /// Returns the charges, and the credits that are held for them.
    pub(crate) fn into_parts(self) -> (Bill, CreditHold) {
        let BudgetState { bill, reserved: _, hold } = self.state.into_inner();
        (bill, hold)
    }

    /// Returns the credits up to the limit that are neither spent nor reserved.
    pub(crate) fn remaining(&self) -> u64 {
        self.remaining_of(&self.state.lock())
    }

    /// Returns whether the work has cost more than the limit. Only charges that are unknown before a call do that, such as
    /// scans of redirects.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.state.lock().bill.total() > self.limit
    }

    /// Adds the price of work that is done at once.
    ///
    /// # Errors
    /// As for [`reserve`](Self::reserve).
    pub(crate) async fn charge(&self, kind: ChargeKind, credits: u64) -> Result<(), Stop> {
        let reservation = self.reserve(Price::of(credits)).await?;
        let mut bill = Bill::default();
        bill.add_line(kind, 1, credits);
        reservation.settle(&bill);
        Ok(())
    }

    /// Reserves the maximum price of a call. Holds further credits of the team if these are needed.
    ///
    /// # Errors
    /// [`Stop::CreditLimit`] if the limit does not permit it, [`Stop::TeamCredits`] if the team does not have the credits,
    /// [`Stop::Failed`] if the store failed.
    pub(crate) async fn reserve(&self, price: Price) -> Result<Reservation<'_>, Stop> {
        let _turn = self.turn.lock().await;
        let reservation = self.reserve_within_limit(price)?;
        self.cover().await?;
        Ok(reservation)
    }

    fn reserve_within_limit(&self, price: Price) -> Result<Reservation<'_>, Stop> {
        let mut state = self.state.lock();
        if price.max > self.remaining_of(&state) {
            return Err(Stop::CreditLimit);
        }
        state.reserved.held += price.held;
        state.reserved.max += price.max;
        Ok(Reservation { budget: self, price })
    }

    /// Holds what the work has cost and what the calls in flight may cost.
    async fn cover(&self) -> Result<(), Stop> {
        let (mut held, mut missing) = self.held_and_missing(&self.state.lock());
        let mut replaces = false;
        while missing > 0 {
            let (kept, needed) = if replaces { (0, held + missing) } else { (held, missing) };
            let more = self.team.hold_more(kept, needed).await?;
            let mut state = self.state.lock();
            // A team without a budget has one hold of nothing.
            if replaces || more.credits().is_none() {
                state.hold = more;
            } else {
                state.hold.absorb(more);
            }
            let (before, now) = (held, self.held_and_missing(&state));
            (held, missing) = now;
            // If the team got a new budget, the new hold was released, because a charge is of one budget. Then that must pay
            // for the whole run.
            replaces = held == before;
        }
        Ok(())
    }

    /// Returns the held credits, and those that are missing.
    fn held_and_missing(&self, state: &BudgetState) -> (u64, u64) {
        let Some(held) = state.hold.credits() else { return (0, 0) };
        // A run that has exceeded its limit fails, and is not charged.
        let needed = state.bill.total().saturating_add(state.reserved.held).min(self.limit);
        (held, needed.saturating_sub(held))
    }

    fn remaining_of(&self, state: &BudgetState) -> u64 {
        self.limit.saturating_sub(state.bill.total()).saturating_sub(state.reserved.max)
    }
}

impl BudgetState {
    fn release(&mut self, price: Price) {
        self.reserved.held -= price.held;
        self.reserved.max -= price.max;
    }
}

impl Reservation<'_> {
    /// Charges for the call, and releases the rest.
    pub(crate) fn settle(mut self, bill: &Bill) {
        let mut state = self.budget.state.lock();
        state.bill.add_bill(bill);
        state.release(std::mem::take(&mut self.price));
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.budget.state.lock().release(self.price);
    }
}
