//! The results of recent scrapes of this process, in memory.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use bytes::Bytes;
use parking_lot::Mutex;
use uuid::Uuid;

use super::RETENTION;

/// The maximum size of all results, compressed.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of results.
const MAX_RESULTS: usize = 10_000;

/// The results, each for the team that requested it.
#[derive(Debug, Default)]
pub(super) struct MemoryResults(Mutex<StoredResults>);

#[derive(Debug, Default)]
struct StoredResults {
    by_id: HashMap<Uuid, StoredResult>,
    /// Oldest first.
    order: VecDeque<(Uuid, Instant)>,
    /// The size of all results, compressed.
    bytes: usize,
}

#[derive(Debug)]
struct StoredResult {
    team: String,
    stored_at: Instant,
    compressed: Bytes,
}

impl MemoryResults {
    /// Stores a compressed result of a team.
    pub(super) fn store(&self, id: Uuid, team: &str, compressed: Bytes) {
        self.store_at(Instant::now(), id, team, compressed);
    }

    /// Returns a compressed result of a team, if it is still stored.
    pub(super) fn find(&self, id: Uuid, team: &str) -> Option<Bytes> {
        self.find_at(Instant::now(), id, team)
    }

    fn store_at(&self, now: Instant, id: Uuid, team: &str, compressed: Bytes) {
        let mut results = self.0.lock();
        results.make_room(now, compressed.len());
        results.bytes += compressed.len();
        results.order.push_back((id, now));
        let result = StoredResult { team: team.to_owned(), stored_at: now, compressed };
        if let Some(older) = results.by_id.insert(id, result) {
            results.bytes -= older.compressed.len();
        }
    }

    fn find_at(&self, now: Instant, id: Uuid, team: &str) -> Option<Bytes> {
        let results = self.0.lock();
        let result = results.by_id.get(&id)?;
        let is_fresh = now.duration_since(result.stored_at) < RETENTION;
        if !is_fresh || result.team != team {
            return None;
        }
        Some(result.compressed.clone())
    }
}

impl StoredResults {
    /// Removes expired results, and then the oldest ones until there is room for another one of this size.
    fn make_room(&mut self, now: Instant, bytes: usize) {
        while let Some((id, stored_at)) = self.order.front().copied() {
            let is_expired = now.duration_since(stored_at) >= RETENTION;
            let is_full = self.bytes + bytes > MAX_BYTES || self.order.len() >= MAX_RESULTS;
            if !is_expired && !is_full {
                return;
            }
            self.order.pop_front();
            if self.by_id.get(&id).is_some_and(|result| result.stored_at == stored_at)
                && let Some(result) = self.by_id.remove(&id)
            {
                self.bytes -= result.compressed.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const RESULT: Bytes = Bytes::from_static(b"a result");

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn result_is_found_only_by_its_team_and_for_an_hour() {
        let (results, now) = (MemoryResults::default(), Instant::now());
        results.store_at(now, id(1), "a", RESULT);
        let later = now + RETENTION - Duration::from_millis(1);
        assert_eq!(results.find_at(later, id(1), "a"), Some(RESULT));
        assert_eq!(results.find_at(later, id(1), "b"), None);
        assert_eq!(results.find_at(later, id(2), "a"), None);
        assert_eq!(results.find_at(now + RETENTION, id(1), "a"), None);
    }

    #[test]
    fn oldest_results_are_evicted_for_new_ones() {
        let (results, now) = (MemoryResults::default(), Instant::now());
        let large = Bytes::from(vec![0; MAX_BYTES / 4]);
        let fit = 4;
        for number in 0..=fit {
            results.store_at(now, id(number), "a", large.clone());
        }
        assert!(results.find_at(now, id(0), "a").is_none());
        assert!((1..=fit).all(|number| results.find_at(now, id(number), "a").is_some()));
        results.store_at(now + RETENTION, id(fit + 1), "a", RESULT);
        let stored = results.0.lock();
        assert_eq!((stored.bytes, stored.by_id.len()), (RESULT.len(), 1));
    }

    #[test]
    fn number_of_results_is_bounded() {
        let (results, now) = (MemoryResults::default(), Instant::now());
        for number in 0..MAX_RESULTS as u128 + 5 {
            results.store_at(now, id(number), "a", RESULT);
        }
        assert_eq!(results.0.lock().by_id.len(), MAX_RESULTS);
        assert!(results.find_at(now, id(4), "a").is_none() && results.find_at(now, id(5), "a").is_some());
    }
}
