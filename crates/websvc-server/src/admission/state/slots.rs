//! Slots for concurrent requests that this replica has leased from the limits of teams and keys.
//!
//! A request of an account with fewer requests in flight than slots is admitted at once. Otherwise it waits for a round, in
//! which [`SlotLeases`](super::super::slots::SlotLeases) leases what all waiting requests need. Slots that an account has
//! not used for a while are returned, and sooner if other replicas have leased the rest.

use std::time::{Duration, Instant};

use websvc_store::{KeyId, SlotLease};

use super::{Account, AdmissionRequest, AdmissionState};
use crate::admission::shared::AccountName;

/// The part of a limit that a replica leases in addition to what it needs.
const SPARE_PART: u32 = 32;
/// Number of ticks from one comparison of the slots with their use to the next. Slots that were not used in between are
/// returned.
const IDLE_TICKS: u32 = 5;
/// How long no slots are leased after the others had the rest.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// The concurrent requests of an account that a replica may admit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admission) enum ConcurrencyShare {
    /// All, because this is the only process.
    Whole,
    /// As many as it has leased slots.
    Leased,
    /// An equal part of this many, because the database does not respond; or the leased slots, if they are more.
    LeasedOrPart(u32),
    /// An equal part of this many, because the database does not respond, and others may have the leased slots.
    Part(u32),
}

/// A team or a key whose slots are leased.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::admission) enum SlotAccount {
    Team(String),
    Key(KeyId),
}

impl SlotAccount {
    pub(in crate::admission) fn name(&self) -> AccountName<'_> {
        match self {
            Self::Team(team) => AccountName::Team(team),
            Self::Key(key) => AccountName::Key(key),
        }
    }
}

impl From<AccountName<'_>> for SlotAccount {
    fn from(name: AccountName<'_>) -> Self {
        match name {
            AccountName::Team(team) => Self::Team(team.to_owned()),
            AccountName::Key(key) => Self::Key(key.clone()),
        }
    }
}

/// The number of slots that an account shall have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admission) struct SlotChange {
    /// The limit of the account.
    pub(in crate::admission) limit: u32,
    pub(in crate::admission) slots: u32,
}

/// The slots of an account.
#[derive(Debug, Default)]
pub(super) struct AccountSlots {
    /// Slots that this replica has leased.
    leased: u32,
    /// Slots that the others had leased at the last change.
    others: u32,
    /// The limit of the account, as of its last request.
    limit: u32,
    /// Requests that wait for a round.
    waiting: u32,
    /// The most requests in flight since the slots were last compared with it.
    peak: u32,
    /// Ticks since then.
    ticks: u32,
    /// The time until which no more slots can be leased.
    exhausted_until: Option<Instant>,
    /// The account is in the queue of the next round.
    is_queued: bool,
    /// The database may have another number of slots, because it has not confirmed the last change.
    is_unconfirmed: bool,
}

impl AccountSlots {
    pub(super) fn record_in_flight(&mut self, in_flight: u32) {
        self.peak = self.peak.max(in_flight);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.leased == 0 && self.waiting == 0 && !self.is_queued && !self.is_unconfirmed
    }

    /// Returns whether a request needs another slot, which may be free.
    fn needs_more(&self, in_flight: u32, leased: u32, now: Instant) -> bool {
        in_flight < self.limit
            && in_flight.saturating_add(self.waiting) >= leased.min(self.limit)
            && self.exhausted_until.is_none_or(|until| now >= until)
    }

    /// Returns the number of slots that the account shall have.
    fn target(&mut self, in_flight: u32, is_tick: bool) -> u32 {
        let needed = in_flight.saturating_add(self.waiting).min(self.limit);
        let spare = self.limit / SPARE_PART;
        if needed > self.leased {
            return needed.saturating_add(spare).min(self.limit);
        }
        self.ticks += u32::from(is_tick);
        let is_contended = self.others > 0 && self.leased.saturating_add(self.others) >= self.limit;
        if is_tick && (is_contended || self.ticks >= IDLE_TICKS) {
            let used = if is_contended { needed } else { needed.max(self.peak) };
            let spare = if is_contended || used == 0 { 0 } else { spare };
            self.ticks = 0;
            self.peak = in_flight;
            return self.leased.min(used.saturating_add(spare));
        }
        self.leased.min(self.limit)
    }
}

