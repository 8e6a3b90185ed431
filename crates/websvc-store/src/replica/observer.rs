//! Detection of processes that no longer increment their beats.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Maximum time between two observations. After a longer pause nothing is known about the time in between.
const MAX_PAUSE: Duration = Duration::from_secs(4);

/// The beats of other processes, and since when they have been the same. Times are those of this process alone.
#[derive(Debug)]
pub(super) struct Observer<K> {
    lost_after: Duration,
    last: Option<Instant>,
    seen: HashMap<K, (i64, Instant)>,
}

impl<K: Eq + Hash + Clone> Observer<K> {
    pub(super) fn new(lost_after: Duration) -> Self {
        Self { lost_after, last: None, seen: HashMap::new() }
    }

    /// Forgets everything, because the beats could not be read.
    pub(super) fn reset(&mut self) {
        self.last = None;
        self.seen.clear();
    }

    /// Records the beats at `now`. Returns the lost processes: those whose beat has been the same for too long.
    pub(super) fn observe(&mut self, beats: Vec<(K, i64)>, now: Instant) -> Vec<(K, i64)> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) > MAX_PAUSE) {
            self.reset();
        }
        self.last = Some(now);
        let mut seen = HashMap::with_capacity(beats.len());
        let mut lost = Vec::new();
        for (process, beat) in beats {
            let since = match self.seen.get(&process) {
                Some((same, since)) if *same == beat => *since,
                Some(_) | None => now,
            };
            if now.saturating_duration_since(since) >= self.lost_after {
                lost.push((process.clone(), beat));
            }
            seen.insert(process, (beat, since));
        }
        self.seen = seen;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST_AFTER: Duration = Duration::from_secs(8);

    fn seconds(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn only_a_process_with_an_unchanged_beat_is_lost() {
        let (mut observer, start) = (Observer::new(LOST_AFTER), Instant::now());
        for second in 0..8 {
            let beats = vec![("alive", second), ("dead", 5)];
            assert_eq!(observer.observe(beats, seconds(start, second as u64)), [], "{second}");
        }
        let beats = vec![("alive", 8), ("dead", 5)];
        assert_eq!(observer.observe(beats, seconds(start, 8)), [("dead", 5)]);
    }

    #[test]
    fn nothing_is_known_about_the_time_of_an_outage_or_a_pause() {
        let (mut observer, start) = (Observer::new(LOST_AFTER), Instant::now());
        for second in [0, 3, 6] {
            observer.observe(vec![("other", 1)], seconds(start, second));
        }
        // This process was suspended.
        assert_eq!(observer.observe(vec![("other", 1)], seconds(start, 60)), []);
        assert_eq!(observer.observe(vec![("other", 1)], seconds(start, 64)), []);
        observer.reset();
        assert_eq!(observer.observe(vec![("other", 1)], seconds(start, 67)), []);
        assert_eq!(observer.observe(vec![("other", 1)], seconds(start, 71)), []);
        assert_eq!(observer.observe(vec![("other", 1)], seconds(start, 75)), [("other", 1)]);
    }

    #[test]
    fn process_that_left_is_forgotten() {
        let (mut observer, start) = (Observer::new(LOST_AFTER), Instant::now());
        observer.observe(vec![("other", 1)], start);
        observer.observe(Vec::new(), seconds(start, 4));
        assert_eq!(observer.observe(vec![("other", 1)], seconds(start, 8)), []);
    }
}
