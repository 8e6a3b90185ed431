//! The state of admission: the requests in flight, the queued ones, and the limits of teams and keys. It reads no clock
//! and never waits.
//!
//! There are two queues. Many requests may be in flight, because most of them wait for the network for most of their
//! time. Of these, only as many searches compute at the same time as there are processors. Both queues have a limit for
//! the time that a request may wait, and the first one has a limit for its length. A long queue alone rejects no
//! request.

mod slots;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use websvc_store::{KeyId, TokenGrant};
use websvc_transport::{FairQueue, QueueTicket};

use super::AdmissionLimits;
use super::overload::Overload;
use super::rate::{RateLimitStatus, bucket_size};
use super::shared::AccountName;
use crate::token_bucket::TokenBucket;
use slots::AccountSlots;

pub(super) use slots::{ConcurrencyShare, SlotAccount};

/// The interval between two removals of idle accounts.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The part of the permits that are added for teams with few requests in flight, if one team has all others.
const RESERVE_PART: usize = 8;

/// The number of entries for which a map of accounts keeps its memory.
const MIN_CAPACITY: usize = 64;

/// The limits of a team or a key; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) requests_per_minute: Option<u32>,
    pub(super) concurrency: Option<u32>,
}

/// The team and the key of a request, and their limits.
#[derive(Debug)]
pub(super) struct AdmissionRequest<'a> {
    pub(super) team: &'a str,
    pub(super) team_quota: Quota,
    /// The key, if it has limits of its own.
    pub(super) key: Option<(&'a KeyId, Quota)>,
    /// The part of the concurrency limits that is this replica's.
    pub(super) share: ConcurrencyShare,
}

impl<'a> AdmissionRequest<'a> {
    /// Returns the team and the key, each with its limit of requests per minute, if there is one.
    pub(super) fn rate_limits(&self) -> impl Iterator<Item = (AccountName<'a>, u32)> + use<'a> {
        self.accounts().filter_map(|(account, quota)| Some((account, quota.requests_per_minute?)))
    }

    /// Returns the team and the key, each with its limit of concurrent requests, if there is one.
    fn concurrency_limits(&self) -> impl Iterator<Item = (AccountName<'a>, u32)> + use<'a> {
        self.accounts().filter_map(|(account, quota)| Some((account, quota.concurrency?)))
    }

    fn accounts(&self) -> impl Iterator<Item = (AccountName<'a>, Quota)> + use<'a> {
        let team = Some((AccountName::Team(self.team), self.team_quota));
        let key = self.key.map(|(key, quota)| (AccountName::Key(key), quota));
        [team, key].into_iter().flatten()
    }
}

/// The decision about a request.
#[derive(Debug)]
pub(super) enum AdmissionDecision {
    Admitted {
        number: u64,
    },
    Queued {
        number: u64,
        /// Resolves when the request is admitted, and fails if it is evicted from the queue.
        admitted: oneshot::Receiver<()>,
        max_wait: Duration,
    },
    Rejected(RejectReason),
}

/// The reason for which a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RejectReason {
    /// The rate limit of the team or the key.
    Rate(RateLimitStatus),
    /// The concurrency limit of the team or the key.
    Concurrency { limit: u32 },
    /// Too many requests of all teams.
    Overload,
}

/// The metrics of admission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AdmissionMetrics {
    pub(crate) in_flight: usize,
    pub(crate) queued: usize,
    /// Searches in flight that compute.
    pub(crate) searches_running: usize,
    /// Searches in flight that wait for the right to compute.
    pub(crate) searches_queued: usize,
    /// Requests were rejected for overload within the last second.
    pub(crate) is_overloaded: bool,
    /// Teams and keys whose requests are tracked.
    pub(crate) tracked_accounts: usize,
    pub(crate) admitted: u64,
    pub(crate) rejected_rate: u64,
    pub(crate) rejected_concurrency: u64,
    pub(crate) rejected_overload: u64,
}

/// The requests of a team or a key.
#[derive(Debug, Default)]
struct Account {
    /// The tokens that are left. If several replicas share the limit, as of the last time when tokens were taken from
    /// the shared bucket.
    bucket: TokenBucket,
    /// Tokens that were taken from a shared bucket.
    taken: u32,
    /// Requests in flight, queued ones included.
    in_flight: u32,
    /// Slots that this replica has leased for them; `None` if there is no limit, or it is not shared.
    slots: Option<Box<AccountSlots>>,
}

impl Account {
    /// Returns the rate limit and how much of it is left.
    fn rate(&self, limit: u32, now: Instant) -> RateLimitStatus {
        let rate = RateLimitStatus::from_bucket(self.bucket, limit, now);
        match self.taken(now) {
            0 => rate,
            taken => {
                let remaining = rate.remaining.saturating_add(taken).min(limit);
                RateLimitStatus { remaining, next: Duration::ZERO, ..rate }
            }
        }
    }

