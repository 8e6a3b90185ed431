//! Counts of pages in flight, by team.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// The counts; clones share them. A team without a page in flight has no entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<String, u64>>>);

/// Counts a page as in flight until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlightGuard {
    counts: InFlight,
    team: String,
}

impl InFlight {
    pub(crate) fn begin(&self, team: &str) -> InFlightGuard {
        *self.lock().entry(team.to_owned()).or_default() += 1;
        InFlightGuard { counts: self.clone(), team: team.to_owned() }
    }

    /// Returns the count of one team or of all.
    pub(crate) fn count(&self, team: Option<&str>) -> u64 {
        let counts = self.lock();
        match team {
            Some(team) => counts.get(team).copied().unwrap_or_default(),
            None => counts.values().sum(),
        }
    }

    /// Returns the counts of all teams with pages in flight.
    pub(crate) fn by_team(&self) -> HashMap<String, u64> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.0.lock()
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.team) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.team);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_counted_until_its_guard_is_dropped() {
        let counts = InFlight::default();
        let pages = ["a", "a", "b"].map(|team| counts.begin(team));
        assert_eq!((counts.count(Some("a")), counts.count(Some("c")), counts.count(None)), (2, 0, 3));
        assert_eq!(counts.by_team(), HashMap::from([("a".to_owned(), 2), ("b".to_owned(), 1)]));
        drop(pages);
        assert_eq!((counts.count(Some("a")), counts.count(None)), (0, 0));
    }
}