impl Account {
    /// Returns the number of concurrent requests that this replica may admit.
    pub(super) fn max_in_flight(account: Option<&Self>, limit: u32, share: ConcurrencyShare) -> u32 {
        let leased = || {
            let slots = account.and_then(|account| account.slots.as_ref());
            slots.map_or(0, |slots| slots.leased.min(limit))
        };
        match share {
            ConcurrencyShare::Whole => limit,
            ConcurrencyShare::Leased => leased(),
            ConcurrencyShare::LeasedOrPart(replicas) => limit.div_ceil(replicas.max(1)).max(leased()),
            ConcurrencyShare::Part(replicas) => limit.div_ceil(replicas.max(1)),
        }
    }
}

impl AdmissionState {
    /// Registers a request that needs slots which this replica has not leased. Returns the round for which it must wait,
    /// and then [`stop_waiting`](Self::stop_waiting); `None` if it need not wait. `has_leases` says whether the leased
    /// slots are still those of this replica.
    pub(in crate::admission) fn wait_for_slots(
        &mut self,
        request: &AdmissionRequest<'_>,
        has_leases: bool,
        now: Instant,
    ) -> Option<u64> {
        let mut must_wait = false;
        for (name, limit) in request.concurrency_limits() {
            let account = self.account_mut(name);
            let in_flight = account.in_flight;
            let slots = account.slots.get_or_insert_default();
            slots.limit = limit;
            let leased = if has_leases { slots.leased } else { 0 };
            must_wait |= slots.needs_more(in_flight, leased, now);
        }
        if !must_wait {
            return None;
        }
        for (name, _) in request.concurrency_limits() {
            let slots = self.account_mut(name).slots.get_or_insert_default();
            slots.waiting += 1;
            if !slots.is_queued {
                slots.is_queued = true;
                self.slot_queue.push(name.into());
            }
        }
        Some(self.slot_round + 1)
    }

    /// Ends the wait of a request, immediately before it enters, or when it is cancelled.
    pub(in crate::admission) fn stop_waiting(&mut self, request: &AdmissionRequest<'_>) {
        for (name, _) in request.concurrency_limits() {
            if let Some(slots) = self.slots_mut(name) {
                slots.waiting = slots.waiting.saturating_sub(1);
            }
        }
    }

    /// Begins a round: returns its number and the accounts with requests that wait for it.
    pub(in crate::admission) fn start_slot_round(&mut self) -> (u64, Vec<SlotAccount>) {
        self.slot_round += 1;
        let waiting = std::mem::take(&mut self.slot_queue);
        for account in &waiting {
            if let Some(slots) = self.slots_mut(account.name()) {
                slots.is_queued = false;
            }
        }
        (self.slot_round, waiting)
    }

    /// Returns how the slots of an account must change; `None` if they need not. Slots to return are not used any more from
    /// now on.
    pub(in crate::admission) fn slot_change(
        &mut self,
        name: AccountName<'_>,
        is_tick: bool,
    ) -> Option<SlotChange> {
        let account = self.get_account_mut(name)?;
        let in_flight = account.in_flight;
        let slots = account.slots.as_mut()?;
        let target = slots.target(in_flight, is_tick);
        if target == slots.leased && !slots.is_unconfirmed {
            return None;
        }
        slots.leased = slots.leased.min(target);
        slots.is_unconfirmed = true;
        Some(SlotChange { limit: slots.limit, slots: target })
    }

    /// Returns whether an account has slots, or may have some in the database.
    pub(in crate::admission) fn has_slots(&mut self, name: AccountName<'_>) -> bool {
        self.slots_mut(name).is_some_and(|slots| slots.leased > 0 || slots.is_unconfirmed)
    }

    /// Records what the database has leased for a change.
    pub(in crate::admission) fn apply_slots(
        &mut self,
        name: AccountName<'_>,
        change: SlotChange,
        lease: SlotLease,
        now: Instant,
    ) {
        let Some(slots) = self.slots_mut(name) else { return };
        slots.leased = lease.slots;
        slots.others = lease.others;
        slots.is_unconfirmed = false;
        let is_exhausted = lease.slots < change.slots;
        slots.exhausted_until = is_exhausted.then(|| now + EXHAUSTED_PAUSE);
    }

    /// Records that this replica no longer has the slots of an account.
    pub(in crate::admission) fn forget_slots(&mut self, name: AccountName<'_>) {
        if let Some(slots) = self.slots_mut(name) {
            slots.leased = 0;
            slots.is_unconfirmed = false;
        }
    }