    /// Returns the number of tokens that were taken from a shared bucket. When that is full again, it contains them.
    fn taken(&self, now: Instant) -> u32 {
        if self.bucket.is_full(now) { 0 } else { self.taken }
    }

    /// Removes a token for a request.
    fn take(&mut self, limit: u32, now: Instant) {
        self.taken = self.taken(now);
        match self.taken.checked_sub(1) {
            Some(taken) => self.taken = taken,
            None => self.bucket.take(bucket_size(limit), now),
        }
    }

    /// Counts a request.
    fn enter(&mut self) {
        self.in_flight += 1;
        if let Some(slots) = &mut self.slots {
            slots.record_in_flight(self.in_flight);
        }
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.in_flight == 0
            && self.bucket.is_full(now)
            && self.slots.as_ref().is_none_or(|slots| slots.is_idle())
    }
}

/// The state of admission.
#[derive(Debug)]
pub(super) struct AdmissionState {
    limits: AdmissionLimits,
    teams: HashMap<String, Account>,
    keys: HashMap<KeyId, Account>,
    requests: FairQueue,
    searches: FairQueue,
    overload: Overload,
    next_sweep: Instant,
    /// The accounts with requests that wait for the next round of slots.
    slot_queue: Vec<SlotAccount>,
    /// The number of the last round that began.
    slot_round: u64,
    /// The counters; the gauges in it are not used.
    counters: AdmissionMetrics,
}

impl AdmissionState {
    pub(super) fn new(limits: AdmissionLimits, now: Instant) -> Self {
        Self {
            limits,
            teams: HashMap::new(),
            keys: HashMap::new(),
            requests: FairQueue::new(limits.total_concurrency)
                .with_reserve(limits.total_concurrency / RESERVE_PART),
            searches: FairQueue::new(limits.search_concurrency),
            overload: Overload::new(limits.overload_target, limits.overload_interval, now),
            next_sweep: now + SWEEP_INTERVAL,
            slot_queue: Vec::new(),
            slot_round: 0,
            counters: AdmissionMetrics::default(),
        }
    }

    pub(super) fn limits(&self) -> &AdmissionLimits {
        &self.limits
    }

    pub(super) fn metrics(&self, now: Instant) -> AdmissionMetrics {
        AdmissionMetrics {
            in_flight: self.requests.in_use(),
            queued: self.requests.queued(),
            searches_running: self.searches.in_use(),
            searches_queued: self.searches.queued(),
            is_overloaded: self.overload.is_active(now),
            tracked_accounts: self.teams.len() + self.keys.len(),
            ..self.counters
        }
    }

    /// Returns the number of queued requests of a team.
    pub(super) fn queued_for(&self, team: &str) -> usize {
        self.requests.queued_for(team)
    }

    /// Returns the teams with queued requests, and their numbers.
    pub(super) fn queued_by_team(&self) -> impl Iterator<Item = (&str, usize)> {
        self.requests.queued_by_key()
    }

