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
    pub(crate) fn from_credits(credits: u64) -> Self {
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
        let reservation = self.reserve(Price::from_credits(credits)).await?;
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

    /// Returns a reservation whose price was kept.
    pub(crate) fn kept(&self, price: Price) -> Reservation<'_> {
        Reservation { budget: self, price }
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
    /// Keeps the price reserved after the end of the call, until [`Budget::kept`] continues with it.
    pub(crate) fn keep(mut self) -> Price {
        std::mem::take(&mut self.price)
    }

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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use tempfile::TempDir;
    use websvc_store::{ApiVersion, HoldOutcome, Store, Team, TeamChange, Usage, UsageRetention};

    use super::*;

    const TEAM: &str = "tea";

    /// A team with a budget.
    struct Fixture {
        store: Store,
        team: Team,
        _directory: TempDir,
    }

    impl Fixture {
        fn new(credits: Option<u64>) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let store = Store::open(directory.path()).unwrap();
            let team = give(&store, credits);
            Self { store, team, _directory: directory }
        }

        /// Begins a run that holds these credits.
        fn run(&self, limit: u64, held: u64) -> Budget {
            let HoldOutcome::Granted(hold) = self.store.hold(&self.team, held).unwrap() else {
                panic!("the team has {held} credits");
            };
            Budget::new(limit, TeamCredits::new(self.store.clone(), TEAM.to_owned(), limit), hold)
        }

        /// Returns the credits that nothing holds.
        fn free(&self) -> u64 {
            match self.store.hold(&self.team, 1_000_000).unwrap() {
                HoldOutcome::Granted(hold) => panic!("{hold:?}"),
                HoldOutcome::Insufficient { remaining } => remaining,
            }
        }
    }

    fn give(store: &Store, credits: Option<u64>) -> Team {
        store.set_team(TEAM, &TeamChange { credits: Some(credits), ..TeamChange::default() }).unwrap()
    }

    fn bill(credits: u64) -> Bill {
        let mut bill = Bill::default();
        bill.add_line(ChargeKind::Page, 1, credits);
        bill
    }

    /// Charges for a run as its end does. Returns the charged credits.
    fn settle(budget: Budget) -> u64 {
        let (bill, hold) = budget.into_parts();
        hold.settle(Usage {
            key: None,
            request: "r".to_owned(),
            result: None,
            operation: "agent",
            api_version: ApiVersion::V2,
            status: 200,
            elapsed: std::time::Duration::ZERO,
            items: bill.items(),
            stages: Vec::new(),
            query: None,
            retention: UsageRetention::Whole,
        })
    }

    #[tokio::test]
    async fn reserved_credits_are_not_available_until_they_are_released() {
        let fixture = Fixture::new(None);
        let budget = fixture.run(10, 0);
        let first = budget.reserve(Price::from_credits(6)).await.unwrap();
        assert_eq!(budget.reserve(Price::from_credits(5)).await.unwrap_err(), Stop::CreditLimit);
        let second = budget.reserve(Price::from_credits(4)).await.unwrap();
        assert_eq!(budget.remaining(), 0);
        first.settle(&bill(1));
        assert_eq!(budget.remaining(), 5);
        drop(second);
        assert_eq!((budget.remaining(), budget.bill().total()), (9, 1));
    }

    #[tokio::test]
    async fn kept_price_stays_reserved_until_it_is_settled() {
        let fixture = Fixture::new(None);
        let budget = fixture.run(10, 0);
        let price = budget.reserve(Price::from_credits(6)).await.unwrap().keep();
        assert_eq!(budget.remaining(), 4);
        budget.kept(price).settle(&bill(2));
        assert_eq!((budget.remaining(), budget.bill().total()), (8, 2));
    }

    #[tokio::test]
    async fn call_that_is_dropped_while_it_waits_for_credits_reserves_none() {
        let fixture = Fixture::new(Some(100));
        let budget = fixture.run(60, 20);
        drop(budget.reserve(Price::from_credits(50)).now_or_never());
        assert_eq!(budget.remaining(), 60);
        assert_eq!(budget.charge(ChargeKind::AgentStep, 20).await, Ok(()));
    }

    #[tokio::test]
    async fn steps_end_at_the_limit() {
        let fixture = Fixture::new(Some(100));
        let budget = fixture.run(2, 1);
        assert_eq!(budget.charge(ChargeKind::AgentStep, 1).await, Ok(()));
        assert_eq!(budget.charge(ChargeKind::AgentStep, 1).await, Ok(()));
        assert_eq!(budget.charge(ChargeKind::AgentStep, 1).await, Err(Stop::CreditLimit));
        assert_eq!(budget.charge(ChargeKind::AgentStep, 0).await, Ok(()));
        assert!(!budget.is_exceeded());
        assert_eq!((fixture.free(), settle(budget), fixture.free()), (98, 2, 98));
    }

    #[tokio::test]
    async fn price_above_its_reservation_exceeds_the_limit() {
        let fixture = Fixture::new(Some(100));
        let budget = fixture.run(2, 2);
        budget.reserve(Price::from_credits(2)).await.unwrap().settle(&bill(3));
        assert!(budget.is_exceeded());
        assert_eq!(budget.remaining(), 0);
        assert_eq!(budget.charge(ChargeKind::AgentStep, 0).await, Ok(()));
        assert_eq!(fixture.free(), 98, "no more than the limit is held");
    }

    #[tokio::test]
    async fn run_holds_more_as_its_work_goes_on() {
        let fixture = Fixture::new(Some(100));
        let budget = fixture.run(2_500, 20);
        assert_eq!(fixture.free(), 80);
        let first = budget.reserve(Price::from_credits(20)).await.unwrap();
        assert_eq!(fixture.free(), 80);
        let second = budget.reserve(Price::from_credits(1)).await.unwrap();
        assert_eq!(fixture.free(), 60, "some are held in advance");
        let third = budget.reserve(Price::from_credits(50)).await.unwrap();
        assert_eq!(fixture.free(), 29);
        first.settle(&bill(15));
        drop((second, third));
        let fourth = budget.reserve(Price::from_credits(75)).await.unwrap();
        assert_eq!(fixture.free(), 9);
        let shortage = Stop::TeamCredits { missing: 10, remaining: 9 };
        assert_eq!(budget.reserve(Price::from_credits(11)).await.unwrap_err(), shortage);
        assert_eq!(budget.charge(ChargeKind::AgentStep, 9).await, Ok(()));
        assert_eq!(fixture.free(), 1, "with few left, it holds only what it needs");
        drop(fourth);
        assert_eq!((settle(budget), fixture.free()), (24, 76));
    }

    #[tokio::test]
    async fn end_without_a_charge_releases_all() {
        let fixture = Fixture::new(Some(50));
        let budget = fixture.run(2_500, 20);
        let call = budget.reserve(Price::from_credits(45)).await.unwrap();
        assert_eq!(fixture.free(), 5);
        call.settle(&bill(45));
        drop(budget);
        assert_eq!(fixture.free(), 50);
    }

    #[tokio::test]
    async fn no_more_than_the_limit_is_held() {
        let fixture = Fixture::new(Some(100));
        let budget = fixture.run(30, 20);
        budget.charge(ChargeKind::AgentStep, 21).await.unwrap();
        assert_eq!(fixture.free(), 70);
        let calls = join_all((0..10).map(|_| budget.reserve(Price::from_credits(2)))).await;
        assert_eq!(calls.iter().filter(|call| call.is_ok()).count(), 4);
        assert_eq!(fixture.free(), 70);
    }

    #[tokio::test]
    async fn further_pages_of_a_document_are_held_after_they_were_read() {
        let fixture = Fixture::new(Some(10));
        let budget = fixture.run(100, 1);
        let price = Price { held: 1, max: 50 };
        let call = budget.reserve(price).await.unwrap();
        assert_eq!((fixture.free(), budget.remaining()), (9, 50));
        call.settle(&bill(8));
        budget.charge(ChargeKind::AgentStep, 1).await.unwrap();
        assert_eq!(fixture.free(), 1);
        budget.reserve(price).await.unwrap().settle(&bill(4));
        let shortage = Stop::TeamCredits { missing: 4, remaining: 0 };
        assert_eq!(budget.charge(ChargeKind::AgentStep, 1).await, Err(shortage));
    }

    #[tokio::test]
    async fn new_budget_of_the_team_pays_for_the_whole_run() {
        let fixture = Fixture::new(Some(100));
        let budget = fixture.run(2_500, 20);
        budget.charge(ChargeKind::AgentStep, 20).await.unwrap();
        give(&fixture.store, Some(50));
        budget.charge(ChargeKind::AgentStep, 10).await.unwrap();
        assert_eq!(fixture.free(), 20);
        give(&fixture.store, Some(40));
        let shortage = Stop::TeamCredits { missing: 41, remaining: 40 };
        assert_eq!(budget.charge(ChargeKind::AgentStep, 11).await, Err(shortage));
        give(&fixture.store, None);
        budget.charge(ChargeKind::AgentStep, 500).await.unwrap();
        assert_eq!(settle(budget), 530);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn concurrent_runs_share_what_the_team_has() {
        let fixture = Fixture::new(Some(50));
        let runs = [fixture.run(2_500, 20), fixture.run(2_500, 20)];
        let work = async |budget: Budget| {
            let mut steps = 0;
            while budget.charge(ChargeKind::AgentStep, 1).await.is_ok() {
                steps += 1;
            }
            (budget, steps)
        };
        let runs = join_all(runs.map(|budget| tokio::spawn(work(budget)))).await;
        let runs: Vec<(Budget, u64)> = runs.into_iter().map(Result::unwrap).collect();
        assert_eq!(runs.iter().map(|(_, steps)| steps).sum::<u64>(), 50);
        let charged: u64 = runs.into_iter().map(|(budget, _)| settle(budget)).sum();
        assert_eq!((charged, fixture.free()), (50, 0));
        assert_eq!(fixture.store.requests_in_flight(TEAM), 0);
    }
}