    fn slots_mut(&mut self, name: AccountName<'_>) -> Option<&mut AccountSlots> {
        self.get_account_mut(name)?.slots.as_deref_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::AdmissionLimits;
    use crate::admission::state::{AdmissionDecision, Quota, RejectReason};

    const RED: AccountName<'static> = AccountName::Team("red");

    /// A replica with a team that has a limit.
    struct Replica {
        state: AdmissionState,
        limit: u32,
        now: Instant,
        in_flight: Vec<u64>,
    }

    impl Replica {
        fn new(limit: u32) -> Self {
            let now = Instant::now();
            let state = AdmissionState::new(AdmissionLimits::default(), now);
            Self { state, limit, now, in_flight: Vec::new() }
        }

        fn request(&self, share: ConcurrencyShare) -> AdmissionRequest<'static> {
            let team_quota = Quota { requests_per_minute: None, concurrency: Some(self.limit) };
            AdmissionRequest { team: "red", team_quota, key: None, share }
        }

        /// Registers a request; returns whether it waits.
        fn wait(&mut self) -> bool {
            let request = self.request(ConcurrencyShare::Leased);
            self.state.wait_for_slots(&request, true, self.now).is_some()
        }

        /// Lets a request enter; returns whether it is admitted.
        fn enter(&mut self, share: ConcurrencyShare, has_waited: bool) -> bool {
            let request = self.request(share);
            if has_waited {
                self.state.stop_waiting(&request);
            }
            match self.state.enter(&request, self.now).1 {
                AdmissionDecision::Admitted { number } => self.in_flight.push(number),
                AdmissionDecision::Rejected(RejectReason::Concurrency { .. }) => return false,
                other => panic!("{other:?}"),
            }
            true
        }

        fn leave(&mut self) {
            let number = self.in_flight.pop().unwrap();
            self.state.leave("red", None, number, self.now);
        }

        /// Runs a round while the others have leased `others` slots. Returns the number that was asked for.
        fn round(&mut self, others: u32, is_tick: bool) -> Option<u32> {
            self.state.start_slot_round();
            let change = self.state.slot_change(RED, is_tick)?;
            let slots = change.slots.min(self.limit - others);
            let lease = SlotLease { slots, others, replica: 1 };
            self.state.apply_slots(RED, change, lease, self.now);
            Some(change.slots)
        }
    }

    #[test]
    fn replica_that_gets_all_requests_admits_the_whole_limit() {
        let mut replica = Replica::new(3);
        for slots in 1..=3 {
            assert!(replica.wait());
            assert_eq!(replica.round(0, false), Some(slots));
            assert!(replica.enter(ConcurrencyShare::Leased, true));
        }
        assert!(!replica.wait(), "the limit is reached");
        assert!(!replica.enter(ConcurrencyShare::Leased, false));
        replica.leave();
        assert!(!replica.wait(), "it still has the slot");
        assert!(replica.enter(ConcurrencyShare::Leased, false));
    }

    #[test]
    fn one_round_leases_slots_for_all_waiting_requests_and_no_other_takes_them() {
        let mut replica = Replica::new(10);
        assert!(replica.wait() && replica.wait());
        assert_eq!(replica.round(0, false), Some(2));
        assert!(replica.wait(), "both slots are for the others");
        for _ in 0..2 {
            assert!(replica.enter(ConcurrencyShare::Leased, true));
        }
        assert_eq!(replica.round(0, false), Some(3));
        assert!(replica.enter(ConcurrencyShare::Leased, true));
        // A cancelled request gives its place up.
        assert!(replica.wait());
        replica.state.stop_waiting(&replica.request(ConcurrencyShare::Leased));
        assert_eq!(replica.round(0, false), None);
    }

    #[test]
    fn request_is_rejected_if_the_others_have_the_rest() {
        let mut replica = Replica::new(10);
        assert!(replica.wait());
        assert_eq!(replica.round(10, false), Some(1));
        assert!(!replica.enter(ConcurrencyShare::Leased, true));
        assert!(!replica.wait(), "it does not ask again at once");
        replica.now += EXHAUSTED_PAUSE;
        assert!(replica.wait());
        assert_eq!(replica.round(9, false), Some(1));
        assert!(replica.enter(ConcurrencyShare::Leased, true));
    }

