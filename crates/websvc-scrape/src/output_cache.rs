//! The in-memory cache of formatted pages: agents request the same pages in the same formats again and again.
//!
//! It has only pages that the page cache has too, so it adds speed but no rules of its own. An entry that was not
//! compared with the page cache for a second is compared before it is used, because other processes also purge pages.
//! There is one entry per page, the output of the last request; a newer copy of the page replaces it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use websvc_store::PageKey;
use websvc_types::format::AttributeValues;
use websvc_types::menu::{MenuItem, MenuOption, MenuOptionGroup, PageMenu};
use websvc_types::product::{ItemImage, PageProduct, ProductVariant};
use websvc_types::video::PageVideo;
use websvc_types::{DocumentPage, Format, PageBlock, Parser, RedactOptions};
use websvc_validate::ScrapePlan;

use crate::cache::StoredCopy;
use crate::page::Page;

/// The typical size of an entry, for the initial capacity of the table.
const TYPICAL_ENTRY_BYTES: u64 = 32 * 1024;

/// The maximum size of one page is the size of the cache divided by this.
const MAX_PAGE_DIVISOR: u64 = 4;

/// The time for which an entry is used without comparing it with the page cache.
const COMPARE_INTERVAL: Duration = Duration::from_secs(1);

/// An in-memory cache of formatted pages, bounded in bytes.
pub(crate) struct OutputCache {
    cache: Cache<PageKey, Arc<CachedOutput>, ByteWeighter>,
    /// A larger page is not stored: it would evict all others.
    max_page_bytes: u64,
}

/// The options of a plan that select the output.
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
    out_links: bool,
}

/// A formatted page.
#[derive(Debug)]
pub(crate) struct CachedOutput {
    output_key: OutputKey,
    /// The time of the fetch, in milliseconds since the Unix epoch.
    pub(crate) fetched_at_ms: u64,
    pub(crate) page: Page,
    /// The last time at which the page cache was known to have this copy.
    compared_at: Mutex<Instant>,
}

impl CachedOutput {
    /// Returns whether the page cache still has this copy; `lookup` returns the time at which its copy was fetched.
    pub(crate) fn is_current(&self, lookup: impl FnOnce() -> Option<u64>) -> bool {
        let compared_at = *self.compared_at.lock();
        if compared_at.elapsed() < COMPARE_INTERVAL {
            return true;
        }
        let is_current = lookup() == Some(self.fetched_at_ms);
        if is_current {
            *self.compared_at.lock() = Instant::now();
        }
        is_current
    }
}

impl OutputKey {
    pub(crate) fn from_plan(plan: &ScrapePlan) -> Self {
        Self {
            formats: plan.formats.clone(),
            only_main_content: plan.only_main_content,
            block_ads: plan.block_ads,
            remove_base64_images: plan.remove_base64_images,
            include_tags: plan.include_tags.clone(),
            exclude_tags: plan.exclude_tags.clone(),
            redact_pii: plan.redact_pii.clone(),
            parsers: plan.parsers.clone(),
            out_links: plan.needs_out_links,
        }
    }
}

impl OutputCache {
    /// Creates a cache with a maximum size in bytes.
    pub(crate) fn new(max_bytes: u64) -> Self {
        let entries = usize::try_from(max_bytes / TYPICAL_ENTRY_BYTES).unwrap_or(usize::MAX);
        Self {
            cache: Cache::with_weighter(entries, max_bytes, ByteWeighter),
            max_page_bytes: max_bytes / MAX_PAGE_DIVISOR,
        }
    }

    /// Returns the page with the output of this key, if the cache has it.
    pub(crate) fn find(&self, key: &PageKey, output_key: &OutputKey) -> Option<Arc<CachedOutput>> {
        self.cache.get(key).filter(|entry| entry.output_key == *output_key)
    }

    /// Inserts a page that was formatted from a copy in the page cache, unless it is too large.
    pub(crate) fn insert(&self, copy: StoredCopy, output_key: OutputKey, page: &Page) {
        let StoredCopy { key, fetched_at_ms } = copy;
        debug_assert!(
            page.artifacts.is_none() && page.design.is_none(),
            "files and styles of the browser are never cached"
        );
        if weight(&key, page) > self.max_page_bytes {
            // The output of an older copy must not outlive that copy.
            self.cache.remove(&key);
            return;
        }
        let page = Page { index_copy: None, ..page.clone() };
        let compared_at = Mutex::new(Instant::now());
        self.cache.insert(key, Arc::new(CachedOutput { output_key, fetched_at_ms, page, compared_at }));
    }
}

