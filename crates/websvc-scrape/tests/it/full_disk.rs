//! Tests of a full disk: pages are served with a warning, and nothing is stored for a while.

use std::time::Duration;

use serde_json::json;
use websvc_scrape::CacheState;
use websvc_store::{CachedPage, PageKey, Store};
use websvc_testkit::{Page, TestWeb};

use crate::support::Fixture;

/// A little more than the time without writes after the disk was full.
const BACKOFF: Duration = Duration::from_secs(61);

/// The maximum size of the database file; an empty one is smaller.
const DISK_BYTES: u64 = 704 * 1024;

async fn fixture() -> Fixture {
    let mut web = TestWeb::builder();
    for number in 0..60_u32 {
        // Random words cannot be compressed.
        let words: String =
            (0..2_000_u32).map(|word| format!("{:x} ", word.wrapping_mul(2_654_435_761 + number))).collect();
        web =
            web.page(&format!("http://a.test/{number}"), Page::html(format!("<main><p>{words}</p></main>")));
    }
    let fixture = Fixture::new(web.start().await);
    fixture.store.limit_file_size(DISK_BYTES).unwrap();
    fixture
}

/// Returns bytes that cannot be compressed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed + 1;
    let next = || {
        // A Lehmer generator, modulo 2^61 - 1.
        state = u64::try_from(u128::from(state) * 437_799_614_237_992_725 % ((1 << 61) - 1)).unwrap();
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Scrapes pages until one is not stored, and returns its number.
async fn fill(fixture: &Fixture) -> usize {
    for number in 0..60 {
        let page = fixture.scrape(&format!("http://a.test/{number}"), json!({})).await.unwrap();
        assert!(page.markdown.is_some_and(|text| text.len() > 1_000), "page {number} has no content");
        if !page.warnings.is_empty() {
            assert_eq!(page.warnings, ["the page could not be cached"]);
            return number;
        }
    }
    panic!("the disk was not filled");
}

#[tokio::test]
async fn page_is_served_with_a_warning_if_the_disk_is_full() {
    let fixture = fixture().await;
    assert!(!fixture.scraper.is_cache_full());
    let first = fill(&fixture).await;
    let metrics = fixture.scraper.cache_metrics();
    assert_eq!((metrics.stored.get(), metrics.failed.get(), metrics.skipped.get()), (first as u64, 1, 0));
    assert!(fixture.scraper.is_cache_full() && first > 2, "{first} pages fit");
    // Stored pages are still served, and no other page is stored.
    let stored = fixture.scrape("http://a.test/0", json!({})).await.unwrap();
    assert!(matches!(stored.cache_state, CacheState::Hit(_)));
    let next = fixture.scrape(&format!("http://a.test/{}", first + 1), json!({})).await.unwrap();
    assert_eq!(next.warnings, ["the page could not be cached"]);
    assert_eq!(fixture.scraper.cache_metrics().skipped.get(), 1);
    fixture.store.verify().unwrap();
}

#[tokio::test]
async fn pages_are_stored_again_once_there_is_space() {
    let fixture = fixture().await;
    let first = fill(&fixture).await;
    fixture.store.purge_host("a.test").unwrap();
    let url = format!("http://a.test/{first}");
    assert_eq!(fixture.scrape(&url, json!({})).await.unwrap().warnings.len(), 1, "the backoff has not ended");
    fixture.advance(BACKOFF);
    assert!(!fixture.scraper.is_cache_full());
    assert!(fixture.scrape(&url, json!({})).await.unwrap().warnings.is_empty());
    assert_eq!(fixture.scraper.cache_metrics().stored.get(), first as u64 + 1);
    fixture.advance(Duration::from_secs(1));
    fixture.scrape(&url, json!({ "minAge": 1 })).await.unwrap();
}

#[tokio::test]
async fn truncated_page_has_a_warning_also_from_the_cache() {
    const URL: &str = "http://a.test/cut";
    let page = Page::html("<main><p>The beginning and the end.</p></main>").truncated_at(25);
    let fixture = Fixture::new(TestWeb::builder().page(URL, page).start().await);
    let fetched = fixture.scrape(URL, json!({})).await.unwrap();
    assert!(fetched.warnings[0].starts_with("the body broke off"), "{:?}", fetched.warnings);
    fixture.advance(Duration::from_secs(2));
    let cached = fixture.scrape(URL, json!({ "formats": ["rawHtml"] })).await.unwrap();
    assert!(matches!(cached.cache_state, CacheState::Hit(_)));
    assert!(cached.warnings[0].contains("only its beginning is in the cache"), "{:?}", cached.warnings);
}

#[test]
fn failed_write_leaves_stored_pages_intact() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    store.limit_file_size(DISK_BYTES).unwrap();
    let page = |number: u64| CachedPage {
        key: PageKey::new(format!("http://a.test/{number}"), ""),
        final_url: format!("http://a.test/{number}"),
        status: 200,
        headers: Vec::new(),
        body: noise(number, 20_000).into(),
        fetched_at_ms: number,
        truncated: false,
    };
    let limits = websvc_store::CacheLimits::default();
    let stored = (0..100).take_while(|&number| store.put_page(&page(number), &limits).is_ok()).count() as u64;
    assert!((2..100).contains(&stored), "{stored}");
    let error = store.put_page(&page(stored), &limits).unwrap_err();
    assert!(matches!(error, websvc_store::StoreError::Full { .. }), "{error:?}");
    // A failed replacement keeps the older copy of the page.
    let newer = CachedPage { fetched_at_ms: 1_000, body: noise(1_000, 900_000).into(), ..page(0) };
    assert!(store.put_page(&newer, &limits).is_err());
    drop(store);
    let store = Store::open(directory.path()).unwrap();
    store.verify().unwrap();
    for number in 0..stored {
        assert_eq!(store.page(&page(number).key).unwrap(), Some(page(number)));
    }
}
