//! The answers to scrapes, for as long as they can be asked for again.
//!
//! In memory alone, and bounded: nothing of them is left when the process ends, so that what was asked never outlives the
//! hour for which it is promised. They are compressed, to a third of their size, since few are ever asked for again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use uuid::Uuid;
use websvc_types::limits::SCRAPE_RESULT_LIFETIME_S;

/// How long an answer is kept.
const LIFETIME: Duration = Duration::from_secs(SCRAPE_RESULT_LIFETIME_S);

/// The most compressed bytes of all answers.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A larger answer is not kept: it would push out too many others.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The most answers.
const MAX_ANSWERS: usize = 10_000;

/// The answers, each for the team that asked.
#[derive(Debug, Default)]
pub(crate) struct ScrapeResultStore {
    kept: Mutex<StoredResult>,
}

#[derive(Debug, Default)]
struct StoredResult {
    answers: HashMap<Uuid, Answer>,
    /// The oldest first.
    order: VecDeque<(Uuid, Instant)>,
    bytes: usize,
}

#[derive(Debug)]
struct Answer {
    team: String,
    kept_at: Instant,
    /// LZ4, behind the size of the answer.
    compressed: Box<[u8]>,
}

impl ScrapeResultStore {
    /// Keeps an answer of a team.
    pub(crate) fn keep(&self, id: Uuid, team: &str, json: &[u8]) {
        self.keep_at(Instant::now(), id, team, json);
    }

    /// Returns the answer to a team's scrape, if it is still kept.
    pub(crate) fn find(&self, id: Uuid, team: &str) -> Option<Bytes> {
        self.find_at(Instant::now(), id, team)
    }

    fn keep_at(&self, now: Instant, id: Uuid, team: &str, json: &[u8]) {
        if json.len() > MAX_ANSWER_BYTES {
            return;
        }
        let compressed = compress_prepend_size(json).into_boxed_slice();
        let mut kept = self.lock();
        kept.make_room(now, compressed.len());
        kept.bytes += compressed.len();
        kept.order.push_back((id, now));
        let answer = Answer { team: team.to_owned(), kept_at: now, compressed };
        if let Some(older) = kept.answers.insert(id, answer) {
            kept.bytes -= older.compressed.len();
        }
    }

    fn find_at(&self, now: Instant, id: Uuid, team: &str) -> Option<Bytes> {
        let kept = self.lock();
        let answer = kept.answers.get(&id)?;
        let is_young = now.duration_since(answer.kept_at) < LIFETIME;
        let is_theirs = is_young && answer.team == team;
        is_theirs.then(|| decompress_size_prepended(&answer.compressed).ok())?.map(Bytes::from)
    }

    fn lock(&self) -> MutexGuard<'_, StoredResult> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredResult {
    /// Removes what is too old, and the oldest until there is room for so many bytes.
    fn make_room(&mut self, now: Instant, bytes: usize) {
        while let Some((id, kept_at)) = self.order.front().copied() {
            let is_old = now.duration_since(kept_at) >= LIFETIME;
            let is_full = self.bytes + bytes > MAX_BYTES || self.order.len() >= MAX_ANSWERS;
            if !is_old && !is_full {
                return;
            }
            self.order.pop_front();
            if self.answers.get(&id).is_some_and(|answer| answer.kept_at == kept_at)
                && let Some(answer) = self.answers.remove(&id)
            {
                self.bytes -= answer.compressed.len();
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

    /// Returns bytes that compression does not make fewer.
    fn incompressible(count: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(byte).take(count).collect()
    }

    #[test]
    fn a_text_takes_less_room_than_it_is_long() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        let text = "{\"markdown\":\"one line and one more line\"}".repeat(100);
        results.keep_at(now, id(1), "a", text.as_bytes());
        assert_eq!(results.find_at(now, id(1), "a").as_deref(), Some(text.as_bytes()));
        assert!(results.lock().bytes < text.len() / 3);
    }

    #[test]
    fn an_answer_is_found_by_its_team_for_an_hour() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        results.keep_at(now, id(1), "a", b"{}");
        let later = now + LIFETIME - Duration::from_millis(1);
        assert_eq!(results.find_at(later, id(1), "a").as_deref(), Some(&b"{}"[..]));
        assert_eq!(results.find_at(later, id(1), "b"), None);
        assert_eq!(results.find_at(later, id(2), "a"), None);
        assert_eq!(results.find_at(now + LIFETIME, id(1), "a"), None);
    }

    #[test]
    fn old_answers_make_room_for_new_ones() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        let large = incompressible(MAX_BYTES / 4 - 64 * 1024);
        let fit = 4;
        for number in 0..=fit {
            results.keep_at(now, id(number), "a", &large);
        }
        assert!(results.find_at(now, id(0), "a").is_none());
        assert!((1..=fit).all(|number| results.find_at(now, id(number), "a").is_some()));
        results.keep_at(now + LIFETIME, id(fit + 1), "a", b"{}");
        let kept = results.lock();
        assert_eq!((kept.bytes, kept.answers.len()), (compress_prepend_size(b"{}").len(), 1));
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_many_small_ones_are_bounded() {
        let (results, now) = (ScrapeResultStore::default(), Instant::now());
        results.keep_at(now, id(0), "a", &vec![b' '; MAX_ANSWER_BYTES + 1]);
        assert!(results.find_at(now, id(0), "a").is_none());
        for number in 0..MAX_ANSWERS as u128 + 5 {
            results.keep_at(now, id(number), "a", b"{}");
        }
        assert_eq!(results.lock().answers.len(), MAX_ANSWERS);
    }
}
