//! Who is in work, who waits, and whose turn it is. It reads no clock and waits for nothing.
//!
//! Overload shows by a queue that does not become empty any more. As long as it does now and then, whoever comes may
//! wait a while, so that a burst is worked off; once it stands, whoever comes waits next to nothing: a long queue would
//! only make everybody late, and none more be answered.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use websvc_store::KeyId;

use super::Limits;
use super::rate::{Bucket, Rate};

/// A queue that was not empty for so long stands.
const STANDING: Duration = Duration::from_millis(100);
/// How long a request may wait in a queue that stands.
const STANDING_WAIT: Duration = Duration::from_millis(10);
/// How often those who do nothing are looked for, to forget them.
const SWEEP: Duration = Duration::from_secs(10);
/// The room in memory that is kept, as entries of a table.
const KEPT_ENTRIES: usize = 64;

/// How much somebody may ask for; `None` is no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) requests_per_minute: Option<u32>,
    pub(super) concurrency: Option<u32>,
}

/// Who asks, and how much both may.
#[derive(Debug)]
pub(super) struct Demand<'a> {
    pub(super) team: &'a str,
    pub(super) of_team: Bounds,
    /// The key, when it has bounds of its own.
    pub(super) key: Option<(&'a KeyId, Bounds)>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Entry {
    Admitted,
    Waiting { number: u64, turn: oneshot::Receiver<()>, at_most: Duration },
    Refused(Refusal),
}

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too many in a minute.
    Rate(Rate),
    /// Too many of the team or the key at one time.
    Concurrency { limit: u32 },
    /// Too many of all teams.
    Overload,
}

/// What the gate counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) in_work: usize,
    pub(crate) waiting: usize,
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
    bucket: Bucket,
    /// In work or waiting.
    in_flight: u32,
    /// The requests of a team that wait, by their numbers.
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
}

impl Account {
    fn is_idle(&self, now: Instant) -> bool {
        self.in_flight == 0 && self.bucket.is_full(now)
    }
}

/// The state of admission.
#[derive(Debug)]
pub(super) struct Gate {
    limits: Limits,
    teams: HashMap<String, Account>,
    keys: HashMap<KeyId, Account>,
    /// The teams of which requests wait, each once, in the order of their turns.
    turns: VecDeque<String>,
    in_work: usize,
    waiting: usize,
    /// When nobody waited, last.
    emptied: Instant,
    next_number: u64,
    next_sweep: Instant,
    counted: Figures,
}

