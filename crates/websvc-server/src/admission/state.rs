//! Who is in work, who waits, and whose turn it is. It reads no clock and waits for nothing.
//!
//! There are two lines. Places in work are many, because most requests wait for the network for most of their time. Of
//! those in work, no more compute at one time than there are processors. Both lines have bounds: of how many wait, and
//! of how long each may. A line that is merely long rejects nobody.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use websvc_store::KeyId;

use super::AdmissionLimits;
use super::overload::Overload;
use super::rate::{RateLimitStatus, bucket_size};
use super::wait_queue::{FairWaitQueue, QueueTicket};
use crate::token_bucket::TokenBucket;

/// How often those who do nothing are looked for, to forget them.
const SWEEP: Duration = Duration::from_secs(10);
/// The room in memory that is kept, as entries of a table.
const KEPT_ENTRIES: usize = 64;

/// How much somebody may ask for; `None` is no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) requests_per_minute: Option<u32>,
    pub(super) concurrency: Option<u32>,
}

/// Who asks, and how much both may.
#[derive(Debug)]
pub(super) struct AdmissionRequest<'a> {
    pub(super) team: &'a str,
    pub(super) of_team: Quota,
    /// The key, when it has bounds of its own.
    pub(super) key: Option<(&'a KeyId, Quota)>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum AdmissionDecision {
    Admitted { number: u64 },
    Waiting { number: u64, turn: oneshot::Receiver<()>, at_most: Duration },
    Refused(RejectReason),
}

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RejectReason {
    /// Too many in a minute.
    Rate(RateLimitStatus),
    /// Too many of the team or the key at one time.
    Concurrency { limit: u32 },
    /// Too many of all teams.
    Overload,
}

/// What the gate counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AdmissionMetrics {
    pub(crate) in_work: usize,
    pub(crate) waiting: usize,
    /// Of those in work, they that compute.
    pub(crate) computing: usize,
    /// Of those in work, they that wait for a processor.
    pub(crate) waiting_to_compute: usize,
    /// Requests are rejected because too much is in work.
    pub(crate) is_overloaded: bool,
    /// The teams and keys that are remembered.
    pub(crate) remembered: usize,
    pub(crate) admitted: u64,
    pub(crate) refused_rate: u64,
    pub(crate) refused_concurrency: u64,
    pub(crate) refused_overload: u64,
}

/// What is known of a team or a key.
#[derive(Debug, Default)]
struct Account {
    bucket: TokenBucket,
    /// In work or waiting.
    in_flight: u32,
}

impl Account {
    fn is_idle(&self, now: Instant) -> bool {
        self.in_flight == 0 && self.bucket.is_full(now)
    }
}

/// The state of admission.
#[derive(Debug)]
pub(super) struct AdmissionState {
    limits: AdmissionLimits,
    teams: HashMap<String, Account>,
    keys: HashMap<KeyId, Account>,
    work: FairWaitQueue,
    processors: FairWaitQueue,
    overload: Overload,
    next_sweep: Instant,
    counted: AdmissionMetrics,
}

impl AdmissionState {
    pub(super) fn new(limits: AdmissionLimits, now: Instant) -> Self {
        Self {
            limits,
            teams: HashMap::new(),
            keys: HashMap::new(),
            work: FairWaitQueue::new(limits.total_concurrency),
            processors: FairWaitQueue::new(limits.processors),
            overload: Overload::new(limits.overload_wait, limits.overload_after, now),
            next_sweep: now + SWEEP,
            counted: AdmissionMetrics::default(),
        }
    }

    pub(super) fn limits(&self) -> &AdmissionLimits {
        &self.limits
    }

    pub(super) fn figures(&self, now: Instant) -> AdmissionMetrics {
        AdmissionMetrics {
            in_work: self.work.taken(),
            waiting: self.work.waiting(),
            computing: self.processors.taken(),
            waiting_to_compute: self.processors.waiting(),
            is_overloaded: self.overload.is_on(now),
            remembered: self.teams.len() + self.keys.len(),
            ..self.counted
        }
    }

    /// Returns how many requests of a team wait.
    pub(super) fn waiting_of(&self, team: &str) -> usize {
        self.work.waiting_of(team)
    }

    /// Lets a request in, lets it wait, or turns it away; whoever is let in or waits has to [`leave`](Self::leave).
    /// Says beside it how far the caller has come, where it is bounded.
    pub(super) fn enter(
        &mut self,
        demand: &AdmissionRequest<'_>,
        now: Instant,
    ) -> (Option<RateLimitStatus>, AdmissionDecision) {
        self.sweep(now);
        let (before, refusal) = self.refusal(demand, now);
        let refusal = refusal.or_else(|| self.is_full_for(demand.team).then_some(RejectReason::Overload));
        if let Some(refusal) = refusal {
            match refusal {
                RejectReason::Rate(_) => self.counted.refused_rate += 1,
                RejectReason::Concurrency { .. } => self.counted.refused_concurrency += 1,
                RejectReason::Overload => self.count_overload(now),
            }
            return (before, AdmissionDecision::Refused(refusal));
        }
        let rate = self.take(demand, now);
        let QueueTicket { number, turn } = self.work.join(demand.team);
        let Some(turn) = turn else {
            self.counted.admitted += 1;
            return (rate, AdmissionDecision::Admitted { number });
        };
        (rate, AdmissionDecision::Waiting { number, turn, at_most: self.limits.queue_wait })
    }

