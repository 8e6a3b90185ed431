//! The state of one host in a crawl: its robots.txt, its queues and its pace.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use url::Url;
use websvc_site::{HostPace, RobotsTxt};

/// The number of sitemaps and feeds of a host that are read before its pages. Further ones are read after the pages.
const FIRST_LISTINGS: usize = 20;

/// The maximum number of sitemaps and feeds that are read from one host.
const MAX_LISTINGS: usize = 1_000;

/// A request that a crawl makes to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    /// The robots.txt of the host; always the first request.
    Robots,
    /// A file that lists pages: a sitemap or a feed.
    Listing(Url),
    /// A page.
    Page(PageTask),
    /// The first bytes of an image, which contain its size.
    Image(Url),
}

/// The kinds of tasks that a crawl has capacity for at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capacity {
    /// All tasks: those needed for pages first, then images.
    All,
    /// Pages, and the robots.txt and listings that are needed for them.
    Pages,
    /// Images, and the robots.txt of their hosts.
    Images,
}

/// The number of consecutive failed images after which a host gets no more requests for images.
const MAX_IMAGE_FAILURES: u8 = 3;

/// A page to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageTask {
    pub(super) url: Url,
    /// The number of links from a seed to this page; 0 for a seed.
    pub(super) depth: u32,
    /// The number of earlier attempts.
    pub(super) retries: u8,
}

/// The queues and the state of one host.
pub(super) struct Host {
    /// The scheme and authority of its robots.txt.
    pub(super) origin: Url,
    /// Its robots.txt; `None` until it was fetched.
    pub(super) robots_txt: Option<RobotsTxt>,
    pages: VecDeque<PageTask>,
    listings: VecDeque<Url>,
    images: VecDeque<Url>,
    image_failures: u8,
    listings_started: usize,
    listings_running: usize,
    pace: HostPace,
}

impl Host {
    pub(super) fn new(origin: Url, now: Instant) -> Self {
        Self {
            origin,
            robots_txt: None,
            pages: VecDeque::new(),
            listings: VecDeque::new(),
            images: VecDeque::new(),
            image_failures: 0,
            listings_started: 0,
            listings_running: 0,
            pace: HostPace::new(now),
        }
    }

    /// Returns whether a page may be fetched. True while the robots.txt is unknown.
    pub(super) fn allows(&self, url: &Url) -> bool {
        self.robots_txt.as_ref().is_none_or(|robots_txt| robots_txt.is_allowed(url))
    }

