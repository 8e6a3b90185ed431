//! The budget of a run: what its work has cost, and what is reserved for the calls in flight.

use parking_lot::Mutex;
use websvc_agent::Stop;
use websvc_engine::{Bill, ChargeKind};

/// The budget of a run.
#[derive(Debug)]
pub(crate) struct Budget {
    max_credits: u64,
    state: Mutex<BudgetState>,
}

#[derive(Debug, Default)]
struct BudgetState {
    bill: Bill,
    /// The maximum credits of the calls in flight.
    reserved: u64,
}

/// The credits that are reserved for a call. Dropping it releases them.
#[derive(Debug)]
#[must_use]
pub(crate) struct Reservation<'a> {
    budget: &'a Budget,
    credits: u64,
}

impl Budget {
    pub(crate) fn new(max_credits: u64) -> Self {
        Self { max_credits, state: Mutex::default() }
    }

    /// Returns the charges so far.
    pub(crate) fn bill(&self) -> Bill {
        self.state.lock().bill.clone()
    }

    /// Returns the credits that are neither spent nor reserved.
    pub(crate) fn remaining(&self) -> u64 {
        self.remaining_of(&self.state.lock())
    }

    /// Returns whether the work has cost more than the maximum. Only charges that are unknown before a call do that, such as scans of
    /// redirects.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.state.lock().bill.total() > self.max_credits
    }

    /// Adds the price of work that is done at once.
    ///
    /// # Errors
    /// [`Stop::CreditLimit`] if the budget does not cover it.
    pub(crate) fn charge(&self, kind: ChargeKind, credits: u64) -> Result<(), Stop> {
        let mut state = self.state.lock();
        if credits > self.remaining_of(&state) {
            return Err(Stop::CreditLimit);
        }
        state.bill.add_line(kind, 1, credits);
        Ok(())
    }

    /// Reserves the maximum price of a call.
    ///
    /// # Errors
    /// [`Stop::CreditLimit`] if the budget does not cover it.
    pub(crate) fn reserve(&self, credits: u64) -> Result<Reservation<'_>, Stop> {
        let mut state = self.state.lock();
        if credits > self.remaining_of(&state) {
            return Err(Stop::CreditLimit);
        }
        state.reserved += credits;
        Ok(Reservation { budget: self, credits })
    }

    /// Returns a reservation whose credits were kept.
    pub(crate) fn kept(&self, credits: u64) -> Reservation<'_> {
        Reservation { budget: self, credits }
    }

    fn remaining_of(&self, state: &BudgetState) -> u64 {
        self.max_credits.saturating_sub(state.bill.total()).saturating_sub(state.reserved)
    }
}

impl Reservation<'_> {
    /// Keeps the credits reserved after the end of the call, until [`Budget::kept`] continues with them.
    pub(crate) fn keep(self) -> u64 {
        let credits = self.credits;
        std::mem::forget(self);
        credits
    }

    /// Charges for the call, and releases the rest.
    pub(crate) fn settle(self, bill: &Bill) {
        self.budget.state.lock().bill.add_bill(bill);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.budget.state.lock().reserved -= self.credits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(credits: u64) -> Bill {
        let mut bill = Bill::default();
        bill.add_line(ChargeKind::Page, 1, credits);
        bill
    }

    #[test]
    fn reserved_credits_are_not_available_until_they_are_released() {
        let budget = Budget::new(10);
        let first = budget.reserve(6).unwrap();
        assert_eq!(budget.reserve(5).unwrap_err(), Stop::CreditLimit);
        let second = budget.reserve(4).unwrap();
        assert_eq!(budget.remaining(), 0);
        first.settle(&bill(1));
        assert_eq!(budget.remaining(), 5);
        drop(second);
        assert_eq!((budget.remaining(), budget.bill().total()), (9, 1));
    }

    #[test]
    fn kept_credits_stay_reserved_until_they_are_settled() {
        let budget = Budget::new(10);
        let credits = budget.reserve(6).unwrap().keep();
        assert_eq!((credits, budget.remaining()), (6, 4));
        budget.kept(credits).settle(&bill(2));
        assert_eq!((budget.remaining(), budget.bill().total()), (8, 2));
    }

    #[test]
    fn steps_end_at_the_maximum() {
        let budget = Budget::new(2);
        assert_eq!(budget.charge(ChargeKind::AgentStep, 1), Ok(()));
        assert_eq!(budget.charge(ChargeKind::AgentStep, 1), Ok(()));
        assert_eq!(budget.charge(ChargeKind::AgentStep, 1), Err(Stop::CreditLimit));
        assert_eq!(budget.charge(ChargeKind::AgentStep, 0), Ok(()));
        assert!(!budget.is_exceeded());
    }

    #[test]
    fn price_above_its_reservation_exceeds_the_budget() {
        let budget = Budget::new(2);
        budget.reserve(2).unwrap().settle(&bill(3));
        assert!(budget.is_exceeded());
        assert_eq!(budget.remaining(), 0);
    }
}
