//! The answers to scrapes, for as long as they can be asked for again.
//!
//! In memory alone, and bounded: nothing of them is left when the process ends, so that what was asked never outlives the
//! hour for which it is promised.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use uuid::Uuid;
use websvc_types::limits::SCRAPE_RESULT_LIFETIME_S;

/// How long an answer is kept.
const LIFETIME: Duration = Duration::from_secs(SCRAPE_RESULT_LIFETIME_S);

/// The most bytes of all answers.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// A larger answer is not kept: it would push out too many others.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The most answers.
const MAX_ANSWERS: usize = 10_000;

/// The answers, each for the team that asked.
#[derive(Debug, Default)]
pub(crate) struct Results {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    answers: HashMap<Uuid, Answer>,
    /// The oldest first.
    order: VecDeque<(Uuid, Instant)>,
    bytes: usize,
}

#[derive(Debug)]
struct Answer {
    team: String,
    kept_at: Instant,
    json: Bytes,
}

impl Results {
    /// Keeps an answer of a team.
    pub(crate) fn keep(&self, id: Uuid, team: &str, json: Bytes) {
        self.keep_at(Instant::now(), id, team, json);
    }

    /// Returns the answer to a team's scrape, if it is still kept.
    pub(crate) fn find(&self, id: Uuid, team: &str) -> Option<Bytes> {
        self.find_at(Instant::now(), id, team)
    }

    fn keep_at(&self, now: Instant, id: Uuid, team: &str, json: Bytes) {
        if json.len() > MAX_ANSWER_BYTES {
            return;
        }
        let mut kept = self.lock();
        kept.make_room(now, json.len());
        kept.bytes += json.len();
        kept.order.push_back((id, now));
        let answer = Answer { team: team.to_owned(), kept_at: now, json };
        if let Some(older) = kept.answers.insert(id, answer) {
            kept.bytes -= older.json.len();
        }
    }

    fn find_at(&self, now: Instant, id: Uuid, team: &str) -> Option<Bytes> {
        let kept = self.lock();
        let answer = kept.answers.get(&id)?;
        let is_young = now.duration_since(answer.kept_at) < LIFETIME;
        (is_young && answer.team == team).then(|| answer.json.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
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
                self.bytes -= answer.json.len();
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

    #[test]
    fn an_answer_is_found_by_its_team_for_an_hour() {
        let (results, now) = (Results::default(), Instant::now());
        results.keep_at(now, id(1), "a", Bytes::from_static(b"{}"));
        let later = now + LIFETIME - Duration::from_millis(1);
        assert_eq!(results.find_at(later, id(1), "a").as_deref(), Some(&b"{}"[..]));
        assert_eq!(results.find_at(later, id(1), "b"), None);
        assert_eq!(results.find_at(later, id(2), "a"), None);
        assert_eq!(results.find_at(now + LIFETIME, id(1), "a"), None);
    }

    #[test]
    fn old_answers_make_room_for_new_ones() {
        let (results, now) = (Results::default(), Instant::now());
        let large = || Bytes::from(vec![b' '; MAX_ANSWER_BYTES]);
        let fit = (MAX_BYTES / MAX_ANSWER_BYTES) as u128;
        for number in 0..=fit {
            results.keep_at(now, id(number), "a", large());
        }
        assert!(results.find_at(now, id(0), "a").is_none());
        assert!((1..=fit).all(|number| results.find_at(now, id(number), "a").is_some()));
        results.keep_at(now + LIFETIME, id(fit + 1), "a", Bytes::from_static(b"{}"));
        let kept = results.lock();
        assert_eq!((kept.bytes, kept.answers.len()), (2, 1));
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_many_small_ones_are_bounded() {
        let (results, now) = (Results::default(), Instant::now());
        results.keep_at(now, id(0), "a", Bytes::from(vec![b' '; MAX_ANSWER_BYTES + 1]));
        assert!(results.find_at(now, id(0), "a").is_none());
        for number in 0..MAX_ANSWERS as u128 + 5 {
            results.keep_at(now, id(number), "a", Bytes::from_static(b"{}"));
        }
        assert_eq!(results.lock().answers.len(), MAX_ANSWERS);
    }
}