    /// Returns the reason why robots.txt refuses a task; `None` for the robots.txt itself and for listings, which are checked
    /// before they are queued.
    pub(super) fn refusal(&self, task: &Task) -> Option<&'static str> {
        let (Task::Page(PageTask { url, .. }) | Task::Image(url)) = task else { return None };
        let robots_txt = self.robots_txt.as_ref()?;
        (!robots_txt.is_allowed(url)).then(|| robots_txt.reason_to_skip())
    }

    pub(super) fn push_page(&mut self, page: PageTask) {
        self.pages.push_back(page);
    }

    /// Adds a file that lists pages, unless the host has too many.
    pub(super) fn push_listing(&mut self, url: Url) {
        if self.listings_started + self.listings.len() < MAX_LISTINGS {
            self.listings.push_back(url);
        }
    }

    /// Adds an image, unless too many images of the host failed.
    pub(super) fn push_image(&mut self, url: Url) -> bool {
        let is_accepted = self.image_failures < MAX_IMAGE_FAILURES;
        if is_accepted {
            self.images.push_back(url);
        }
        is_accepted
    }

    /// Records that an image was fetched.
    pub(super) fn record_image_success(&mut self) {
        self.image_failures = 0;
    }

    /// Records that an image could not be fetched. Returns the queued images if the host has now failed too often.
    pub(super) fn record_image_failure(&mut self) -> Vec<Url> {
        self.image_failures = self.image_failures.saturating_add(1);
        if self.image_failures < MAX_IMAGE_FAILURES { Vec::new() } else { self.images.drain(..).collect() }
    }

    /// Drops all queued images.
    pub(super) fn clear_images(&mut self) {
        self.images.clear();
    }

    /// Returns the number of queued pages.
    pub(super) fn queued_pages(&self) -> usize {
        self.pages.len()
    }

    /// Returns the number of queued pages and listings.
    pub(super) fn queued_count(&self) -> usize {
        self.pages.len() + self.listings.len()
    }

    /// Returns whether it has a task within `capacity`. Images start when nothing else is queued.
    pub(super) fn has_task(&self, capacity: Capacity) -> bool {
        let for_pages =
            !self.listings.is_empty() || (!self.must_wait_for_listings() && !self.pages.is_empty());
        let for_images = !self.images.is_empty();
        match capacity {
            Capacity::All => for_pages || (for_images && self.queued_count() == 0),
            Capacity::Pages => for_pages,
            Capacity::Images => for_images,
        }
    }

    /// Returns whether pages have to wait for running listings. The first listings may contain facts about a page, such
    /// as its date, and these must be known before the page is fetched.
    fn must_wait_for_listings(&self) -> bool {
        self.listings_running > 0 && self.listings_started <= FIRST_LISTINGS
    }

    /// Returns when the next task may start; `None` if there is none or the host is busy.
    pub(super) fn next_at(&self, per_host: usize, capacity: Capacity) -> Option<Instant> {
        let robots_txt_is_running = self.robots_txt.is_none() && self.pace.running() > 0;
        let may_start = !robots_txt_is_running && self.has_task(capacity);
        self.pace.next_at(per_host).filter(|_| may_start)
    }

    /// Takes the next task, which the caller starts now. The first one is the robots.txt.
    pub(super) fn start(&mut self, capacity: Capacity) -> Option<Task> {
        let listings_first = self.listings_started < FIRST_LISTINGS || self.must_wait_for_listings();
        let task = if self.robots_txt.is_none() {
            Task::Robots
        } else if capacity == Capacity::Images || self.queued_count() == 0 {
            Task::Image(self.images.pop_front()?)
        } else if (listings_first || self.pages.is_empty())
            && let Some(url) = self.listings.pop_front()
        {
            self.listings_started += 1;
            self.listings_running += 1;
            Task::Listing(url)
        } else {
            Task::Page(self.pages.pop_front()?)
        };
        self.pace.start();
        Some(task)
    }

    /// Records the end of a listing that took `elapsed` on the network.
    pub(super) fn finish_listing(&mut self, now: Instant, elapsed: Duration) {
        self.listings_running -= 1;
        self.finish(now, Some(elapsed));
    }

    /// Records the end of a task that took `elapsed` on the network; `None` if it was served from the cache.
    pub(super) fn finish(&mut self, now: Instant, elapsed: Option<Duration>) {
        let crawl_delay = self.robots_txt.as_ref().and_then(RobotsTxt::delay).unwrap_or_default();
        self.pace.finish(now, elapsed, crawl_delay);
    }

    /// Records that the host reported overload, with the delay it requested.
    pub(super) fn back_off(&mut self, now: Instant, retry_after: Option<Duration>) {
        self.pace.back_off(now, retry_after);
    }
}

#[cfg(test)]
mod tests {
    use websvc_site::RobotsStatus;

    use super::*;

    fn new_host(now: Instant) -> Host {
        Host::new(Url::parse("http://a.test/").unwrap(), now)
    }

    /// Returns a host whose robots.txt was read.
    fn host(now: Instant, robots_txt: &[u8]) -> Host {
        let mut host = new_host(now);
        assert_eq!(host.start(Capacity::All), Some(Task::Robots));
        host.finish(now, None);
        host.robots_txt = Some(RobotsTxt::read(http::StatusCode::OK, robots_txt, "websvc"));
        host
    }

    fn page(host: &Host) -> PageTask {
        PageTask { url: host.origin.clone(), depth: 0, retries: 0 }
    }

    #[test]
    fn nothing_but_robots_txt_starts_before_it_is_read() {
        let now = Instant::now();
        let mut host = new_host(now);
        host.push_listing(host.origin.clone());
        assert_eq!(host.start(Capacity::All), Some(Task::Robots));
        assert_eq!(host.next_at(4, Capacity::All), None);
        host.robots_txt = Some(RobotsTxt::without_rules(RobotsStatus::Unavailable));
        assert_eq!(host.next_at(4, Capacity::All), Some(now));
    }