    /// Admits, queues or rejects a request, and returns the tightest rate limit that applies to it. A request that is
    /// admitted or queued must [`leave`](Self::leave).
    pub(super) fn enter(
        &mut self,
        request: &AdmissionRequest<'_>,
        now: Instant,
    ) -> (Option<RateLimitStatus>, AdmissionDecision) {
        self.sweep(now);
        let (rate, reason) = self.check_quotas(request, now);
        let reason = reason.or_else(|| self.is_full_for(request.team).then_some(RejectReason::Overload));
        if let Some(reason) = reason {
            match reason {
                RejectReason::Rate(_) => self.counters.rejected_rate += 1,
                RejectReason::Concurrency { .. } => self.counters.rejected_concurrency += 1,
                RejectReason::Overload => self.count_overload(now),
            }
            return (rate, AdmissionDecision::Rejected(reason));
        }
        let rate = self.take(request, now);
        let QueueTicket { number, admitted, .. } = self.requests.join(request.team);
        let Some(admitted) = admitted else {
            self.counters.admitted += 1;
            return (rate, AdmissionDecision::Admitted { number });
        };
        (rate, AdmissionDecision::Queued { number, admitted, max_wait: self.limits.queue_wait })
    }

    /// Returns whether tokens of a shared bucket are needed to admit a request, and the bucket may have some.
    pub(super) fn needs_tokens(&self, account: AccountName<'_>, limit: u32, now: Instant) -> bool {
        let account = match account {
            AccountName::Team(team) => self.teams.get(team),
            AccountName::Key(key) => self.keys.get(key),
        };
        account.is_none_or(|account| {
            account.taken(now) == 0 && account.bucket.available(bucket_size(limit), now) > 0
        })
    }

    /// Adds tokens that were taken from a shared bucket at `now`.
    pub(super) fn add_tokens(&mut self, account: AccountName<'_>, taken: TokenGrant, now: Instant) {
        let account = self.account_mut(account);
        account.taken = account.taken(now).saturating_add(taken.granted);
        account.bucket = TokenBucket::full_after(taken.until_full, now);
    }

    /// Removes a request that was admitted or queued with this number, and admits queued ones.
    pub(super) fn leave(&mut self, team: &str, key: Option<&KeyId>, number: u64, now: Instant) {
        self.requests.leave(team, number);
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
        while self.requests.admit_next() {
            self.counters.admitted += 1;
        }
    }

    /// Rejects a request that was queued for too long. Returns `false` if it was admitted in the meantime.
    pub(super) fn cancel_wait(&mut self, team: &str, number: u64, now: Instant) -> bool {
        let is_queued = !self.requests.has_permit(number);
        if is_queued {
            self.requests.leave(team, number);
            self.count_overload(now);
        }
        is_queued
    }

    /// Lets an admitted search compute, or queues it. Returns with the ticket the maximum time that the search may wait
    /// after its arrival. The search must [`release_compute`](Self::release_compute), even if it was only queued.
    pub(super) fn request_compute(
        &mut self,
        team: &str,
        timeout: Duration,
        now: Instant,
    ) -> (QueueTicket, Duration) {
        if self.searches.queued() == 0 {
            self.overload.record_empty(now);
        }
        (self.searches.join(team), self.overload.max_wait(timeout, now))
    }

    /// Rejects a search that was queued for too long. Returns `false` if it may compute in the meantime.
    pub(super) fn cancel_compute_wait(&mut self, team: &str, number: u64, now: Instant) -> bool {
        let is_queued = !self.searches.has_permit(number);
        if is_queued {
            self.searches.leave(team, number);
            self.count_overload(now);
        }
        is_queued
    }

    /// Removes a search that computes or is queued, and lets queued ones compute.
    pub(super) fn release_compute(&mut self, team: &str, number: u64, now: Instant) {
        self.searches.leave(team, number);
        while self.searches.admit_next() {}
        if self.searches.queued() == 0 {
            self.overload.record_empty(now);
        }
    }

    /// Counts a request that is rejected for overload.
    fn count_overload(&mut self, now: Instant) {
        self.counters.rejected_overload += 1;
        self.overload.record_rejection(now);
    }

