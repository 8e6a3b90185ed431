//! Verdicts that are remembered for a while, in memory and bounded. Requests of zero retention do not come here.

use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

use crate::scanner::Verdict;

/// How many verdicts are remembered.
const VERDICTS: usize = 20_000;

/// Longer URLs are not remembered: they would fill the memory, and hardly come again.
const LONGEST_URL: usize = 2048;

/// From this score on a URL counts as risky, and its verdict holds for longer.
const RISKY: u8 = 50;

/// The verdicts of one scanner.
#[derive(Debug)]
pub(crate) struct Verdicts {
    known: Cache<String, (u8, Instant)>,
    risky: Duration,
    clean: Duration,
}

impl Verdicts {
    /// Remembers risky URLs and clean ones for so long.
    pub(crate) fn new(risky: Duration, clean: Duration) -> Self {
        Self { known: Cache::new(VERDICTS), risky, clean }
    }

    /// Returns the score of a URL, if it is known.
    pub(crate) fn find(&self, url: &str, now: Instant) -> Option<u8> {
        let (score, until) = self.known.get(url)?;
        (now < until).then_some(score)
    }

    /// Remembers a verdict, no longer than it holds by itself.
    pub(crate) fn keep(&self, url: &str, verdict: Verdict, now: Instant) {
        let Verdict { score, holds_for } = verdict;
        let time = if score >= RISKY { self.risky } else { self.clean };
        let time = holds_for.map_or(time, |holds_for| holds_for.min(time));
        if url.len() <= LONGEST_URL && !time.is_zero() {
            self.known.insert(url.to_owned(), (score, now + time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://a.test/";

    fn verdict(score: u8) -> Verdict {
        Verdict { score, holds_for: None }
    }

    #[test]
    fn risky_urls_are_remembered_for_longer_than_clean_ones() {
        let (minute, now) = (Duration::from_secs(60), Instant::now());
        let verdicts = Verdicts::new(10 * minute, minute);
        for (score, holds) in [(0, minute), (49, minute), (50, 10 * minute), (100, 10 * minute)] {
            verdicts.keep(URL, verdict(score), now);
            assert_eq!(verdicts.find(URL, now + holds - Duration::from_millis(1)), Some(score), "{score}");
            assert_eq!(verdicts.find(URL, now + holds), None, "{score}");
        }
    }

    #[test]
    fn a_verdict_is_not_remembered_beyond_its_own_end() {
        let (minute, now) = (Duration::from_secs(60), Instant::now());
        let verdicts = Verdicts::new(10 * minute, minute);
        verdicts.keep(URL, Verdict { score: 100, holds_for: Some(minute / 2) }, now);
        assert_eq!(verdicts.find(URL, now), Some(100));
        assert_eq!(verdicts.find(URL, now + minute / 2), None);
        verdicts.keep("http://b.test/", Verdict { score: 100, holds_for: Some(Duration::ZERO) }, now);
        assert_eq!(verdicts.find("http://b.test/", now), None);
    }

    #[test]
    fn long_urls_are_not_remembered() {
        let (verdicts, now) =
            (Verdicts::new(Duration::from_secs(60), Duration::from_secs(60)), Instant::now());
        let long = format!("http://a.test/{}", "x".repeat(LONGEST_URL));
        verdicts.keep(&long, verdict(1), now);
        assert_eq!(verdicts.find(&long, now), None);
    }
}