    #[test]
    fn host_waits_for_its_crawl_delay_or_as_long_as_its_last_response_took() {
        let now = Instant::now();
        for (robots_txt, elapsed_ms, delay_ms) in
            [("", 300, 300), ("User-agent: *\nCrawl-delay: 5\n", 3, 5_000)]
        {
            let mut host = host(now, robots_txt.as_bytes());
            (0..3).for_each(|_| host.push_page(page(&host)));
            host.start(Capacity::All);
            host.finish(now, Some(Duration::from_millis(elapsed_ms)));
            let ready_at = now + Duration::from_millis(delay_ms);
            assert_eq!(host.next_at(2, Capacity::All), Some(ready_at));
            // The delay that a host demands is between one request and the next.
            host.start(Capacity::All);
            assert_eq!(host.next_at(2, Capacity::All), Some(ready_at).filter(|_| robots_txt.is_empty()));
        }
    }

    #[test]
    fn first_listings_are_read_before_pages_and_the_others_after() {
        let now = Instant::now();
        let mut host = host(now, b"");
        host.push_page(page(&host));
        for _ in 0..2 * MAX_LISTINGS {
            host.push_listing(host.origin.clone());
        }
        assert_eq!(host.queued_count(), 1 + MAX_LISTINGS);
        for _ in 0..FIRST_LISTINGS {
            assert_eq!(host.start(Capacity::All), Some(Task::Listing(host.origin.clone())));
            host.finish_listing(now, Duration::ZERO);
        }
        assert_eq!(host.start(Capacity::All), Some(Task::Page(page(&host))));
        assert_eq!(host.start(Capacity::All), Some(Task::Listing(host.origin.clone())));
    }

    #[test]
    fn pages_wait_for_running_listings() {
        let now = Instant::now();
        let mut host = host(now, b"");
        host.push_listing(host.origin.clone());
        host.push_page(page(&host));
        host.start(Capacity::All);
        assert_eq!(host.next_at(2, Capacity::All), None);
        host.finish_listing(now, Duration::ZERO);
        assert_eq!(host.next_at(2, Capacity::All), Some(now));
    }

    #[test]
    fn requests_to_a_host_never_exceed_per_host() {
        let now = Instant::now();
        let mut host = host(now, b"");
        host.push_page(page(&host));
        host.push_page(page(&host));
        host.start(Capacity::All);
        assert_eq!(host.next_at(1, Capacity::All), None);
        assert_eq!(host.next_at(2, Capacity::All), Some(now));
    }

    #[test]
    fn images_come_last_and_after_the_robots_txt_of_their_host() {
        let now = Instant::now();
        let mut host = new_host(now);
        assert!(host.push_image(host.origin.clone()));
        assert_eq!(host.next_at(1, Capacity::Pages), None);
        assert_eq!(host.next_at(1, Capacity::Images), Some(now));
        assert_eq!(host.start(Capacity::Images), Some(Task::Robots));
        host.finish(now, None);
        host.robots_txt = Some(RobotsTxt::without_rules(RobotsStatus::Unavailable));
        host.push_page(page(&host));
        assert_eq!(host.start(Capacity::All), Some(Task::Page(page(&host))));
        host.finish(now, None);
        assert_eq!(host.start(Capacity::All), Some(Task::Image(host.origin.clone())));
    }

    #[test]
    fn host_that_fails_to_serve_images_gets_no_more_image_requests() {
        let mut host = new_host(Instant::now());
        for _ in 1..MAX_IMAGE_FAILURES {
            assert!(host.record_image_failure().is_empty());
        }
        host.record_image_success();
        for _ in 1..MAX_IMAGE_FAILURES {
            assert!(host.push_image(host.origin.clone()));
            assert!(host.record_image_failure().is_empty());
        }
        assert_eq!(host.record_image_failure().len(), usize::from(MAX_IMAGE_FAILURES) - 1);
        assert!(!host.push_image(host.origin.clone()));
    }
}
