//! Cached pages that may be missing in the index.
//!
//! A page is cached when it was fetched, and indexed when its formats are written. A process that is killed in between
//! leaves a cached page that is in no index, and that later requests would get from the cache only. So pages that were
//! fetched shortly before the start of this process, or by other processes, are indexed when they are read for the first
//! time. An index on a server keeps the newest version of a page, so that this does not replace a newer page there.

use std::collections::HashSet;

use parking_lot::Mutex;
use websvc_store::{PageKey, Store};

use crate::cache::StoredCopy;

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
    /// Pages that this process has indexed.
    known: Mutex<HashSet<(PageKey, u64)>>,
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
        Self { last_fetch_ms, is_shared: store.is_shared(), known: Mutex::default() }
    }

    /// Returns true if a page that was read from the cache at `now_ms` may be missing in the index, but only once.
    pub(crate) fn take(&self, copy: &StoredCopy, now_ms: u64) -> bool {
        let fetched_at_ms = copy.fetched_at_ms;
        let was_before_start = self
            .last_fetch_ms
            .is_some_and(|last| (last.saturating_sub(MAX_DELAY_MS)..=last).contains(&fetched_at_ms));
        let may_be_of_other = self.is_shared && fetched_at_ms.saturating_add(MAX_DELAY_MS) > now_ms;
        (was_before_start || may_be_of_other) && self.note(copy)
    }

    /// Records that a page is indexed by this process. Returns true if that was not known.
    pub(crate) fn note(&self, copy: &StoredCopy) -> bool {
        let mut known = self.known.lock();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert((copy.key.clone(), copy.fetched_at_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(fetched_at_ms: u64) -> StoredCopy {
        StoredCopy { key: PageKey::new("http://a.test/", ""), fetched_at_ms }
    }

    fn pages(is_shared: bool) -> UnindexedPages {
        UnindexedPages { last_fetch_ms: Some(2_000_000), is_shared, known: Mutex::default() }
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
