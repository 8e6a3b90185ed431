//! What a browser was good for at a host, for a while.

use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

/// How many hosts are remembered.
const HOSTS: usize = 10_000;

/// How long what was learned holds.
const HOLDS: Duration = Duration::from_secs(3600);

/// Which way to its pages worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Its pages are shells that a browser fills.
    Draws,
    /// A browser saw no more than what is served.
    Serves,
}

/// The hosts whose pages looked like shells.
#[derive(Debug)]
pub(crate) struct Hosts {
    known: Cache<String, (Habit, Instant)>,
}

impl Hosts {
    pub(crate) fn new() -> Self {
        Self { known: Cache::new(HOSTS) }
    }

    /// Returns what was learned of a host.
    pub(crate) fn habit(&self, host: &str) -> Option<Habit> {
        let (habit, at) = self.known.get(host)?;
        (at.elapsed() < HOLDS).then_some(habit)
    }

    pub(crate) fn learn(&self, host: &str, habit: Habit) {
        self.known.insert(host.to_owned(), (habit, Instant::now()));
    }
}
