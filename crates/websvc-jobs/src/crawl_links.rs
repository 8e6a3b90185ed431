//! A crawl: which of the links of its pages are pages of it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use url::Url;
use websvc_engine::crawl::{CrawlScope, TrapBudgets};
use websvc_scrape::OutLinks;
use websvc_store::JobUrl;
use websvc_types::job::SitemapMode;

/// So many addresses at most are remembered as judged; then they are judged anew.
const MOST_JUDGED: usize = 200_000;

/// A crawl with what it met.
#[derive(Debug)]
pub(crate) struct CrawlState {
    pub(crate) site: CrawlScope,
    met: Mutex<SeenUrls>,
}

/// URLs that a crawl has seen. The store has the truth; this avoids lookups of known URLs and counts families that
/// may be endless.
#[derive(Debug, Default)]
struct SeenUrls {
    keys: HashSet<u64>,
    budgets: TrapBudgets,
    /// Hashes that are counted but not yet stored: several pages may find the same URL meanwhile.
    counted: HashSet<u64>,
    /// Addresses, as they are linked to, of which it is known that nothing new comes of them: most links of a page are in
    /// all pages of its site.
    judged: HashSet<u64>,
}

impl CrawlState {
    /// Goes on with a crawl that met these.
    pub(crate) fn new(site: CrawlScope, known: &[JobUrl]) -> Self {
        let mut met = SeenUrls::default();
        for JobUrl { url, key, .. } in known {
            met.keys.insert(hash(key));
            if let Ok(url) = Url::parse(url) {
                met.budgets.try_take(&url);
            }
        }
        Self { site, met: Mutex::new(met) }
    }

    /// Returns what is new of the links of a page at this depth.
    pub(crate) fn new_from_links(&self, leads: &OutLinks, depth: u32) -> Vec<JobUrl> {
        if self.site.plan().sitemap() == SitemapMode::Only {
            return Vec::new();
        }
        self.claim_new(leads.links.iter().cloned(), depth, true)
    }

    /// Returns what is new of the pages that the site lists of itself. None of them is suspected of having no end.
    pub(crate) fn new_from_sitemap(&self, pages: Vec<Url>) -> Vec<JobUrl> {
        self.claim_new(pages.into_iter(), 0, false)
    }

    fn claim_new(&self, urls: impl Iterator<Item = Url>, depth: u32, is_counted: bool) -> Vec<JobUrl> {
        let depth = depth.saturating_add(1);
        if self.site.plan().max_depth().is_some_and(|most| depth > most) {
            return Vec::new();
        }
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, mut here) = (Vec::new(), HashSet::new());
        for url in urls {
            let address = hash(url.as_str());
            if met.judged.contains(&address) {
                continue;
            }
            let url = self.site.normalize(url);
            let key = self.site.contains(&url).then(|| self.site.key(&url));
            let Some(key) = key.filter(|key| !met.keys.contains(&hash(key))) else {
                met.classify(address);
                continue;
            };
            if here.insert(key.clone()) && (!is_counted || met.count(&key, &url)) {
                taken.push(JobUrl { url: url.into(), key, depth, entry: None });
            }
        }
        taken
    }

    /// Notes that the store has these now. Before that they may be lost, and have to be found again.
    pub(crate) fn mark_stored(&self, keys: impl Iterator<Item = String>) {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        for key in keys.map(|key| hash(&key)) {
            met.counted.remove(&key);
            met.keys.insert(key);
        }
    }

    /// Returns the other keys under which a page is known that was reached here: by where it led, and by what it calls
    /// itself.
    pub(crate) fn aliases(&self, own: &str, reached: Option<&Url>, leads: Option<&OutLinks>) -> Vec<String> {
        let canonical = leads.and_then(|leads| leads.canonical.as_ref());
        let canonical = canonical.filter(|_| self.site.plan().deduplicates());
        let mut keys: Vec<String> = Vec::new();
        for url in reached.into_iter().chain(canonical) {
            let key = self.site.key(&self.site.normalize(url.clone()));
            if key != own && !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }
}

impl SeenUrls {
    fn classify(&mut self, address: u64) {
        if self.judged.len() >= MOST_JUDGED {
            self.judged.clear();
        }
        self.judged.insert(address);
    }

    /// Counts a URL once, however many pages find it; false when nothing is left of what it belongs to.
    fn count(&mut self, key: &str, url: &Url) -> bool {
        let key = hash(key);
        let is_taken = self.counted.contains(&key) || self.budgets.try_take(url);
        if is_taken {
            self.counted.insert(key);
        }
        is_taken
    }
}

fn hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
