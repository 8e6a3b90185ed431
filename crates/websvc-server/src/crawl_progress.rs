//! The crawls that fill the index from elsewhere, as far as they say how far they are: in memory, for people to look at.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use websvc_types::index::CrawlProgressRequest;

/// So many crawls are remembered; the one that was silent longest goes first.
const MOST: usize = 64;

/// So many of them of one team, so that nobody crowds out the others.
const MOST_OF_A_TEAM: usize = 16;

/// A crawl that says nothing for so long is forgotten.
const MEMORY: Duration = Duration::from_secs(600);

/// What is known of a crawl.
#[derive(Debug, Clone)]
pub(crate) struct CrawlProgressEntry {
    /// `None` where nobody is asked for a key, and for who wants to stay unnamed.
    pub(crate) team: Option<String>,
    pub(crate) progress: CrawlProgressRequest,
    /// When it was first heard of.
    pub(crate) begun: Instant,
    /// When it was last heard of.
    pub(crate) heard: Instant,
}

/// The crawls.
#[derive(Debug, Default)]
pub(crate) struct CrawlProgressStore(Mutex<Vec<CrawlProgressEntry>>);

impl CrawlProgressStore {
    /// Notes how far a crawl is.
    pub(crate) fn update(&self, team: Option<String>, progress: CrawlProgressRequest, now: Instant) {
        let mut crawls = self.fresh(now);
        let same = |crawl: &&mut CrawlProgressEntry| crawl.team == team && crawl.progress.id == progress.id;
        if let Some(crawl) = crawls.iter_mut().find(same) {
            // One that goes on after its end is a new one with an old name.
            if crawl.progress.ended {
                crawl.begun = now;
            }
            (crawl.progress, crawl.heard) = (progress, now);
            return;
        }
        make_room(&mut crawls, MOST_OF_A_TEAM, |crawl| crawl.team == team);
        make_room(&mut crawls, MOST, |_| true);
        crawls.push(CrawlProgressEntry { team, progress, begun: now, heard: now });
    }

    /// Returns the crawls, the newest first.
    pub(crate) fn list(&self, now: Instant) -> Vec<CrawlProgressEntry> {
        let mut crawls = self.fresh(now).clone();
        crawls.sort_by_key(|crawl| std::cmp::Reverse(crawl.begun));
        crawls
    }

    fn fresh(&self, now: Instant) -> MutexGuard<'_, Vec<CrawlProgressEntry>> {
        let mut crawls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        crawls.retain(|crawl| now.saturating_duration_since(crawl.heard) < MEMORY);
        crawls
    }
}

/// Leaves room for one more where there are as many of a kind as there may be.
fn make_room(
    crawls: &mut Vec<CrawlProgressEntry>,
    most: usize,
    is_of_kind: impl Fn(&CrawlProgressEntry) -> bool,
) {
    while crawls.iter().filter(|crawl| is_of_kind(crawl)).count() >= most {
        let of_kind = crawls.iter().enumerate().filter(|(_, crawl)| is_of_kind(crawl));
        let Some((at, _)) = of_kind.min_by_key(|(_, crawl)| crawl.heard) else { return };
        crawls.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(id: &str, pages: u64) -> CrawlProgressRequest {
        CrawlProgressRequest { id: id.to_owned(), pages, ..CrawlProgressRequest::default() }
    }

    fn team(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[test]
    fn later_words_replace_earlier_ones_of_the_same_crawl() {
        let (crawls, now) = (CrawlProgressStore::default(), Instant::now());
        crawls.update(team("a"), progress("docs", 1), now);
        crawls.update(team("a"), progress("docs", 5), now + Duration::from_secs(3));
        crawls.update(team("b"), progress("docs", 2), now + Duration::from_secs(4));
        let found: Vec<_> = crawls
            .list(now + Duration::from_secs(5))
            .into_iter()
            .map(|crawl| (crawl.team, crawl.progress.pages))
            .collect();
        assert_eq!(found, [(team("b"), 2), (team("a"), 5)]);
    }

    #[test]
    fn silent_crawls_are_forgotten_and_nobody_crowds_out_the_others() {
        let (crawls, now) = (CrawlProgressStore::default(), Instant::now());
        crawls.update(team("quiet"), progress("docs", 1), now);
        for number in 0..100 {
            crawls.update(team("loud"), progress(&number.to_string(), 1), now + Duration::from_secs(1));
        }
        let found = crawls.list(now + Duration::from_secs(2));
        assert_eq!(found.len(), MOST_OF_A_TEAM + 1);
        assert!(found.iter().any(|crawl| crawl.team == team("quiet")));
        for number in 0..100 {
            crawls.update(team(&number.to_string()), progress("docs", 1), now + Duration::from_secs(3));
        }
        assert_eq!(crawls.list(now + Duration::from_secs(4)).len(), MOST);
        assert_eq!(crawls.list(now + MEMORY + Duration::from_secs(4)).len(), 0);
    }
}
