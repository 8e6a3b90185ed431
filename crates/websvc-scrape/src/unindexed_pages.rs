//! Cached pages that may be missing in the index.
//!
//! A page is cached when it was fetched, and indexed when its formats are written. A process that is killed in between
//! leaves a cached page that is in no index, and that later requests would get from the cache only. So pages that were
//! fetched shortly before the start of this process, or by other processes, are indexed when they are read for the first
//! time. An index on a server keeps the newest version of a page, so that this does not replace a newer page there.
//! Pages that could not be added to the index are indexed in the same way, and all others that were fetched between them.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use parking_lot::Mutex;
use websvc_store::{PageKey, Store};

use crate::cache::StoredCopy;
use crate::scraper::Scraper;

/// The longest time between the fetch of a page and its entry in the index.
const MAX_DELAY_MS: u64 = 600_000;

/// The maximum number of known pages. When there are more, all are forgotten: some pages are indexed once more.
const MAX_KNOWN: usize = 20_000;

/// Cached pages that may be missing in the index.
#[derive(Debug)]
pub(crate) struct UnindexedPages {
    /// The time of the last fetch before the start of this process.
    last_fetch_ms: Option<u64>,
    /// Other processes may store pages in the cache.
    is_shared: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Pages that this process has indexed, by the time of their fetch.
    known: HashMap<u64, HashSet<PageKey>>,
    /// The number of these pages.
    known_pages: usize,
    /// The first and the last fetch of the pages that could not be indexed.
    failed_ms: Option<RangeInclusive<u64>>,
}

impl State {
    fn is_failed(&self, fetched_at_ms: u64) -> bool {
        self.failed_ms.as_ref().is_some_and(|failed| failed.contains(&fetched_at_ms))
    }
}

impl UnindexedPages {
    /// Reads the time of the last fetch.
    pub(crate) fn new(store: &Store) -> Self {
        let last_fetch_ms = store.newest_page_ms().unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(
                error,
                "the time of the last fetch could not be read: cached pages are not indexed"
            );
            None
        });
        Self { last_fetch_ms, is_shared: store.is_shared(), state: Mutex::default() }
    }

    /// Returns true if a page that was read from the cache at `now_ms` may be missing in the index, but only once.
    pub(crate) fn take(&self, copy: &StoredCopy, now_ms: u64) -> bool {
        let fetched_at_ms = copy.fetched_at_ms;
        let was_before_start = self
            .last_fetch_ms
            .is_some_and(|last| (last.saturating_sub(MAX_DELAY_MS)..=last).contains(&fetched_at_ms));
        let may_be_of_other = self.is_shared && fetched_at_ms.saturating_add(MAX_DELAY_MS) > now_ms;
        let is_failed = || self.state.lock().is_failed(fetched_at_ms);
        (was_before_start || may_be_of_other || is_failed()) && self.note(copy)
    }

    /// Returns true if the page that was fetched at this time could not be indexed, and was not since then.
    pub(crate) fn is_missing(&self, key: &PageKey, fetched_at_ms: u64) -> bool {
        let state = self.state.lock();
        let is_known = || state.known.get(&fetched_at_ms).is_some_and(|keys| keys.contains(key));
        state.is_failed(fetched_at_ms) && !is_known()
    }

    /// Records that a page which was fetched at this time could not be indexed.
    pub(crate) fn mark(&self, fetched_at_ms: u64) {
        let mut state = self.state.lock();
        let unknown = state.known.remove(&fetched_at_ms).unwrap_or_default();
        state.known_pages -= unknown.len();
        let range = state.failed_ms.get_or_insert(fetched_at_ms..=fetched_at_ms);
        *range = fetched_at_ms.min(*range.start())..=fetched_at_ms.max(*range.end());
    }

    /// Records that a page is indexed by this process. Returns true if that was not known.
    pub(crate) fn note(&self, copy: &StoredCopy) -> bool {
        let mut state = self.state.lock();
        if state.known_pages >= MAX_KNOWN {
            state.known.clear();
            state.known_pages = 0;
        }
        let is_new = state.known.entry(copy.fetched_at_ms).or_default().insert(copy.key.clone());
        state.known_pages += usize::from(is_new);
        is_new
    }
}

impl Scraper {
    /// Records that a page which was fetched at this time could not be added to the index. It is offered to the index
    /// again when it is read from the page cache.
    pub fn mark_unindexed(&self, fetched_at_ms: u64) {
        self.inner.unindexed_pages.mark(fetched_at_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(fetched_at_ms: u64) -> StoredCopy {
        StoredCopy { key: PageKey::new("http://a.test/", ""), fetched_at_ms }
    }

    fn pages(is_shared: bool) -> UnindexedPages {
        UnindexedPages { last_fetch_ms: Some(2_000_000), is_shared, state: Mutex::default() }
    }

    #[test]
    fn page_that_could_not_be_indexed_is_taken_until_it_is() {
        let pages = pages(false);
        let later = copy(2_000_007);
        assert!(pages.note(&later));
        for _attempt in 0..2 {
            pages.mark(2_000_007);
            assert!(pages.is_missing(&later.key, 2_000_007));
            assert!(pages.take(&later, 2_000_008));
            assert!(!pages.is_missing(&later.key, 2_000_007));
            assert!(!pages.take(&later, 2_000_008));
        }
        pages.mark(2_000_003);
        for (fetched_at_ms, expected) in [(2_000_002, false), (2_000_003, true), (2_000_005, true)] {
            assert_eq!(pages.take(&copy(fetched_at_ms), 2_000_008), expected, "{fetched_at_ms}");
        }
    }

    #[test]
    fn page_that_was_fetched_shortly_before_the_start_is_taken_once() {
        let pages = pages(false);
        for (fetched_at_ms, expected) in
            [(2_000_000, true), (2_000_000, false), (1_400_000, true), (1_399_999, false), (2_000_001, false)]
        {
            assert_eq!(pages.take(&copy(fetched_at_ms), 2_000_002), expected, "{fetched_at_ms}");
        }
    }

    #[test]
    fn recent_page_of_another_process_is_taken_unless_it_was_fetched_here() {
        let pages = pages(true);
        assert!(pages.note(&copy(9_000_000)));
        assert!(!pages.take(&copy(9_000_000), 9_000_001), "it was fetched here");
        assert!(pages.take(&copy(9_000_001), 9_600_000));
        assert!(!pages.take(&copy(9_000_002), 9_600_002), "it is old");
    }
}
