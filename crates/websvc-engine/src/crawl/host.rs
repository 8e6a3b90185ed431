//! The state of one host in a crawl: its rules, its queue and its pace.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use url::Url;

use super::pace::HostPace;
use super::robots::RobotsTxt;

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
    /// The beginning of an image.
    Image(Url),
}

/// What a crawl has room for at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capacity {
    /// Everything: what is on the way to pages first, then images.
    All,
    /// What is on the way to pages.
    Pages,
    /// Images.
    Images,
}

/// After so many images in a row that could not be had, a host is asked for no more.
const MAX_IMAGE_FAULTS: u8 = 3;

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
    pub(super) rules: Option<RobotsTxt>,
    tasks: VecDeque<Task>,
    listings: VecDeque<Url>,
    images: VecDeque<Url>,
    image_faults: u8,
    listings_started: usize,
    listings_running: usize,
    pace: HostPace,
}

impl Host {
    pub(super) fn new(origin: Url, now: Instant) -> Self {
        Self {
            origin,
            rules: None,
            tasks: VecDeque::from([Task::Robots]),
            listings: VecDeque::new(),
            images: VecDeque::new(),
            image_faults: 0,
            listings_started: 0,
            listings_running: 0,
            pace: HostPace::new(now),
        }
    }

    /// Returns whether its rules, once they are known, allow a page to be fetched.
    pub(super) fn allows(&self, url: &Url) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.is_allowed(url))
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

    /// Adds an image, unless the host has failed to give others.
    pub(super) fn push_image(&mut self, url: Url) -> bool {
        let is_taken = self.image_faults < MAX_IMAGE_FAULTS;
        if is_taken {
            self.images.push_back(url);
        }
        is_taken
    }

    /// Notes that an image was had.
    pub(super) fn image_had(&mut self) {
        self.image_faults = 0;
    }

    /// Notes that an image could not be had. Returns those that are given up for it.
    pub(super) fn image_failed(&mut self) -> Vec<Url> {
        self.image_faults = self.image_faults.saturating_add(1);
        if self.image_faults < MAX_IMAGE_FAULTS { Vec::new() } else { self.images.drain(..).collect() }
    }

    /// Gives up all images.
    pub(super) fn forget_images(&mut self) {
        self.images.clear();
    }

    /// Returns how many pages wait.
    pub(super) fn pages_waiting(&self) -> usize {
        self.tasks.iter().filter(|task| matches!(task, Task::Page(_))).count()
    }

    /// Returns how many pages and listings wait.
    pub(super) fn waiting(&self) -> usize {
        self.tasks.len() + self.listings.len()
    }

    /// Returns whether listings come before pages now.
    fn lists_first(&self) -> bool {
        self.listings_started < FIRST_LISTINGS && self.rules.is_some()
    }

    /// Returns whether it has something for this room. Images come when nothing else waits; its rules come for their
    /// sake too.
    pub(super) fn has_task(&self, room: Capacity) -> bool {
        let needs_rules = self.rules.is_none();
        let only_rules = needs_rules && self.tasks.len() == 1;
        let for_pages =
            !self.listings.is_empty() || (!self.pages_wait() && !self.tasks.is_empty() && !only_rules);
        let for_images = !self.images.is_empty();
        match room {
            Capacity::All => for_pages || (for_images && (needs_rules || self.waiting() == 0)),
            Capacity::Pages => for_pages,
            Capacity::Images => for_images,
        }
    }

    /// What the first listings say of a page, such as its date, is to be known before the page is there.
    fn pages_wait(&self) -> bool {
        self.listings_running > 0 && self.listings_started <= FIRST_LISTINGS
    }

    /// Returns when the next task may start; `None` while there is none or the host is busy.
    pub(super) fn next_at(&self, per_host: usize, room: Capacity) -> Option<Instant> {
        let rules_are_coming = self.rules.is_none() && self.pace.running() > 0;
        let free = self.pace.running() < per_host && !rules_are_coming && self.has_task(room);
        free.then_some(self.pace.ready_at())
    }

    /// Takes the next task, which the caller starts now.
    pub(super) fn start(&mut self, room: Capacity) -> Option<Task> {
        let is_for_images = self.rules.is_some() && (room == Capacity::Images || self.waiting() == 0);
        let task = if is_for_images {
            Task::Image(self.images.pop_front()?)
        } else if (self.lists_first() || self.pages_wait() || self.tasks.is_empty())
            && let Some(url) = self.listings.pop_front()
        {
            self.listings_started += 1;
            self.listings_running += 1;
            Task::Listing(url)
        } else {
            self.tasks.pop_front()?
        };
        self.pace.start();
        Some(task)
    }

    /// Notes the end of a listing that took `elapsed` of the network.
    pub(super) fn finish_listing(&mut self, now: Instant, elapsed: Duration) {
        self.listings_running -= 1;
        self.finish(now, Some(elapsed));
    }

    /// Notes the end of a task that took `elapsed` of the network; none when the cache answered.
    pub(super) fn finish(&mut self, now: Instant, elapsed: Option<Duration>) {
        let asked = self.rules.as_ref().and_then(RobotsTxt::delay).unwrap_or_default();
        self.pace.finish(now, elapsed, asked);
    }

    /// Notes that the host said it is overloaded, and for how long.
    pub(super) fn back_off(&mut self, now: Instant, retry_after: Option<Duration>) {
        self.pace.back_off(now, retry_after);
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
        assert_eq!(host.start(Capacity::All), Some(Task::Robots));
        assert_eq!(host.next_at(4, Capacity::All), None);
        host.rules = Some(RobotsTxt::AllowAll);
        assert_eq!(host.next_at(4, Capacity::All), Some(now));
    }

    #[test]
    fn a_host_waits_as_long_as_it_took_to_answer() {
        let now = Instant::now();
        let mut host = host(now);
        host.rules = Some(RobotsTxt::AllowAll);
        host.push(Task::Robots);
        host.start(Capacity::All);
        host.finish(now, Some(Duration::from_millis(300)));
        assert_eq!(host.next_at(1, Capacity::All), Some(now + Duration::from_millis(300)));
    }

    #[test]
    fn the_delay_of_robots_txt_is_kept() {
        let now = Instant::now();
        let mut host = host(now);
        let text = b"User-agent: *\nCrawl-delay: 5\n";
        host.rules = Some(RobotsTxt::read(http::StatusCode::OK, text, "websvc"));
        host.push(Task::Robots);
        host.start(Capacity::All);
        host.finish(now, Some(Duration::from_millis(3)));
        assert_eq!(host.next_at(1, Capacity::All), Some(now + Duration::from_secs(5)));
    }

    #[test]
    fn the_first_listings_come_before_pages_and_the_others_after() {
        let now = Instant::now();
        let mut host = host(now);
        host.start(Capacity::All);
        host.finish(now, None);
        host.rules = Some(RobotsTxt::AllowAll);
        let page = PageTask { url: host.origin.clone(), depth: 0, retries: 0 };
        host.push(Task::Page(page.clone()));
        for _ in 0..2 * MAX_LISTINGS {
            host.push_listing(host.origin.clone());
        }
        assert_eq!(host.waiting(), 1 + MAX_LISTINGS);
        for _ in 0..FIRST_LISTINGS {
            assert_eq!(host.start(Capacity::All), Some(Task::Listing(host.origin.clone())));
            host.finish_listing(now, Duration::ZERO);
        }
        assert_eq!(host.start(Capacity::All), Some(Task::Page(page)));
        assert_eq!(host.start(Capacity::All), Some(Task::Listing(host.origin.clone())));
    }

    #[test]
    fn pages_wait_for_the_listings_that_run() {
        let now = Instant::now();
        let mut host = host(now);
        host.start(Capacity::All);
        host.finish(now, None);
        host.rules = Some(RobotsTxt::AllowAll);
        host.push_listing(host.origin.clone());
        host.push(Task::Page(PageTask { url: host.origin.clone(), depth: 0, retries: 0 }));
        host.start(Capacity::All);
        assert_eq!(host.next_at(2, Capacity::All), None);
        host.finish_listing(now, Duration::ZERO);
        assert_eq!(host.next_at(2, Capacity::All), Some(now));
    }

    #[test]
    fn at_most_so_many_requests_run_at_one_time() {
        let now = Instant::now();
        let mut host = host(now);
        host.rules = Some(RobotsTxt::AllowAll);
        host.push(Task::Robots);
        host.start(Capacity::All);
        assert_eq!(host.next_at(1, Capacity::All), None);
        assert_eq!(host.next_at(2, Capacity::All), Some(now));
    }

    #[test]
    fn images_come_last_and_their_hosts_are_asked_for_rules_first() {
        let now = Instant::now();
        let mut host = host(now);
        assert!(host.push_image(host.origin.clone()));
        assert_eq!(host.next_at(1, Capacity::Pages), None);
        assert_eq!(host.next_at(1, Capacity::Images), Some(now));
        assert_eq!(host.start(Capacity::Images), Some(Task::Robots));
        host.finish(now, None);
        host.rules = Some(RobotsTxt::AllowAll);
        let page = PageTask { url: host.origin.clone(), depth: 0, retries: 0 };
        host.push(Task::Page(page.clone()));
        assert_eq!(host.start(Capacity::All), Some(Task::Page(page)));
        host.finish(now, None);
        assert_eq!(host.start(Capacity::All), Some(Task::Image(host.origin.clone())));
    }

    #[test]
    fn a_host_that_gives_no_images_is_left() {
        let mut host = host(Instant::now());
        for _ in 1..MAX_IMAGE_FAULTS {
            assert!(host.image_failed().is_empty());
        }
        host.image_had();
        for _ in 1..MAX_IMAGE_FAULTS {
            assert!(host.push_image(host.origin.clone()));
            assert!(host.image_failed().is_empty());
        }
        assert_eq!(host.image_failed().len(), usize::from(MAX_IMAGE_FAULTS) - 1);
        assert!(!host.push_image(host.origin.clone()));
    }
}