impl fmt::Debug for OutputCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputCache").field("bytes", &self.cache.weight()).finish_non_exhaustive()
    }
}

/// A weigher that takes the length of the texts of an entry as its weight.
#[derive(Debug, Clone)]
struct ByteWeighter;

impl Weighter<PageKey, Arc<CachedOutput>> for ByteWeighter {
    fn weight(&self, key: &PageKey, entry: &Arc<CachedOutput>) -> u64 {
        weight(key, &entry.page)
    }
}

fn weight(key: &PageKey, page: &Page) -> u64 {
    let Page {
        markdown,
        html,
        raw_html,
        raw_base64,
        pages,
        blocks,
        links,
        images,
        attributes,
        product,
        menu,
        videos,
        ..
    } = page;
    let texts = [markdown, html, raw_html, raw_base64].into_iter().flatten().map(String::len);
    let lists = [links, images].into_iter().flatten().flatten().map(|url| url.len() + size_of::<String>());
    let values: usize = attributes.iter().flatten().map(attribute_weight).sum();
    let metadata = 4 * 1024;
    let product = product.as_ref().map_or(0, |product| product_weight(product));
    let menu = menu.as_ref().map_or(0, |menu| menu_weight(menu));
    let videos: usize = videos.iter().flatten().map(video_weight).sum();
    let pages = pages.iter().flatten().map(|page| page.markdown.len() + size_of::<DocumentPage>());
    let blocks = blocks.iter().flatten().flat_map(|page| &page.items);
    let blocks = blocks.map(|block| block.content.len() + 2 * size_of::<PageBlock>());
    let structured = values + product + menu + videos + pages.sum::<usize>() + blocks.sum::<usize>();
    (key.url().len() + metadata + texts.sum::<usize>() + lists.sum::<usize>() + structured) as u64
}

/// Returns the size of the values of a selector. The output key has the selector too.
fn attribute_weight(found: &AttributeValues) -> usize {
    let AttributeValues { selector, attribute, values, .. } = found;
    let values = values.iter().map(|value| value.len() + size_of::<String>());
    2 * (size_of::<AttributeValues>() + selector.len() + attribute.len()) + values.sum::<usize>()
}

/// Returns the approximate size of a video: its long texts, and an allowance for the others.
fn video_weight(video: &PageVideo) -> usize {
    let texts = [&video.title, &video.thumbnail, &video.description].into_iter().flatten().map(String::len);
    2 * size_of::<PageVideo>() + video.url.len() + video.source_url.len() + texts.sum::<usize>()
}

/// Returns the approximate size of a product: its long texts, and an allowance for the others.
fn product_weight(product: &PageProduct) -> usize {
    let variants = product.variants.iter();
    let variants = variants.map(|variant| 2 * size_of::<ProductVariant>() + image_weight(&variant.images));
    product.description.as_ref().map_or(0, String::len) + variants.sum::<usize>()
}

fn image_weight(images: &[ItemImage]) -> usize {
    images.iter().map(|image| size_of::<ItemImage>() + image.url.len()).sum()
}

/// Returns the approximate size of a menu: the long texts, images and options of its items, and an allowance for their
/// other texts.
fn menu_weight(menu: &PageMenu) -> usize {
    let items = menu.sections.iter().flat_map(|section| &section.items);
    items.map(item_weight).sum()
}