impl Gate {
    pub(super) fn new(limits: Limits, now: Instant) -> Self {
        Self {
            limits,
            teams: HashMap::new(),
            keys: HashMap::new(),
            turns: VecDeque::new(),
            in_work: 0,
            waiting: 0,
            emptied: now,
            next_number: 0,
            next_sweep: now + SWEEP,
            counted: Figures::default(),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn figures(&self) -> Figures {
        Figures {
            in_work: self.in_work,
            waiting: self.waiting,
            remembered: self.teams.len() + self.keys.len(),
            ..self.counted
        }
    }

    /// Returns how many requests of a team wait.
    pub(super) fn waiting_of(&self, team: &str) -> usize {
        self.teams.get(team).map_or(0, |account| account.waiting.len())
    }

    /// Lets a request in, lets it wait, or turns it away; whoever is let in or waits has to [`leave`](Self::leave).
    /// Says beside it how far the caller has come, where it is bounded.
    pub(super) fn enter(&mut self, demand: &Demand<'_>, now: Instant) -> (Option<Rate>, Entry) {
        self.sweep(now);
        if self.waiting == 0 {
            self.emptied = now;
        }
        let (before, refusal) = self.refusal(demand, now);
        if let Some(refusal) = refusal {
            let counter = match refusal {
                Refusal::Rate(_) => &mut self.counted.refused_rate,
                Refusal::Concurrency { .. } => &mut self.counted.refused_concurrency,
                Refusal::Overload => &mut self.counted.refused_overload,
            };
            *counter += 1;
            return (before, Entry::Refused(refusal));
        }
        let rate = self.take(demand, now);
        if self.in_work < self.limits.total_concurrency {
            self.in_work += 1;
            self.counted.admitted += 1;
            return (rate, Entry::Admitted);
        }
        let (number, (sender, turn)) = (self.next_number, oneshot::channel());
        self.next_number += 1;
        self.waiting += 1;
        let at_most = if now.saturating_duration_since(self.emptied) > STANDING {
            STANDING_WAIT.min(self.limits.queue_wait)
        } else {
            self.limits.queue_wait
        };
        let account = self.teams.entry(demand.team.to_owned()).or_default();
        if account.waiting.is_empty() {
            self.turns.push_back(demand.team.to_owned());
        }
        account.waiting.push_back((number, sender));
        (rate, Entry::Waiting { number, turn, at_most })
    }

    /// Ends a request that was let in, or one that waited under this number, and lets those in whose turn it is.
    pub(super) fn leave(&mut self, team: &str, key: Option<&KeyId>, number: Option<u64>, now: Instant) {
        let waited = number.is_some_and(|number| self.give_up(team, number));
        if !waited {
            self.in_work = self.in_work.saturating_sub(1);
        }
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
        self.let_in(now);
    }

    /// Counts a request that waited for as long as it may.
    pub(super) fn count_overload(&mut self) {
        self.counted.refused_overload += 1;
    }

    fn refusal(&self, demand: &Demand<'_>, now: Instant) -> (Option<Rate>, Option<Refusal>) {
        let team = self.teams.get(demand.team);
        let key = demand.key.map(|(key, bounds)| (self.keys.get(key), bounds));
        let both = [Some((team, demand.of_team)), key];
        let mut tightest: Option<Rate> = None;
        let mut refusal = None;
        for (account, bounds) in both.into_iter().flatten() {
            if let Some(limit) = bounds.requests_per_minute {
                let bucket = account.map(|account| account.bucket).unwrap_or_default();
                let rate = bucket.rate(limit, now);
                tightest = Some(tightest.map_or(rate, |tightest| tightest.tighter(rate)));
            }
            if let Some(limit) = bounds.concurrency
                && account.map_or(0, |account| account.in_flight) >= limit
            {
                refusal = refusal.or(Some(Refusal::Concurrency { limit }));
            }
        }
        if let Some(rate) = tightest.filter(|rate| rate.remaining == 0) {
            refusal = Some(Refusal::Rate(rate));
        }
        let is_full = self.in_work >= self.limits.total_concurrency && self.waiting >= self.limits.queue;
        (tightest, refusal.or(is_full.then_some(Refusal::Overload)))
    }

    /// Takes a request out of the buckets of the team and the key.
    fn take(&mut self, demand: &Demand<'_>, now: Instant) -> Option<Rate> {
        let mut tightest = None;
        let mut charge = |account: &mut Account, bounds: Bounds| {
            account.in_flight += 1;
            if let Some(limit) = bounds.requests_per_minute {
                account.bucket.take(limit, now);
                let rate = account.bucket.rate(limit, now);
                tightest = Some(tightest.map_or(rate, |tightest: Rate| tightest.tighter(rate)));
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

    /// Takes a request out of those that wait; false when it was let in meanwhile.
    fn give_up(&mut self, team: &str, number: u64) -> bool {
        let Some(account) = self.teams.get_mut(team) else { return false };
        let Some(position) = account.waiting.iter().position(|(waiting, _)| *waiting == number) else {
            return false;
        };
        account.waiting.remove(position);
        if account.waiting.is_empty() {
            self.turns.retain(|waiting| waiting != team);
        }
        self.waiting -= 1;
        true
    }

    fn let_in(&mut self, now: Instant) {
        while self.in_work < self.limits.total_concurrency {
            let Some(team) = self.turns.pop_front() else { break };
            let Some(account) = self.teams.get_mut(&team) else { continue };
            let Some((_, turn)) = account.waiting.pop_front() else { continue };
            if !account.waiting.is_empty() {
                self.turns.push_back(team);
            }
            self.waiting -= 1;
            self.in_work += 1;
            self.counted.admitted += 1;
            // Whoever gave up at this moment leaves as one who was let in.
            let _ = turn.send(());
        }
        if self.waiting == 0 {
            self.emptied = now;
        }
    }

    /// Forgets those of whom nothing need be known.
    fn sweep(&mut self, now: Instant) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + SWEEP;
        self.teams.retain(|_, account| !account.is_idle(now));
        self.keys.retain(|_, account| !account.is_idle(now));
        give_back(&mut self.teams);
        give_back(&mut self.keys);
    }
}

/// Gives memory back that a rush left behind.
fn give_back<K: Eq + std::hash::Hash, V>(accounts: &mut HashMap<K, V>) {
    if accounts.capacity() / 4 > accounts.len().max(KEPT_ENTRIES) {
        accounts.shrink_to(accounts.len() * 2);
    }
}
