//! State of a crawl: decides which links of its pages belong to it and are new.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use parking_lot::Mutex;
use url::Url;
use websvc_scrape::OutLinks;
use websvc_site::TrapBudgets;
use websvc_store::JobUrl;
use websvc_types::job::SitemapMode;

use crate::crawl_scope::CrawlScope;

/// Maximum of remembered links that add nothing to the crawl. At this count, all are removed and checked again when
/// they occur.
const MAX_KNOWN_LINKS: usize = 200_000;

/// The scope of a crawl, and the URLs that it has seen.
#[derive(Debug)]
pub(crate) struct CrawlState {
    pub(crate) scope: CrawlScope,
    seen: Mutex<SeenUrls>,
}

/// URLs that a crawl has seen. The store has the truth; this avoids lookups of known URLs and counts families that
/// may be endless.
#[derive(Debug, Default)]
struct SeenUrls {
    keys: HashSet<u64>,
    budgets: TrapBudgets,
    /// Hashes of keys that are counted against a budget but not stored yet: several pages may find the same URL
    /// meanwhile.
    counted: HashSet<u64>,
    /// Hashes of link URLs that are out of scope or have a stored key. Most links of a page are on all pages of its
    /// site.
    known_links: HashSet<u64>,
}

impl CrawlState {
    /// Restores the state of a crawl from its stored URLs.
    pub(crate) fn new(scope: CrawlScope, stored: &[JobUrl]) -> Self {
        let mut seen = SeenUrls::default();
        for JobUrl { url, key, .. } in stored {
            seen.keys.insert(hash(key));
            if let Ok(url) = Url::parse(url) {
                seen.budgets.try_take(&url);
            }
        }
        Self { scope, seen: Mutex::new(seen) }
    }

    /// Returns the new URLs among the out-links of a page at this depth.
    pub(crate) fn new_from_links(&self, out_links: &OutLinks, depth: u32) -> Vec<JobUrl> {
        if self.scope.plan().sitemap == SitemapMode::Only {
            return Vec::new();
        }
        self.claim_new(out_links.links.iter().cloned(), depth, true)
    }

    /// Returns the new URLs among those of the sitemaps. They do not count against the budgets for crawler traps.
    pub(crate) fn new_from_sitemap(&self, pages: Vec<Url>) -> Vec<JobUrl> {
        self.claim_new(pages.into_iter(), 0, false)
    }

    fn claim_new(&self, urls: impl Iterator<Item = Url>, depth: u32, is_counted: bool) -> Vec<JobUrl> {
        let depth = depth.saturating_add(1);
        if self.scope.plan().max_depth.is_some_and(|max| depth > max) {
            return Vec::new();
        }
        let mut seen = self.seen.lock();
        let (mut new, mut new_keys) = (Vec::new(), HashSet::new());
        for url in urls {
            let link = hash(url.as_str());
            if seen.known_links.contains(&link) {
                continue;
            }
            let url = self.scope.normalize(url);
            let key = self.scope.contains(&url).then(|| self.scope.key(&url));
            let Some(key) = key.filter(|key| !seen.keys.contains(&hash(key))) else {
                seen.remember_link(link);
                continue;
            };
            if new_keys.insert(key.clone()) && (!is_counted || seen.count(&key, &url)) {
                new.push(JobUrl { url: url.into(), key, depth, entry: None });
            }
        }
        new
    }

    /// Records that the store has these keys now. Until then they may be lost, and have to be found again.
    pub(crate) fn mark_stored(&self, keys: impl Iterator<Item = String>) {
        let mut seen = self.seen.lock();
        for key in keys.map(|key| hash(&key)) {
            seen.counted.remove(&key);
            seen.keys.insert(key);
        }
    }

    /// Returns the other keys of a page with this key: those of its final URL after redirects, and of its canonical
    /// URL.
    pub(crate) fn aliases(
        &self,
        key: &str,
        final_url: Option<&Url>,
        out_links: Option<&OutLinks>,
    ) -> Vec<String> {
        let canonical = out_links.and_then(|links| links.canonical.as_ref());
        let canonical = canonical.filter(|_| self.scope.plan().deduplicates);
        let mut aliases: Vec<String> = Vec::new();
        for url in final_url.into_iter().chain(canonical) {
            let alias = self.scope.key(&self.scope.normalize(url.clone()));
            if alias != key && !aliases.contains(&alias) {
                aliases.push(alias);
            }
        }
        aliases
    }
}

impl SeenUrls {
    fn remember_link(&mut self, link: u64) {
        if self.known_links.len() >= MAX_KNOWN_LINKS {
            self.known_links.clear();
        }
        self.known_links.insert(link);
    }

    /// Counts a URL against its trap budget, once for all pages that find it. Returns false when the budget is used up.
    fn count(&mut self, key: &str, url: &Url) -> bool {
        let key = hash(key);
        let is_within_budget = self.counted.contains(&key) || self.budgets.try_take(url);
        if is_within_budget {
            self.counted.insert(key);
        }
        is_within_budget
    }
}

fn hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
