//! Pages as they were last written, in memory: agents ask for the same pages in the same formats again and again.
//!
//! Only what the page cache holds is here, so that this adds speed and no rules: an entry that was not compared with
//! the page cache for a second is compared before it is used, because other processes purge pages, too. One rendering
//! per page is kept, the last one; a newer copy of the page takes the place of all that was written from the older
//! one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use websvc_store::PageKey;
use websvc_types::{Format, Parser, RedactOptions};
use websvc_validate::ScrapePlan;

use crate::page::Page;

/// About how large an entry is, for the first size of the table.
const USUAL_ENTRY_BYTES: u64 = 32 * 1024;

/// The part of the whole that one page may take.
const LARGEST_SHARE: u64 = 4;

/// How long an entry is trusted without a look into the page cache.
const TRUSTED: Duration = Duration::from_secs(1);

/// The renderings.
pub(crate) struct OutputCache {
    cache: Cache<PageKey, Arc<CachedOutput>, ByteWeighter>,
    /// A page that takes more than its share is not kept: it would displace all others.
    max_page_bytes: u64,
}

/// The part of a plan that decides what is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutputKey {
    formats: Vec<Format>,
    only_main_content: bool,
    block_ads: bool,
    remove_base64_images: bool,
    include_tags: Vec<String>,
    exclude_tags: Vec<String>,
    redact_pii: Option<RedactOptions>,
    parsers: Vec<Parser>,
    leads: bool,
}

/// A page as it was written.
#[derive(Debug)]
pub(crate) struct CachedOutput {
    recipe: OutputKey,
    /// When the page was fetched, in milliseconds since the Unix epoch.
    pub(crate) fetched_at_ms: u64,
    pub(crate) page: Page,
    /// When the page cache was last known to have this copy.
    compared: Mutex<Instant>,
}

impl CachedOutput {
    /// Returns whether the page cache still has this copy; `ask` tells when its copy was fetched.
    pub(crate) fn is_current(&self, ask: impl FnOnce() -> Option<u64>) -> bool {
        let compared = *self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared.elapsed() < TRUSTED {
            return true;
        }
        let is_current = ask() == Some(self.fetched_at_ms);
        if is_current {
            *self.compared.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
        is_current
    }
}

impl OutputKey {
    pub(crate) fn of(plan: &ScrapePlan) -> Self {
        Self {
            formats: plan.formats().to_vec(),
            only_main_content: plan.only_main_content(),
            block_ads: plan.block_ads(),
            remove_base64_images: plan.remove_base64_images(),
            include_tags: plan.include_tags().to_vec(),
            exclude_tags: plan.exclude_tags().to_vec(),
            redact_pii: plan.redact_pii().cloned(),
            parsers: plan.parsers().to_vec(),
            leads: plan.leads(),
        }
    }
}

impl OutputCache {
    /// Makes a cache of at most so many bytes.
    pub(crate) fn new(max_bytes: u64) -> Self {
        let entries = usize::try_from(max_bytes / USUAL_ENTRY_BYTES).unwrap_or(usize::MAX);
        Self {
            cache: Cache::with_weighter(entries, max_bytes, ByteWeighter),
            max_page_bytes: max_bytes / LARGEST_SHARE,
        }
    }

    /// Returns the page as it was written by this recipe.
    pub(crate) fn find(&self, key: &PageKey, recipe: &OutputKey) -> Option<Arc<CachedOutput>> {
        self.cache.get(key).filter(|entry| entry.recipe == *recipe)
    }

    /// Keeps a page that was written from the copy that the page cache has, unless it is a large one.
    pub(crate) fn keep(&self, key: PageKey, recipe: OutputKey, fetched_at_ms: u64, page: &Page) {
        debug_assert!(page.takings.is_none(), "a picture is of now");
        if weight(&key, page) > self.max_page_bytes {
            // What was written from an older copy must not outlive it.
            self.cache.remove(&key);
            return;
        }
        let page = Page { index_copy: None, ..page.clone() };
        let compared = Mutex::new(Instant::now());
        self.cache.insert(key, Arc::new(CachedOutput { recipe, fetched_at_ms, page, compared }));
    }
}

impl fmt::Debug for OutputCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendered").field("bytes", &self.cache.weight()).finish_non_exhaustive()
    }
}

