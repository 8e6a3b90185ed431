//! The URLs that a crawl has still to fetch: one queue per host, each URL once.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use url::Url;
use websvc_site::host_key;

use super::host::{Capacity, Host, PageTask, Task};

/// The maximum number of URLs that a crawl remembers. Further URLs are ignored.
const MAX_SEEN: usize = 2_000_000;

/// The queues of a crawl.
#[derive(Default)]
pub(super) struct Frontier {
    hosts: HashMap<String, Host>,
    seen: HashSet<String>,
    /// Hosts in the order in which they were first seen, so that a crawl is repeatable and fair.
    order: Vec<String>,
    next: usize,
}

impl Frontier {
    /// Adds a page unless it was seen before. Returns whether it was added.
    pub(super) fn add_page(&mut self, mut url: Url, depth: u32, now: Instant) -> bool {
        url.set_fragment(None);
        if self.seen.len() >= MAX_SEEN || !self.seen.insert(url.to_string()) {
            return false;
        }
        self.host(&url, now).push_page(PageTask { url, depth, retries: 0 });
        true
    }

    /// Adds a sitemap or a feed unless it was added before.
    pub(super) fn add_listing(&mut self, url: Url, now: Instant) {
        if self.seen.len() < MAX_SEEN && self.seen.insert(format!("listing {url}")) {
            self.host(&url, now).push_listing(url);
        }
    }

    /// Adds an image. Returns false if its host failed to serve too many images before.
    pub(super) fn add_image(&mut self, url: Url, now: Instant) -> bool {
        self.host(&url, now).push_image(url)
    }

    /// Drops all queued images.
    pub(super) fn clear_images(&mut self) {
        self.hosts.values_mut().for_each(Host::clear_images);
    }

    /// Returns whether a page was seen before.
    pub(super) fn has_seen(&self, url: &Url) -> bool {
        self.seen.contains(url.as_str())
    }

    /// Queues a page again for another attempt.
    pub(super) fn retry(&mut self, task: PageTask, now: Instant) {
        self.host(&task.url, now).push_page(task);
    }

    /// Records that a page was reached under `url`, which has no fragment. Returns false if that URL was seen before.
    pub(super) fn mark_seen(&mut self, url: &Url) -> bool {
        self.seen.insert(url.to_string())
    }

    /// Returns the host of `url`, and adds the host if it is new.
    pub(super) fn host(&mut self, url: &Url, now: Instant) -> &mut Host {
        let key = host_key(url);
        if !self.hosts.contains_key(&key) {
            self.order.push(key.clone());
        }
        self.hosts.entry(key).or_insert_with(|| {
            let mut origin = url.clone();
            origin.set_path("/");
            origin.set_query(None);
            origin.set_fragment(None);
            Host::new(origin, now)
        })
    }

    /// Takes a task that may start now within `capacity`, together with the URL of its host. Hosts take turns.
    pub(super) fn start(&mut self, per_host: usize, capacity: Capacity, now: Instant) -> Option<(Url, Task)> {
        for step in 0..self.order.len() {
            let index = (self.next + step) % self.order.len();
            let host = self.hosts.get_mut(&self.order[index])?;
            if host.next_at(per_host, capacity).is_some_and(|ready_at| ready_at <= now) {
                self.next = index + 1;
                return host.start(capacity).map(|task| (host.origin.clone(), task));
            }
        }
        None
    }

    /// Returns when the next task within `capacity` may start; `None` if no task is waiting only for time to pass.
    pub(super) fn next_at(&self, per_host: usize, capacity: Capacity) -> Option<Instant> {
        self.hosts.values().filter_map(|host| host.next_at(per_host, capacity)).min()
    }

    /// Returns whether anything but images is queued.
    pub(super) fn has_pages(&self) -> bool {
        self.hosts.values().any(|host| host.has_task(Capacity::Pages))
    }

    /// Returns the number of queued pages.
    pub(super) fn queued_pages(&self) -> usize {
        self.hosts.values().map(Host::queued_pages).sum()
    }

    /// Returns the number of queued pages and listings.
    pub(super) fn queued_count(&self) -> usize {
        self.hosts.values().map(Host::queued_count).sum()
    }
}