    #[test]
    fn unused_slots_are_returned_after_a_while_and_at_once_if_the_others_have_the_rest() {
        for (others, ticks) in [(0, 2 * IDLE_TICKS), (4, 2 * IDLE_TICKS), (5, 1)] {
            let mut replica = Replica::new(10);
            for _ in 0..5 {
                assert!(replica.wait());
            }
            assert_eq!(replica.round(others, false), Some(5));
            for _ in 0..5 {
                assert!(replica.enter(ConcurrencyShare::Leased, true));
            }
            let mut changes = Vec::new();
            for _ in 0..IDLE_TICKS {
                changes.push(replica.round(others, true));
            }
            assert!(changes.iter().all(Option::is_none), "{changes:?}");
            for _ in 0..4 {
                replica.leave();
            }
            // The next comparison still finds five in flight at its beginning.
            let changes: Vec<_> = (0..ticks).map(|_| replica.round(others, true)).collect();
            assert_eq!(changes.iter().flatten().collect::<Vec<_>>(), [&1], "{others} of others: {changes:?}");
            assert!(changes.last().unwrap().is_some(), "{changes:?}");
            replica.leave();
            let changes: Vec<_> = (0..2 * IDLE_TICKS).filter_map(|_| replica.round(0, true)).collect();
            assert_eq!(changes, [0]);
            assert_eq!(replica.state.metrics(replica.now).tracked_accounts, 1);
            replica.state.sweep(replica.now + Duration::from_secs(60));
            assert_eq!(replica.state.metrics(replica.now).tracked_accounts, 0);
        }
    }

    #[test]
    fn large_limits_are_leased_with_a_spare_part() {
        let mut replica = Replica::new(320);
        assert!(replica.wait());
        assert_eq!(replica.round(0, false), Some(11));
        assert!(replica.enter(ConcurrencyShare::Leased, true));
        for _ in 0..10 {
            assert!(!replica.wait());
            assert!(replica.enter(ConcurrencyShare::Leased, false));
        }
        assert!(replica.wait());
    }

    #[test]
    fn replica_without_the_database_admits_an_equal_part_or_what_it_has_leased() {
        let mut replica = Replica::new(5);
        assert!(replica.wait());
        replica.state.start_slot_round();
        // The database does not respond.
        assert_eq!(replica.state.slot_change(RED, false).unwrap().slots, 1);
        assert!(replica.enter(ConcurrencyShare::LeasedOrPart(2), true));
        assert!(replica.enter(ConcurrencyShare::LeasedOrPart(2), false));
        assert!(replica.enter(ConcurrencyShare::Part(2), false));
        assert!(!replica.enter(ConcurrencyShare::Part(2), false));
        // It responds again, and is asked for what is in flight.
        assert_eq!(replica.round(0, true), Some(3));
        replica.wait();
        replica.wait();
        assert_eq!(replica.round(0, false), Some(5));
        assert!(!replica.enter(ConcurrencyShare::Part(2), true), "others may have them");
        assert!(replica.enter(ConcurrencyShare::LeasedOrPart(2), true));
    }

    #[test]
    fn forgotten_slots_are_leased_again_for_the_requests_in_flight() {
        let mut replica = Replica::new(10);
        for _ in 0..4 {
            replica.wait();
        }
        replica.round(0, false);
        for _ in 0..4 {
            assert!(replica.enter(ConcurrencyShare::Leased, true));
        }
        replica.state.forget_slots(RED);
        assert!(!replica.enter(ConcurrencyShare::Leased, false));
        assert_eq!(replica.round(7, true), Some(4));
        assert!(!replica.enter(ConcurrencyShare::Leased, false), "it has 3 for the 4 in flight");
    }

    #[test]
    fn failed_change_is_repeated() {
        let mut replica = Replica::new(10);
        assert!(replica.wait());
        replica.round(0, false);
        assert!(replica.enter(ConcurrencyShare::Leased, true));
        replica.leave();
        let changes: Vec<_> =
            (0..3 * IDLE_TICKS).filter_map(|_| replica.state.slot_change(RED, true)).collect();
        assert!(changes.len() > 1, "{changes:?}");
        assert!(changes.iter().all(|change| change.slots == 0), "{changes:?}");
        assert_eq!(replica.round(0, true), Some(0));
        assert_eq!(replica.round(0, true), None);
    }
}