fn item_weight(item: &MenuItem) -> usize {
    let options = item.option_groups.iter().map(|group| {
        let options = group.options.iter().map(|option| 2 * size_of::<MenuOption>() + option.name.len());
        2 * size_of::<MenuOptionGroup>() + options.sum::<usize>()
    });
    let description = item.description.as_ref().map_or(0, String::len);
    2 * size_of::<MenuItem>() + description + image_weight(&item.images) + options.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use websvc_types::{RedactPii, ScrapeOptions};
    use websvc_validate::{Policy, check_request};

    use super::*;

    fn output_key(only_main_content: bool) -> OutputKey {
        let options =
            ScrapeOptions { only_main_content: Some(only_main_content), ..ScrapeOptions::default() };
        OutputKey::from_plan(&check_request(&options, &Policy::default()).unwrap().plan)
    }

    fn copy(key: &PageKey, fetched_at_ms: u64) -> StoredCopy {
        StoredCopy { key: key.clone(), fetched_at_ms }
    }

    fn page(markdown: &str) -> Page {
        Page { markdown: Some(markdown.to_owned()), ..Page::default() }
    }

    #[test]
    fn output_is_found_by_its_own_key_only() {
        let cache = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        cache.insert(copy(&key, 7), output_key(true), &page("main"));
        assert_eq!(cache.find(&key, &output_key(true)).unwrap().page.markdown.as_deref(), Some("main"));
        assert!(cache.find(&key, &output_key(false)).is_none());
    }

    #[test]
    fn unredacted_output_is_not_served_to_redacting_request() {
        let cache = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        cache.insert(copy(&key, 7), output_key(true), &page("jane@a.test"));
        let redact_pii = Some(RedactPii::On(RedactOptions::default()));
        let options = ScrapeOptions { redact_pii, ..ScrapeOptions::default() };
        let redacting = OutputKey::from_plan(&check_request(&options, &Policy::default()).unwrap().plan);
        assert!(cache.find(&key, &redacting).is_none());
        cache.insert(copy(&key, 7), redacting.clone(), &page("<EMAIL>"));
        assert!(cache.find(&key, &output_key(true)).is_none());
        assert_eq!(cache.find(&key, &redacting).unwrap().page.markdown.as_deref(), Some("<EMAIL>"));
    }

    #[test]
    fn newer_copy_replaces_older_copy() {
        let cache = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        cache.insert(copy(&key, 7), output_key(true), &page("old"));
        cache.insert(copy(&key, 9), output_key(false), &page("new"));
        assert!(cache.find(&key, &output_key(true)).is_none());
        assert_eq!(cache.find(&key, &output_key(false)).unwrap().fetched_at_ms, 9);
    }

    #[test]
    fn purged_copy_is_not_current() {
        let cache = OutputCache::new(1_000_000);
        let key = PageKey::new("http://a.test/", "");
        cache.insert(copy(&key, 7), output_key(true), &page("main"));
        let entry = cache.find(&key, &output_key(true)).unwrap();
        assert!(entry.is_current(|| unreachable!("it was inserted a moment ago")));
        *entry.compared_at.lock() = Instant::now().checked_sub(2 * COMPARE_INTERVAL).unwrap();
        assert!(!entry.is_current(|| None));
        assert!(!entry.is_current(|| Some(9)));
        assert!(entry.is_current(|| Some(7)));
        assert!(entry.is_current(|| unreachable!("it was compared a moment ago")));
    }

    #[test]
    fn cache_size_is_bounded_in_bytes() {
        let cache = OutputCache::new(100_000);
        for number in 0..100 {
            let key = PageKey::new(format!("http://a.test/{number}"), "");
            cache.insert(copy(&key, 7), output_key(true), &page(&"x".repeat(10_000)));
        }
        assert!(cache.cache.weight() <= 100_000);
    }

    #[test]
    fn selectors_of_the_request_have_a_weight() {
        let mut found = AttributeValues::default();
        let empty = attribute_weight(&found);
        found.selector = "x".repeat(2_000);
        assert_eq!(attribute_weight(&found), empty + 4_000, "the output key has a copy");
        found.values = vec![String::new(); 100];
        assert!(attribute_weight(&found) >= empty + 4_000 + 100 * size_of::<String>());
    }

    #[test]
    fn images_and_options_of_a_menu_have_a_weight() {
        let plain = MenuItem::default();
        let image = ItemImage { url: "x".repeat(1_000), alt: None };
        let option = MenuOption { name: "y".repeat(1_000), price: None };
        let group = MenuOptionGroup { name: None, options: vec![option; 3] };
        let item = MenuItem { images: vec![image; 2], option_groups: vec![group], ..plain.clone() };
        assert!(item_weight(&item) >= item_weight(&plain) + 5_000, "{}", item_weight(&item));
    }
}