/// Weighs an entry by its texts.
#[derive(Debug, Clone)]
struct ByteWeighter;

impl Weighter<PageKey, Arc<CachedOutput>> for ByteWeighter {
    fn weight(&self, key: &PageKey, entry: &Arc<CachedOutput>) -> u64 {
        weight(key, &entry.page)
    }
}

fn weight(key: &PageKey, page: &Page) -> u64 {
    let Page { markdown, html, raw_html, links, images, .. } = page;
    let texts = [markdown, html, raw_html].into_iter().flatten().map(String::len);
    let lists = [links, images].into_iter().flatten().flatten().map(|url| url.len() + size_of::<String>());
    let metadata = 4 * 1024;
    (key.url().len() + metadata + texts.sum::<usize>() + lists.sum::<usize>()) as u64
}

#[cfg(test)]
mod tests {
    use websvc_types::{RedactPii, ScrapeOptions};
    use websvc_validate::{Policy, check_scrape_options};

    use super::*;

    fn recipe(only_main_content: bool) -> OutputKey {
        let options =
            ScrapeOptions { only_main_content: Some(only_main_content), ..ScrapeOptions::default() };
        OutputKey::of(&check_scrape_options(options, &Policy::default()).unwrap().plan)
    }

    fn page(markdown: &str) -> Page {
        Page { markdown: Some(markdown.to_owned()), ..Page::default() }
    }

    #[test]
    fn a_rendering_is_found_by_its_recipe_only() {
        let rendered = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        rendered.keep(key.clone(), recipe(true), 7, &page("main"));
        assert_eq!(rendered.find(&key, &recipe(true)).unwrap().page.markdown.as_deref(), Some("main"));
        assert!(rendered.find(&key, &recipe(false)).is_none());
    }

    #[test]
    fn a_rendering_with_personal_data_answers_no_request_without() {
        let rendered = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        rendered.keep(key.clone(), recipe(true), 7, &page("jane@a.test"));
        let redact_pii = Some(RedactPii::On(RedactOptions::default()));
        let options = ScrapeOptions { redact_pii, ..ScrapeOptions::default() };
        let redacting = OutputKey::of(&check_scrape_options(options, &Policy::default()).unwrap().plan);
        assert!(rendered.find(&key, &redacting).is_none());
        rendered.keep(key.clone(), redacting.clone(), 7, &page("<EMAIL>"));
        assert!(rendered.find(&key, &recipe(true)).is_none());
        assert_eq!(rendered.find(&key, &redacting).unwrap().page.markdown.as_deref(), Some("<EMAIL>"));
    }

    #[test]
    fn a_newer_copy_takes_the_place_of_the_older() {
        let rendered = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        rendered.keep(key.clone(), recipe(true), 7, &page("old"));
        rendered.keep(key.clone(), recipe(false), 9, &page("new"));
        assert!(rendered.find(&key, &recipe(true)).is_none());
        assert_eq!(rendered.find(&key, &recipe(false)).unwrap().fetched_at_ms, 9);
    }

    #[test]
    fn a_copy_that_was_purged_is_not_current() {
        let rendered = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        rendered.keep(key.clone(), recipe(true), 7, &page("main"));
        let entry = rendered.find(&key, &recipe(true)).unwrap();
        assert!(entry.is_current(|| unreachable!("it was kept a moment ago")));
        *entry.compared.lock().unwrap() = Instant::now().checked_sub(2 * TRUSTED).unwrap();
        assert!(!entry.is_current(|| None));
        assert!(!entry.is_current(|| Some(9)));
        assert!(entry.is_current(|| Some(7)));
        assert!(entry.is_current(|| unreachable!("it was compared a moment ago")));
    }

    #[test]
    fn the_bytes_are_bounded() {
        let rendered = OutputCache::new(100_000);
        for number in 0..100 {
            let key = PageKey::new(format!("http://a.test/{number}"), "");
            rendered.keep(key, recipe(true), 7, &page(&"x".repeat(10_000)));
        }
        assert!(rendered.cache.weight() <= 100_000);
    }
}
