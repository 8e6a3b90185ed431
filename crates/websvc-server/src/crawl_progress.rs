//! The progress that external crawls report while they fill the index. It is stored in memory, for the dashboard.

use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use websvc_types::index::CrawlProgressRequest;

/// The maximum number of stored crawls. Beyond that, the crawl with the oldest report is removed.
const MAX_CRAWLS: usize = 64;

/// The maximum number of stored crawls of one team, so that no team evicts the crawls of others.
const MAX_CRAWLS_PER_TEAM: usize = 16;

/// The time after its last report for which a crawl is stored.
const RETENTION: Duration = Duration::from_secs(600);

/// A crawl and its last report.
#[derive(Debug, Clone)]
pub(crate) struct CrawlProgressEntry {
    /// `None` without authentication, and for teams that are always anonymous.
    pub(crate) team: Option<String>,
    pub(crate) progress: CrawlProgressRequest,
    /// The time of the first report.
    pub(crate) started: Instant,
    /// The time of the last report.
    pub(crate) updated: Instant,
}

/// The external crawls of the last minutes.
#[derive(Debug, Default)]
pub(crate) struct CrawlProgressStore(Mutex<Vec<CrawlProgressEntry>>);

impl CrawlProgressStore {
    /// Stores a report.
    pub(crate) fn update(&self, team: Option<String>, progress: CrawlProgressRequest, now: Instant) {
        let mut crawls = self.current(now);
        let is_same =
            |crawl: &&mut CrawlProgressEntry| crawl.team == team && crawl.progress.id == progress.id;
        if let Some(crawl) = crawls.iter_mut().find(is_same) {
            // A report after the last one of a crawl belongs to a new crawl with the same id.
            if crawl.progress.ended {
                crawl.started = now;
            }
            (crawl.progress, crawl.updated) = (progress, now);
            return;
        }
        make_room(&mut crawls, MAX_CRAWLS_PER_TEAM, |crawl| crawl.team == team);
        make_room(&mut crawls, MAX_CRAWLS, |_| true);
        crawls.push(CrawlProgressEntry { team, progress, started: now, updated: now });
    }

    /// Returns the crawls, newest first.
    pub(crate) fn list(&self, now: Instant) -> Vec<CrawlProgressEntry> {
        let mut crawls = self.current(now).clone();
        crawls.sort_by_key(|crawl| std::cmp::Reverse(crawl.started));
        crawls
    }

    /// Removes crawls that are too old, and returns the others.
    fn current(&self, now: Instant) -> MutexGuard<'_, Vec<CrawlProgressEntry>> {
        let mut crawls = self.0.lock();
        crawls.retain(|crawl| now.saturating_duration_since(crawl.updated) < RETENTION);
        crawls
    }
}

/// Removes the crawls with the oldest reports until fewer than `max` of the selected ones are left.
fn make_room(
    crawls: &mut Vec<CrawlProgressEntry>,
    max: usize,
    is_selected: impl Fn(&CrawlProgressEntry) -> bool,
) {
    while crawls.iter().filter(|crawl| is_selected(crawl)).count() >= max {
        let selected = crawls.iter().enumerate().filter(|(_, crawl)| is_selected(crawl));
        let Some((index, _)) = selected.min_by_key(|(_, crawl)| crawl.updated) else { return };
        crawls.remove(index);
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
    fn later_report_replaces_an_earlier_one_of_the_same_crawl() {
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
    fn stored_crawls_expire_and_are_bounded_by_team_and_in_total() {
        let (crawls, now) = (CrawlProgressStore::default(), Instant::now());
        crawls.update(team("quiet"), progress("docs", 1), now);
        for number in 0..100 {
            crawls.update(team("loud"), progress(&number.to_string(), 1), now + Duration::from_secs(1));
        }
        let found = crawls.list(now + Duration::from_secs(2));
        assert_eq!(found.len(), MAX_CRAWLS_PER_TEAM + 1);
        assert!(found.iter().any(|crawl| crawl.team == team("quiet")));
        for number in 0..100 {
            crawls.update(team(&number.to_string()), progress("docs", 1), now + Duration::from_secs(3));
        }
        assert_eq!(crawls.list(now + Duration::from_secs(4)).len(), MAX_CRAWLS);
        assert_eq!(crawls.list(now + RETENTION + Duration::from_secs(4)).len(), 0);
    }
}
