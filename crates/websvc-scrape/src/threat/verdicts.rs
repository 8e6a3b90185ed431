//! The cache of verdicts, in memory with a size limit. Requests with zero retention do not use it.

use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

use crate::threat::scanner::Verdict;

/// The maximum number of cached verdicts.
const MAX_VERDICTS: usize = 20_000;

/// The maximum length of a cached URL. Longer ones would need much memory and rarely occur again.
const MAX_URL_BYTES: usize = 2048;

/// The minimum score of a risky URL, whose verdict is cached for longer.
const RISKY_SCORE: u8 = 50;

/// The cached verdicts of one scanner.
#[derive(Debug)]
pub(crate) struct VerdictCache {
    /// Scores and their expiry times, by URL.
    entries: Cache<String, (u8, Instant)>,
    risky_ttl: Duration,
    clean_ttl: Duration,
}

impl VerdictCache {
    /// Creates a cache that stores verdicts of risky and of clean URLs for these times.
    pub(crate) fn new(risky_ttl: Duration, clean_ttl: Duration) -> Self {
        Self { entries: Cache::new(MAX_VERDICTS), risky_ttl, clean_ttl }
    }

    /// Returns the cached score of a URL.
    pub(crate) fn get(&self, url: &str, now: Instant) -> Option<u8> {
        let (score, expires_at) = self.entries.get(url)?;
        (now < expires_at).then_some(score)
    }

    /// Stores a verdict, for no longer than its own TTL.
    pub(crate) fn insert(&self, url: &str, verdict: Verdict, now: Instant) {
        let Verdict { score, ttl: max_ttl } = verdict;
        let ttl = if score >= RISKY_SCORE { self.risky_ttl } else { self.clean_ttl };
        let ttl = max_ttl.map_or(ttl, |max_ttl| max_ttl.min(ttl));
        if url.len() <= MAX_URL_BYTES && !ttl.is_zero() {
            self.entries.insert(url.to_owned(), (score, now + ttl));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://a.test/";

    fn verdict(score: u8) -> Verdict {
        Verdict { score, ttl: None }
    }

    #[test]
    fn risky_urls_are_cached_for_longer_than_clean_ones() {
        let (minute, now) = (Duration::from_secs(60), Instant::now());
        let verdicts = VerdictCache::new(10 * minute, minute);
        for (score, ttl) in [(0, minute), (49, minute), (50, 10 * minute), (100, 10 * minute)] {
            verdicts.insert(URL, verdict(score), now);
            assert_eq!(verdicts.get(URL, now + ttl - Duration::from_millis(1)), Some(score), "{score}");
            assert_eq!(verdicts.get(URL, now + ttl), None, "{score}");
        }
    }

    #[test]
    fn verdict_is_not_cached_beyond_its_own_ttl() {
        let (minute, now) = (Duration::from_secs(60), Instant::now());
        let verdicts = VerdictCache::new(10 * minute, minute);
        verdicts.insert(URL, Verdict { score: 100, ttl: Some(minute / 2) }, now);
        assert_eq!(verdicts.get(URL, now), Some(100));
        assert_eq!(verdicts.get(URL, now + minute / 2), None);
        verdicts.insert("http://b.test/", Verdict { score: 100, ttl: Some(Duration::ZERO) }, now);
        assert_eq!(verdicts.get("http://b.test/", now), None);
    }

    #[test]
    fn long_urls_are_not_cached() {
        let (verdicts, now) =
            (VerdictCache::new(Duration::from_secs(60), Duration::from_secs(60)), Instant::now());
        let long = format!("http://a.test/{}", "x".repeat(MAX_URL_BYTES));
        verdicts.insert(&long, verdict(1), now);
        assert_eq!(verdicts.get(&long, now), None);
    }
}
