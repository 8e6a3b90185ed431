//! The pages that a run has read, which it does not fetch again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use url::Url;
use websvc_agent::ReadPage;

/// The maximum number of addresses of pages.
const MAX_ENTRIES: usize = 400;

/// The maximum size of all pages, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The pages of a run by their URLs. At its limits, the oldest pages are removed.
#[derive(Default)]
pub(super) struct PageMemory {
    pages: HashMap<String, Arc<ReadPage>>,
    /// The URLs, the oldest first.
    order: VecDeque<String>,
    bytes: usize,
}

impl PageMemory {
    pub(super) fn get(&self, url: &Url) -> Option<Arc<ReadPage>> {
        self.pages.get(url.as_str()).cloned()
    }

    /// Adds a page under its requested and its final URL.
    pub(super) fn insert(&mut self, requested: &Url, page: &Arc<ReadPage>) {
        self.insert_at(requested.as_str(), page);
        if page.url != requested.as_str() {
            self.insert_at(&page.url, page);
        }
    }

    fn insert_at(&mut self, url: &str, page: &Arc<ReadPage>) {
        if self.pages.contains_key(url) {
            return;
        }
        self.pages.insert(url.to_owned(), Arc::clone(page));
        self.order.push_back(url.to_owned());
        self.bytes += size(page);
        while self.order.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.order.pop_front() else { return };
            self.bytes -= self.pages.remove(&oldest).map_or(0, |page| size(&page));
        }
    }
}

/// Returns the approximate size of a page in memory. A page with two URLs counts twice.
fn size(page: &ReadPage) -> usize {
    let ReadPage { url, title, markdown, links } = page;
    let links: usize = links.iter().map(|link| link.url.len() + link.text.len()).sum();
    url.len() + title.len() + markdown.len() + links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, bytes: usize) -> Arc<ReadPage> {
        let (title, links) = (String::new(), Vec::new());
        Arc::new(ReadPage { url: url.to_owned(), title, markdown: "x".repeat(bytes), links })
    }

    #[test]
    fn page_is_found_by_its_requested_and_its_final_url() {
        let mut memory = PageMemory::default();
        let [requested, last, other] =
            ["http://a.test/", "http://a.test/last", "http://b.test/"].map(|url| Url::parse(url).unwrap());
        memory.insert(&requested, &page(last.as_str(), 1));
        assert!(memory.get(&requested).is_some() && memory.get(&last).is_some());
        assert!(memory.get(&other).is_none());
    }

    #[test]
    fn oldest_pages_are_removed_at_the_limits() {
        let mut memory = PageMemory::default();
        let url = |number: usize| Url::parse(&format!("http://a.test/{number}")).unwrap();
        for number in 0..=MAX_ENTRIES {
            memory.insert(&url(number), &page(url(number).as_str(), 1));
        }
        assert!(memory.get(&url(0)).is_none() && memory.get(&url(MAX_ENTRIES)).is_some());
        memory.insert(&url(9_999), &page(url(9_999).as_str(), MAX_BYTES - 20));
        assert!(memory.get(&url(MAX_ENTRIES)).is_none() && memory.get(&url(9_999)).is_some());
        assert!(memory.bytes <= MAX_BYTES && memory.order.len() == memory.pages.len());
    }
}
