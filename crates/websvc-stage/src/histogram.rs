//! How long something took, in classes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counts durations by class. No lock, and no room but that of the counters.
#[derive(Debug)]
pub struct Histogram {
    bounds_us: &'static [u64],
    /// By class, not summed up; one more than there are bounds.
    classes: Box<[AtomicU64]>,
    total_us: AtomicU64,
}

/// Counts of a histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// The upper bounds of the classes, in microseconds, ascending.
    pub bounds_us: &'static [u64],
    /// How many took at most so long, by `bounds_us`, and at the end all of them.
    pub counts: Vec<u64>,
    /// Sum of all durations, in microseconds.
    pub total_us: u64,
}

impl Histogram {
    /// Makes an empty one; `bounds_us` are the upper bounds of its classes in microseconds, ascending.
    #[must_use]
    pub fn new(bounds_us: &'static [u64]) -> Self {
        let classes = (0..=bounds_us.len()).map(|_| AtomicU64::default()).collect();
        Self { bounds_us, classes, total_us: AtomicU64::default() }
    }

    /// Counts one duration.
    pub fn count(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let class = self.bounds_us.partition_point(|bound| *bound < us);
        self.classes[class].fetch_add(1, Relaxed);
        self.total_us.fetch_add(us, Relaxed);
    }

    /// Returns what was counted.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let mut sum = 0;
        let counts = self.classes.iter().map(|class| {
            sum += class.load(Relaxed);
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
    fn a_duration_is_in_every_class_whose_bound_it_does_not_pass() {
        let histogram = Histogram::new(&[10, 1_000]);
        for us in [0, 10, 11, 1_000, 1_001] {
            histogram.count(Duration::from_micros(us));
        }
        let expected = Distribution { bounds_us: &[10, 1_000], counts: vec![2, 4, 5], total_us: 2_022 };
        assert_eq!(histogram.distribution(), expected);
    }
}
