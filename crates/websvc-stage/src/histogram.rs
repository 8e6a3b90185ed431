//! Histograms of durations.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counts durations in buckets, without a lock and without allocation after its creation.
#[derive(Debug)]
pub struct Histogram {
    bounds_us: &'static [u64],
    /// Counts of each bucket, not cumulative. There is one bucket more than there are bounds.
    buckets: Box<[AtomicU64]>,
    total_us: AtomicU64,
}

/// A snapshot of a histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// Inclusive upper bounds of the buckets, in microseconds, ascending.
    pub bounds_us: &'static [u64],
    /// Cumulative counts: for each of `bounds_us` the number of durations up to it, and finally the number of all.
    pub counts: Vec<u64>,
    /// Sum of all durations, in microseconds.
    pub total_us: u64,
}

impl Histogram {
    /// Creates an empty histogram; `bounds_us` are the inclusive upper bounds of its buckets in microseconds,
    /// ascending.
    #[must_use]
    pub fn new(bounds_us: &'static [u64]) -> Self {
        let buckets = (0..=bounds_us.len()).map(|_| AtomicU64::default()).collect();
        Self { bounds_us, buckets, total_us: AtomicU64::default() }
    }

    /// Counts one duration.
    pub fn count(&self, duration: Duration) {
        let us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = self.bounds_us.partition_point(|bound| *bound < us);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.total_us.fetch_add(us, Relaxed);
    }

    /// Returns a snapshot of the counts.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let mut sum = 0;
        let counts = self.buckets.iter().map(|bucket| {
            sum += bucket.load(Relaxed);
            sum
        });
        Distribution {
            bounds_us: self.bounds_us,
            counts: counts.collect(),
            total_us: self.total_us.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_cumulative_and_bounds_are_inclusive() {
        let histogram = Histogram::new(&[10, 1_000]);
        for us in [0, 10, 11, 1_000, 1_001] {
            histogram.count(Duration::from_micros(us));
        }
        let expected = Distribution { bounds_us: &[10, 1_000], counts: vec![2, 4, 5], total_us: 2_022 };
        assert_eq!(histogram.distribution(), expected);
    }
}
