//! The state of one host in a crawl: its rules, its queue and its pace.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use url::Url;

use super::robots::Rules;

/// The longest wait between two requests that a slow host gets by itself.
const MAX_PACE: Duration = Duration::from_secs(10);

/// The first wait after a host said that it is overloaded; it doubles with every further time.
const BACKOFF: Duration = Duration::from_secs(2);

/// How often a request is tried again for a host that said it is overloaded.
pub(super) const MAX_RETRIES: u8 = 3;

/// So many sitemaps and feeds of a host come before its pages; further ones come after them.
const FIRST_LISTINGS: usize = 20;

/// Most sitemaps and feeds of one host that are read.
const MAX_LISTINGS: usize = 1_000;

/// Something to be fetched from a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    /// Its robots.txt; comes before everything else.
    Robots,
    /// A file that lists pages: a sitemap or a feed.
    Listing(Url),
    /// A page.
    Page(PageTask),
}

/// A page to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageTask {
    pub(super) url: Url,
    /// Links from a seed to here; a seed has 0.
    pub(super) depth: u32,
    /// How often it was tried before.
    pub(super) retries: u8,
}

/// One host.
pub(super) struct Host {
    /// The scheme and authority under which its robots.txt is.
    pub(super) origin: Url,
    /// Unknown until its robots.txt was asked for.
    pub(super) rules: Option<Rules>,
    tasks: VecDeque<Task>,
    listings: VecDeque<Url>,
    listings_started: usize,
    listings_running: usize,
    running: usize,
    ready_at: Instant,
    backoffs: u32,
}

impl Host {
    pub(super) fn new(origin: Url, now: Instant) -> Self {
        Self {
            origin,
            rules: None,
            tasks: VecDeque::from([Task::Robots]),
            listings: VecDeque::new(),
            listings_started: 0,
            listings_running: 0,
            running: 0,
            ready_at: now,
            backoffs: 0,
        }
    }

