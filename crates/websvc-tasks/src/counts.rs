//! Counts of ended tasks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts of ended tasks by status, since the start of the process.
#[derive(Debug)]
pub struct EndCounts<S> {
    counts: Box<[(S, AtomicU64)]>,
}

impl<S: Copy + PartialEq> EndCounts<S> {
    /// Creates counts of 0 for these statuses.
    #[must_use]
    pub fn new(statuses: impl IntoIterator<Item = S>) -> Self {
        Self { counts: statuses.into_iter().map(|status| (status, AtomicU64::new(0))).collect() }
    }

    /// Counts a task that ended with a status.
    pub fn record(&self, status: S) {
        if let Some((_, count)) = self.counts.iter().find(|(ended, _)| *ended == status) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Returns the counts in the order of the statuses.
    #[must_use]
    pub fn counts(&self) -> Vec<(S, u64)> {
        self.counts.iter().map(|(status, count)| (*status, count.load(Relaxed))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_tasks_are_counted_by_status() {
        let counts = EndCounts::new(["done", "failed"]);
        for status in ["failed", "running", "failed"] {
            counts.record(status);
        }
        assert_eq!(counts.counts(), [("done", 0), ("failed", 2)]);
    }
}