    /// Ends a request that was let in or waited under this number, and lets those in whose turn it is.
    pub(super) fn leave(&mut self, team: &str, key: Option<&KeyId>, number: u64, now: Instant) {
        self.work.leave(team, number);
        if let Some(account) = self.teams.get_mut(team) {
            account.in_flight = account.in_flight.saturating_sub(1);
            if account.is_idle(now) {
                self.teams.remove(team);
            }
        }
        if let Some(key) = key
            && let Some(account) = self.keys.get_mut(key)
        {
            account.in_flight = account.in_flight.saturating_sub(1);
            if account.is_idle(now) {
                self.keys.remove(key);
            }
        }
        while self.work.admit_next() {
            self.counted.admitted += 1;
        }
    }

    /// Rejects a request that waited for as long as it may; false when it was let in at this very moment.
    pub(super) fn cancel_wait(&mut self, team: &str, number: u64, now: Instant) -> bool {
        let is_waiting = !self.work.has(number);
        if is_waiting {
            self.work.leave(team, number);
            self.count_overload(now);
        }
        is_waiting
    }

    /// Gives a request that was let in a processor, or lets it wait for one, and returns how long after its arrival it may
    /// still wait; whoever has one or waits has to say when it has [`computed`](Self::computed).
    pub(super) fn request_compute(
        &mut self,
        team: &str,
        timeout: Duration,
        now: Instant,
    ) -> (QueueTicket, Duration) {
        if self.processors.waiting() == 0 {
            self.overload.record_empty(now);
        }
        (self.processors.join(team), self.overload.max_wait(timeout, now))
    }

    /// Rejects a request that waited for a processor for as long as it may; false when it was given one at this very
    /// moment.
    pub(super) fn give_up_computing(&mut self, team: &str, number: u64, now: Instant) -> bool {
        let is_waiting = !self.processors.has(number);
        if is_waiting {
            self.processors.leave(team, number);
            self.count_overload(now);
        }
        is_waiting
    }

    /// Ends the computing of a request, or its waiting for that, and gives the processor to the next one.
    pub(super) fn release_compute(&mut self, team: &str, number: u64, now: Instant) {
        self.processors.leave(team, number);
        while self.processors.admit_next() {}
        if self.processors.waiting() == 0 {
            self.overload.record_empty(now);
        }
    }

    /// Counts a request that is rejected because too much is in work.
    fn count_overload(&mut self, now: Instant) {
        self.counted.refused_overload += 1;
        self.overload.record_rejection(now);
    }

    fn refusal(
        &self,
        demand: &AdmissionRequest<'_>,
        now: Instant,
    ) -> (Option<RateLimitStatus>, Option<RejectReason>) {
        let team = self.teams.get(demand.team);
        let key = demand.key.map(|(key, bounds)| (self.keys.get(key), bounds));
        let both = [Some((team, demand.of_team)), key];
        let mut tightest: Option<RateLimitStatus> = None;
        let mut refusal = None;
        for (account, bounds) in both.into_iter().flatten() {
            if let Some(limit) = bounds.requests_per_minute {
                let bucket = account.map(|account| account.bucket).unwrap_or_default();
                let rate = RateLimitStatus::of(bucket, limit, now);
                tightest = Some(tightest.map_or(rate, |tightest| tightest.tighter(rate)));
            }
            if let Some(limit) = bounds.concurrency
                && account.map_or(0, |account| account.in_flight) >= limit
            {
                refusal = refusal.or(Some(RejectReason::Concurrency { limit }));
            }
        }
        if let Some(rate) = tightest.filter(|rate| rate.remaining == 0) {
            refusal = Some(RejectReason::Rate(rate));
        }
        (tightest, refusal)
    }

    /// Takes a request out of the buckets of the team and the key.
    fn take(&mut self, demand: &AdmissionRequest<'_>, now: Instant) -> Option<RateLimitStatus> {
        let mut tightest = None;
        let mut charge = |account: &mut Account, bounds: Quota| {
            account.in_flight += 1;
            if let Some(limit) = bounds.requests_per_minute {
                account.bucket.take(bucket_size(limit), now);
                let rate = RateLimitStatus::of(account.bucket, limit, now);
                tightest = Some(tightest.map_or(rate, |tightest: RateLimitStatus| tightest.tighter(rate)));
            }
        };
        match self.teams.get_mut(demand.team) {
            Some(account) => charge(account, demand.of_team),
            None => charge(self.teams.entry(demand.team.to_owned()).or_default(), demand.of_team),
        }
        if let Some((key, bounds)) = demand.key {
            charge(self.keys.entry(key.clone()).or_default(), bounds);
        }
        tightest
    }

    /// Tells whether there is no room to wait for a request of this team. When another team has more of those that wait,
    /// the last of that one goes in its place: who asks for little is not rejected because others ask for much.
    fn is_full_for(&mut self, team: &str) -> bool {
        !self.work.has_room() && self.work.waiting() >= self.limits.queue && !self.work.evict_for(team)
    }

    /// Forgets those of whom nothing need be known.
    fn sweep(&mut self, now: Instant) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + SWEEP;
        self.teams.retain(|_, account| !account.is_idle(now));
        self.keys.retain(|_, account| !account.is_idle(now));
        shrink(&mut self.teams);
        shrink(&mut self.keys);
    }
}

/// Gives memory back that a rush left behind.
fn shrink<K: Eq + std::hash::Hash, V>(accounts: &mut HashMap<K, V>) {
    if accounts.capacity() / 4 > accounts.len().max(KEPT_ENTRIES) {
        accounts.shrink_to(accounts.len() * 2);
    }
}