    /// Returns whether its rules, once they are known, allow a page to be fetched.
    pub(super) fn allows(&self, url: &Url) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.allow(url))
    }

    pub(super) fn push(&mut self, task: Task) {
        self.tasks.push_back(task);
    }

    /// Adds a file that lists pages, unless there are too many.
    pub(super) fn push_listing(&mut self, url: Url) {
        if self.listings_started + self.listings.len() < MAX_LISTINGS {
            self.listings.push_back(url);
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.tasks.len() + self.listings.len()
    }

    /// Returns whether listings come before pages now.
    fn lists_first(&self) -> bool {
        self.listings_started < FIRST_LISTINGS && self.rules.is_some()
    }

    /// Returns when the next task may start; `None` while there is none or the host is busy.
    pub(super) fn next_at(&self, per_host: usize) -> Option<Instant> {
        let rules_are_coming = self.rules.is_none() && self.running > 0;
        // What the first listings say of a page, such as its date, is to be known before the page is there.
        let pages_wait = self.listings_running > 0 && self.listings_started <= FIRST_LISTINGS;
        let has_task = !self.listings.is_empty() || (!pages_wait && !self.tasks.is_empty());
        let free = self.running < per_host && !rules_are_coming && has_task;
        free.then_some(self.ready_at)
    }

    /// Takes the next task, which the caller starts now.
    pub(super) fn start(&mut self) -> Option<Task> {
        let pages_wait = self.listings_running > 0 && self.listings_started <= FIRST_LISTINGS;
        let task = if (self.lists_first() || pages_wait || self.tasks.is_empty())
            && let Some(url) = self.listings.pop_front()
        {
            self.listings_started += 1;
            self.listings_running += 1;
            Task::Listing(url)
        } else {
            self.tasks.pop_front()?
        };
        self.running += 1;
        Some(task)
    }

    /// Notes the end of a listing that took `elapsed` of the network.
    pub(super) fn finish_listing(&mut self, now: Instant, elapsed: Duration) {
        self.listings_running -= 1;
        self.finish(now, Some(elapsed));
    }

    /// Notes the end of a task that took `elapsed` of the network; none when the cache answered.
    pub(super) fn finish(&mut self, now: Instant, elapsed: Option<Duration>) {
        self.running -= 1;
        let Some(elapsed) = elapsed else { return };
        let asked = self.rules.as_ref().and_then(Rules::delay).unwrap_or_default();
        self.ready_at = self.ready_at.max(now + elapsed.min(MAX_PACE).max(asked));
    }

    /// Notes that the host said it is overloaded, and for how long.
    pub(super) fn back_off(&mut self, now: Instant, retry_after: Option<Duration>) {
        let wait = retry_after.unwrap_or(BACKOFF * 2_u32.saturating_pow(self.backoffs.min(5)));
        self.backoffs += 1;
        self.ready_at = self.ready_at.max(now + wait.min(Duration::from_secs(120)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(now: Instant) -> Host {
        Host::new(Url::parse("http://a.test/").unwrap(), now)
    }

    #[test]
    fn nothing_starts_before_the_rules_are_known() {
        let now = Instant::now();
        let mut host = host(now);
        host.push_listing(host.origin.clone());
        assert_eq!(host.start(), Some(Task::Robots));
        assert_eq!(host.next_at(4), None);
        host.rules = Some(Rules::AllowAll);
        assert_eq!(host.next_at(4), Some(now));
    }

    #[test]
    fn a_host_waits_as_long_as_it_took_to_answer() {
        let now = Instant::now();
        let mut host = host(now);
        host.rules = Some(Rules::AllowAll);
        host.push(Task::Robots);
        host.start();
        host.finish(now, Some(Duration::from_millis(300)));
        assert_eq!(host.next_at(1), Some(now + Duration::from_millis(300)));
    }

    #[test]
    fn the_delay_of_robots_txt_is_kept() {
        let now = Instant::now();
        let mut host = host(now);
        let text = b"User-agent: *\nCrawl-delay: 5\n";
        host.rules = Some(Rules::read(http::StatusCode::OK, text, "websvc"));
        host.push(Task::Robots);
        host.start();
        host.finish(now, Some(Duration::from_millis(3)));
        assert_eq!(host.next_at(1), Some(now + Duration::from_secs(5)));
    }

    #[test]
    fn the_first_listings_come_before_pages_and_the_others_after() {
        let now = Instant::now();
        let mut host = host(now);
        host.start();
        host.finish(now, None);
        host.rules = Some(Rules::AllowAll);
        let page = PageTask { url: host.origin.clone(), depth: 0, retries: 0 };
        host.push(Task::Page(page.clone()));
        for _ in 0..2 * MAX_LISTINGS {
            host.push_listing(host.origin.clone());
        }
        assert_eq!(host.waiting(), 1 + MAX_LISTINGS);
        for _ in 0..FIRST_LISTINGS {
            assert_eq!(host.start(), Some(Task::Listing(host.origin.clone())));
            host.finish_listing(now, Duration::ZERO);
        }
        assert_eq!(host.start(), Some(Task::Page(page)));
        assert_eq!(host.start(), Some(Task::Listing(host.origin.clone())));
    }

    #[test]
    fn pages_wait_for_the_listings_that_run() {
        let now = Instant::now();
        let mut host = host(now);
        host.start();
        host.finish(now, None);
        host.rules = Some(Rules::AllowAll);
        host.push_listing(host.origin.clone());
        host.push(Task::Page(PageTask { url: host.origin.clone(), depth: 0, retries: 0 }));
        host.start();
        assert_eq!(host.next_at(2), None);
        host.finish_listing(now, Duration::ZERO);
        assert_eq!(host.next_at(2), Some(now));
    }

    #[test]
    fn at_most_so_many_requests_run_at_one_time() {
        let now = Instant::now();
        let mut host = host(now);
        host.rules = Some(Rules::AllowAll);
        host.push(Task::Robots);
        host.start();
        assert_eq!(host.next_at(1), None);
        assert_eq!(host.next_at(2), Some(now));
    }
}