    /// Checks the limits of the team and the key. Returns the tightest rate limit, and a reason to reject the request.
    fn check_quotas(
        &self,
        request: &AdmissionRequest<'_>,
        now: Instant,
    ) -> (Option<RateLimitStatus>, Option<RejectReason>) {
        let team = self.teams.get(request.team);
        let key = request.key.map(|(key, quota)| (self.keys.get(key), quota));
        let accounts = [Some((team, request.team_quota)), key];
        let mut tightest: Option<RateLimitStatus> = None;
        let mut reason = None;
        for (account, quota) in accounts.into_iter().flatten() {
            if let Some(limit) = quota.requests_per_minute {
                let full = || RateLimitStatus::from_bucket(TokenBucket::default(), limit, now);
                let rate = account.map_or_else(full, |account| account.rate(limit, now));
                tightest = Some(tightest.map_or(rate, |tightest| tightest.tighter(rate)));
            }
            if let Some(limit) = quota.concurrency
                && account.map_or(0, |account| account.in_flight)
                    >= Account::max_in_flight(account, limit, request.share)
            {
                reason = reason.or(Some(RejectReason::Concurrency { limit }));
            }
        }
        if let Some(rate) = tightest.filter(|rate| rate.remaining == 0) {
            reason = Some(RejectReason::Rate(rate));
        }
        (tightest, reason)
    }

    /// Counts a request for the team and the key, and returns the tightest rate limit after it.
    fn take(&mut self, request: &AdmissionRequest<'_>, now: Instant) -> Option<RateLimitStatus> {
        let mut tightest = None;
        let mut count = |account: &mut Account, quota: Quota| {
            account.enter();
            if let Some(limit) = quota.requests_per_minute {
                account.take(limit, now);
                let rate = account.rate(limit, now);
                tightest = Some(tightest.map_or(rate, |tightest: RateLimitStatus| tightest.tighter(rate)));
            }
        };
        match self.teams.get_mut(request.team) {
            Some(account) => count(account, request.team_quota),
            None => count(self.teams.entry(request.team.to_owned()).or_default(), request.team_quota),
        }
        if let Some((key, quota)) = request.key {
            count(self.keys.entry(key.clone()).or_default(), quota);
        }
        tightest
    }

    /// Returns an account, which is created if it does not exist.
    fn account_mut(&mut self, name: AccountName<'_>) -> &mut Account {
        match name {
            // Without a copy of the name if it exists.
            AccountName::Team(team) if self.teams.contains_key(team) => {
                self.teams.get_mut(team).expect("it exists")
            }
            AccountName::Team(team) => self.teams.entry(team.to_owned()).or_default(),
            AccountName::Key(key) => self.keys.entry(key.clone()).or_default(),
        }
    }

    fn get_account_mut(&mut self, name: AccountName<'_>) -> Option<&mut Account> {
        match name {
            AccountName::Team(team) => self.teams.get_mut(team),
            AccountName::Key(key) => self.keys.get_mut(key),
        }
    }

    /// Returns whether a request of this team can be neither admitted nor queued. If another team has more queued
    /// requests, its last one is evicted instead, so that teams with few requests are not rejected because of teams with
    /// many.
    fn is_full_for(&mut self, team: &str) -> bool {
        !self.requests.has_permit_for(team)
            && self.requests.queued() >= self.limits.queue_len
            && !self.requests.evict_for(team)
    }

    /// Removes idle accounts from time to time.
    fn sweep(&mut self, now: Instant) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + SWEEP_INTERVAL;
        self.teams.retain(|_, account| !account.is_idle(now));
        self.keys.retain(|_, account| !account.is_idle(now));
        shrink(&mut self.teams);
        shrink(&mut self.keys);
    }
}

/// Frees memory that a burst of requests left allocated.
fn shrink<K: Eq + std::hash::Hash, V>(accounts: &mut HashMap<K, V>) {
    if accounts.capacity() / 4 > accounts.len().max(MIN_CAPACITY) {
        accounts.shrink_to(accounts.len() * 2);
    }
}
