//! Counters of metrics.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that only grows, such as that of requests. Its text is the number.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to the number.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }

    /// Returns the number.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Counters of one metric by the kind of what is counted, such as its outcome.
#[derive(Debug)]
pub struct CountersBy<K>(Box<[(K, Counter)]>);

impl<K: Copy + PartialEq> CountersBy<K> {
    /// Creates a counter for each of these kinds.
    #[must_use]
    pub fn new(kinds: impl IntoIterator<Item = K>) -> Self {
        Self(kinds.into_iter().map(|kind| (kind, Counter::default())).collect())
    }

    /// Adds to the counter of a kind. Kinds without a counter are not counted.
    pub fn add(&self, kind: K, count: u64) {
        if let Some((_, counter)) = self.0.iter().find(|(other, _)| *other == kind) {
            counter.add(count);
        }
    }

    /// Returns the counter at an index, in the order of the kinds.
    #[must_use]
    pub fn at(&self, index: usize) -> &Counter {
        &self.0[index].1
    }

    /// Returns the numbers in the order of the kinds.
    #[must_use]
    pub fn counts(&self) -> Vec<(K, u64)> {
        self.0.iter().map(|(kind, counter)| (*kind, counter.get())).collect()
    }

    /// Returns the sum of the numbers.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, counter)| counter.get()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_with_a_counter_are_counted() {
        let counters = CountersBy::new(["done", "failed"]);
        for kind in ["failed", "running", "failed"] {
            counters.add(kind, 1);
        }
        counters.at(0).add(5);
        assert_eq!((counters.counts(), counters.total()), (vec![("done", 5), ("failed", 2)], 7));
        assert_eq!(counters.at(1).to_string(), "2");
    }
}
