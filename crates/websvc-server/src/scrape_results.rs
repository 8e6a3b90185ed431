//! The results of recent scrapes, for `GET /v2/scrape/{id}`.
//!
//! They are stored only in memory, so that no result outlives the promised hour, and their total size is bounded. They
//! are compressed to about a third of their size, because few are ever read again.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;
use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use parking_lot::Mutex;
use uuid::Uuid;
use websvc_types::limits::SCRAPE_RESULT_LIFETIME_S;

/// The time for which a result is stored.
const RETENTION: Duration = Duration::from_secs(SCRAPE_RESULT_LIFETIME_S);

/// The maximum size of all results, compressed.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The maximum size of a result: a larger one would evict too many others.
const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of results.
const MAX_RESULTS: usize = 10_000;

/// The results, each for the team that requested it.
#[derive(Debug, Default)]
pub(crate) struct ScrapeResultStore(Mutex<StoredResults>);

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
    /// LZ4, after the size of the result.
    compressed: Box<[u8]>,
}

impl ScrapeResultStore {
    /// Stores a result of a team.
    pub(crate) fn store(&self, id: Uuid, team: &str, json: &[u8]) {
        self.store_at(Instant::now(), id, team, json);
    }

    /// Returns a result of a team, if it is still stored.
    pub(crate) fn find(&self, id: Uuid, team: &str) -> Option<Bytes> {
        self.find_at(Instant::now(), id, team)
    }

    fn store_at(&self, now: Instant, id: Uuid, team: &str, json: &[u8]) {
        if json.len() > MAX_RESULT_BYTES {
            return;
        }
        let compressed = compress_prepend_size(json).into_boxed_slice();
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
        decompress_size_prepended(&result.compressed).ok().map(Bytes::from)
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
    use super::*;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    /// Returns pseudorandom bytes, which cannot be compressed.
    fn incompressible(count: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(byte).take(count).collect()
    }

    #[test]
    fn stored_text_is_compressed() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        let text = "{\"markdown\":\"one line and one more line\"}".repeat(100);
        results.store_at(now, id(1), "a", text.as_bytes());
        assert_eq!(results.find_at(now, id(1), "a").as_deref(), Some(text.as_bytes()));
        assert!(results.0.lock().bytes < text.len() / 3);
    }

    #[test]
    fn result_is_found_only_by_its_team_and_for_an_hour() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        results.store_at(now, id(1), "a", b"{}");
        let later = now + RETENTION - Duration::from_millis(1);
        assert_eq!(results.find_at(later, id(1), "a").as_deref(), Some(&b"{}"[..]));
        assert_eq!(results.find_at(later, id(1), "b"), None);
        assert_eq!(results.find_at(later, id(2), "a"), None);
        assert_eq!(results.find_at(now + RETENTION, id(1), "a"), None);
    }

    #[test]
    fn oldest_results_are_evicted_for_new_ones() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        let large = incompressible(MAX_BYTES / 4 - 64 * 1024);
        let fit = 4;
        for number in 0..=fit {
            results.store_at(now, id(number), "a", &large);
        }
        assert!(results.find_at(now, id(0), "a").is_none());
        assert!((1..=fit).all(|number| results.find_at(now, id(number), "a").is_some()));
        results.store_at(now + RETENTION, id(fit + 1), "a", b"{}");
        let stored = results.0.lock();
        assert_eq!((stored.bytes, stored.by_id.len()), (compress_prepend_size(b"{}").len(), 1));
    }

    #[test]
    fn too_large_result_is_not_stored_and_the_number_of_results_is_bounded() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        results.store_at(now, id(0), "a", &vec![b' '; MAX_RESULT_BYTES + 1]);
        assert!(results.find_at(now, id(0), "a").is_none());
        for number in 0..MAX_RESULTS as u128 + 5 {
            results.store_at(now, id(number), "a", b"{}");
        }
        assert_eq!(results.0.lock().by_id.len(), MAX_RESULTS);
    }
}
