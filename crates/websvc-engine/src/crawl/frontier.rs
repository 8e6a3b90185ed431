//! What is still to be fetched: one queue per host, each URL once.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use url::Url;

use super::host::{Capacity, Host, PageTask, Task};
use super::scope::host_key;

/// How many URLs a crawl remembers; it takes in no more beyond them.
const MAX_SEEN: usize = 2_000_000;

/// The queues of a crawl.
#[derive(Default)]
pub(super) struct Frontier {
    hosts: HashMap<String, Host>,
    seen: HashSet<String>,
    /// Hosts in the order in which they were met, so that a crawl is repeatable and fair.
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
        self.host(&url, now).push(Task::Page(PageTask { url, depth, retries: 0 }));
        true
    }

    /// Adds a sitemap or a feed unless it was seen before.
    pub(super) fn add_listing(&mut self, url: Url, now: Instant) {
        if self.seen.len() < MAX_SEEN && self.seen.insert(format!("listing {url}")) {
            self.host(&url, now).push_listing(url);
        }
    }

    /// Adds an image. Returns whether its host may be asked for it.
    pub(super) fn add_image(&mut self, url: Url, now: Instant) -> bool {
        self.host(&url, now).push_image(url)
    }

    /// Gives up all images.
    pub(super) fn forget_images(&mut self) {
        self.hosts.values_mut().for_each(Host::forget_images);
    }

    /// Returns whether a page was seen before.
    pub(super) fn knows(&self, url: &Url) -> bool {
        self.seen.contains(url.as_str())
    }

    /// Puts a page back that is to be tried again.
    pub(super) fn retry(&mut self, task: PageTask, now: Instant) {
        let url = task.url.clone();
        self.host(&url, now).push(Task::Page(task));
    }

    /// Notes that a page was reached under `url`. Returns false when it had been met under that URL before.
    pub(super) fn note(&mut self, url: &Url) -> bool {
        let mut url = url.clone();
        url.set_fragment(None);
        self.seen.insert(url.into())
    }

    /// Returns the host of `url`, which is new when nothing of it was added before.
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

    /// Returns a task that may start now in this room, with its host's URL, going round the hosts.
    pub(super) fn start(&mut self, per_host: usize, room: Capacity, now: Instant) -> Option<(Url, Task)> {
        for step in 0..self.order.len() {
            let at = (self.next + step) % self.order.len();
            let host = self.hosts.get_mut(&self.order[at])?;
            if host.next_at(per_host, room).is_some_and(|ready_at| ready_at <= now) {
                self.next = at + 1;
                return host.start(room).map(|task| (host.origin.clone(), task));
            }
        }
        None
    }

    /// Returns when the next task for this room may start; `None` when none waits for time alone.
    pub(super) fn next_at(&self, per_host: usize, room: Capacity) -> Option<Instant> {
        self.hosts.values().filter_map(|host| host.next_at(per_host, room)).min()
    }

    /// Returns whether anything waits that is no image.
    pub(super) fn has_pages(&self) -> bool {
        self.hosts.values().any(|host| host.has_task(Capacity::Pages))
    }

    /// Returns how many pages wait.
    pub(super) fn pages_waiting(&self) -> usize {
        self.hosts.values().map(Host::pages_waiting).sum()
    }

    /// Returns how many pages and listings wait.
    pub(super) fn waiting(&self) -> usize {
        self.hosts.values().map(Host::waiting).sum()
    }
}
