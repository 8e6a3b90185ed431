//! A full disk: pages are served, nothing is stored for a while, and it is said.

use std::time::Duration;

use serde_json::json;
use websvc_scrape::CacheState;
use websvc_store::{CachedPage, PageKey, Store};
use websvc_testkit::{Page, TestWeb};

use crate::support::Bench;

/// The pause after a full disk, and a moment more.
const PAUSE: Duration = Duration::from_secs(61);

/// Maximum size of the database file; an empty one is smaller.
const DISK_BYTES: u64 = 256 * 1024 + 128 * 1024;

async fn bench() -> Bench {
    let mut world = TestWeb::builder();
    for number in 0..60_u32 {
        // Random words do not pack.
        let words: String =
            (0..2_000_u32).map(|word| format!("{:x} ", word.wrapping_mul(2_654_435_761 + number))).collect();
        world = world
            .page(&format!("http://a.test/{number}"), Page::html(format!("<main><p>{words}</p></main>")));
    }
    let bench = Bench::new(world.start().await);
    bench.store.bound_file(DISK_BYTES).unwrap();
    bench
}

/// Returns bytes that do not pack.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed + 1;
    let next = || {
        // The generator of Lehmer, modulo 2^61 - 1.
        state = u64::try_from(u128::from(state) * 437_799_614_237_992_725 % ((1 << 61) - 1)).unwrap();
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Gets pages until one is not kept, and returns its number.
async fn fill(bench: &Bench) -> usize {
    for number in 0..60 {
        let page = bench.get(&format!("http://a.test/{number}"), json!({})).await.unwrap();
        assert!(page.markdown.is_some_and(|text| text.len() > 1_000), "page {number} is served");
        if !page.warnings.is_empty() {
            assert_eq!(page.warnings, ["the page could not be cached"]);
            return number;
        }
    }
    panic!("the disk was never full");
}

#[tokio::test]
async fn a_full_disk_costs_no_page_and_is_told() {
    let bench = bench().await;
    assert!(!bench.scraper.cache_metrics().is_full);
    let first = fill(&bench).await;
    let report = bench.scraper.cache_metrics();
    assert_eq!((report.stored, report.failed, report.skipped), (first as u64, 1, 0));
    assert!(report.is_full && first > 2, "{first} pages fit");
    // What is there is served from there, and nothing more is tried.
    let known = bench.get("http://a.test/0", json!({})).await.unwrap();
    assert!(matches!(known.cache_state, CacheState::Hit(_)));
    let next = bench.get(&format!("http://a.test/{}", first + 1), json!({})).await.unwrap();
    assert_eq!(next.warnings, ["the page could not be cached"]);
    assert_eq!(bench.scraper.cache_metrics().skipped, 1);
    bench.store.verify().unwrap();
}

#[tokio::test]
async fn storing_goes_on_when_there_is_room_again() {
    let bench = bench().await;
    let first = fill(&bench).await;
    bench.store.purge_host("a.test").unwrap();
    let again = format!("http://a.test/{first}");
    assert_eq!(bench.get(&again, json!({})).await.unwrap().warnings.len(), 1, "not at once");
    bench.pass(PAUSE);
    assert!(!bench.scraper.cache_metrics().is_full);
    assert!(bench.get(&again, json!({})).await.unwrap().warnings.is_empty());
    assert_eq!(bench.scraper.cache_metrics().stored, first as u64 + 1);
    bench.pass(Duration::from_secs(1));
    bench.get(&again, json!({ "minAge": 1 })).await.unwrap();
}

#[tokio::test]
async fn a_page_that_broke_off_says_so_from_the_cache_too() {
    const URL: &str = "http://a.test/cut";
    let page = Page::html("<main><p>The beginning and the end.</p></main>").truncated_at(25);
    let bench = Bench::new(TestWeb::builder().page(URL, page).start().await);
    let fetched = bench.get(URL, json!({})).await.unwrap();
    assert!(fetched.warnings[0].starts_with("the body broke off"), "{:?}", fetched.warnings);
    bench.pass(Duration::from_secs(2));
    let cached = bench.get(URL, json!({ "formats": ["rawHtml"] })).await.unwrap();
    assert!(matches!(cached.cache_state, CacheState::Hit(_)));
    assert!(cached.warnings[0].contains("only its beginning is in the cache"), "{:?}", cached.warnings);
}

#[test]
fn what_a_full_disk_keeps_out_leaves_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    store.bound_file(DISK_BYTES).unwrap();
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
    // The older copy of a page that could not be replaced is still there.
    let newer = CachedPage { fetched_at_ms: 1_000, body: noise(1_000, 900_000).into(), ..page(0) };
    assert!(store.put_page(&newer, &limits).is_err());
    drop(store);
    let store = Store::open(directory.path()).unwrap();
    store.verify().unwrap();
    for number in 0..stored {
        assert_eq!(store.page(&page(number).key).unwrap(), Some(page(number)));
    }
}
