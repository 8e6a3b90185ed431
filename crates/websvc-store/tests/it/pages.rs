//! Tests of the page cache: storing, eviction, purging, totals, damage.

use std::time::Duration;

use bytes::Bytes;
use std::path::Path;
use websvc_store::{CacheLimits, CacheSize, CachedPage, PageKey, PutOutcome, Store, StoreError};

use crate::engine::{Rows, is_server};
use crate::{fresh, noise, page};

const ROOMY: CacheLimits =
    CacheLimits { max_bytes: 1 << 30, max_entry_bytes: 1 << 24, max_age: Duration::from_secs(1 << 30) };

fn put(store: &Store, page: &CachedPage, limits: &CacheLimits) -> PutOutcome {
    store.put_page(page, limits).unwrap()
}

/// Returns the size of the cache, counted from its rows.
fn counted(dir: &Path) -> CacheSize {
    let rows = Rows::open(dir);
    CacheSize {
        pages: rows.number("SELECT count(*) FROM pages"),
        bytes: rows.number("SELECT coalesce(sum(size), 0) FROM pages"),
    }
}

#[test]
fn stored_page_is_read_unchanged() {
    let (dir, store) = fresh();
    let stored = CachedPage {
        key: PageKey::new("https://example.com/a?b=c", "mobile;de"),
        final_url: "https://www.example.com/ä".to_owned(),
        status: 404,
        headers: vec![
            ("content-type".to_owned(), "text/html".to_owned()),
            ("link".to_owned(), "<x>; rel=\"a\"\u{0}\n".to_owned()),
            ("link".to_owned(), String::new()),
        ],
        body: Bytes::from("<p>grüße</p>".repeat(1000)),
        fetched_at_ms: 1_700_000_000_123,
        truncated: true,
    };
    assert_eq!(put(&store, &stored, &ROOMY), PutOutcome::Stored { evicted: 0 });
    assert_eq!(store.page(&stored.key).unwrap().as_ref(), Some(&stored));
    drop(store);
    let store = crate::open(dir.path());
    assert_eq!(store.page(&stored.key).unwrap(), Some(stored));
    assert_eq!(store.page(&PageKey::new("https://example.com/a?b=c", "")).unwrap(), None, "another variant");
}

#[test]
fn bodies_of_all_kinds_are_read_unchanged() {
    let (_dir, store) = fresh();
    for (name, body) in [
        ("empty", Bytes::new()),
        ("one", Bytes::from_static(b"x")),
        ("noise", noise(1, 100_000)),
        ("zeros", Bytes::from(vec![0; 3_000_000])),
    ] {
        let stored = page(&format!("http://a.test/{name}"), 1, body);
        put(&store, &stored, &ROOMY);
        assert_eq!(store.page(&stored.key).unwrap(), Some(stored), "{name}");
    }
}

#[test]
fn text_body_is_compressed() {
    let (_dir, store) = fresh();
    put(&store, &page("http://a.test/", 1, "<p>hello world</p>".repeat(10_000)), &ROOMY);
    let CacheSize { pages, bytes } = store.cache_size().unwrap();
    assert_eq!(pages, 1);
    assert!(bytes < 10_000, "{bytes} bytes for a body of 180,000");
}

#[test]
fn newer_fetch_replaces_an_older_one_and_never_the_reverse() {
    let (_dir, store) = fresh();
    let old = page("http://a.test/", 1000, "old");
    let new = page("http://a.test/", 2000, "new");
    put(&store, &old, &ROOMY);
    assert_eq!(put(&store, &new, &ROOMY), PutOutcome::Stored { evicted: 0 });
    assert_eq!(put(&store, &old, &ROOMY), PutOutcome::Outdated);
    assert_eq!(store.page(&new.key).unwrap(), Some(new));
    assert_eq!(store.cache_size().unwrap().pages, 1);
}

#[test]
fn entry_of_a_clock_that_was_ahead_is_replaced() {
    const DAY_MS: u64 = 86_400_000;
    let (_dir, store) = fresh();
    put(&store, &page("http://a.test/", 2 * DAY_MS, "ahead"), &ROOMY);
    let now = page("http://a.test/", 1000, "now");
    assert_eq!(put(&store, &now, &ROOMY), PutOutcome::Stored { evicted: 0 });
    assert_eq!(store.page(&now.key).unwrap(), Some(now));
}

#[test]
fn oldest_pages_are_evicted_first() {
    let (dir, store) = fresh();
    let urls: Vec<String> = (0..20).map(|n| format!("http://a.test/{n:02}")).collect();
    put(&store, &page(&urls[0], 0, noise(0, 1000)), &ROOMY);
    let one = store.cache_size().unwrap().bytes;
    let limits = CacheLimits { max_bytes: 10 * one, ..ROOMY };
    // Stored in another order than their age: 7 and 20 have no common divisor.
    for n in (1..20).map(|n| n * 7 % 20) {
        put(&store, &page(&urls[n], n as u64, noise(n as u64, 1000)), &limits);
        assert!(store.cache_size().unwrap().bytes <= limits.max_bytes);
    }
    assert_eq!(store.cache_size().unwrap(), counted(dir.path()));
    assert_eq!(store.cache_size().unwrap().bytes, 10 * one);
    let newest = page("http://a.test/xx", 99, noise(99, 1000));
    assert_eq!(put(&store, &newest, &limits), PutOutcome::Stored { evicted: 1 });
    let oldest = Rows::open(dir.path())
        .text("SELECT min(url) FROM pages WHERE fetched_at = (SELECT min(fetched_at) FROM pages)");
    assert!(store.page(&newest.key).unwrap().is_some());
    assert!(oldest > urls[9], "{oldest} remains although ten newer pages fill the cache");
}

#[test]
fn large_page_evicts_many_small_ones() {
    let (dir, store) = fresh();
    let limits = CacheLimits { max_bytes: 300_000, ..ROOMY };
    for n in 0..200 {
        put(&store, &page(&format!("http://a.test/{n}"), n, noise(n, 1000)), &limits);
    }
    let before = store.cache_size().unwrap();
    assert_eq!(before.pages, 200);
    let large = page("http://a.test/large", 1000, noise(7, 290_000));
    let PutOutcome::Stored { evicted } = put(&store, &large, &limits) else { panic!("not stored") };
    let after = store.cache_size().unwrap();
    assert!(evicted > 190, "{evicted}");
    assert_eq!(after.pages, before.pages - evicted + 1);
    assert!(after.bytes <= limits.max_bytes);
    assert_eq!(after, counted(dir.path()));
    assert_eq!(store.page(&large.key).unwrap(), Some(large));
}

#[test]
fn page_that_does_not_fit_is_not_stored_and_evicts_nothing() {
    let (_dir, store) = fresh();
    let kept = page("http://a.test/kept", 1, noise(1, 1000));
    put(&store, &kept, &ROOMY);
    let large = page("http://a.test/large", 2, noise(2, 5000));
    for (limits, expected) in [
        (CacheLimits { max_entry_bytes: 4000, ..ROOMY }, 4000),
        (CacheLimits { max_bytes: 3000, ..ROOMY }, 3000),
        (CacheLimits { max_bytes: 0, ..ROOMY }, 0),
    ] {
        match put(&store, &large, &limits) {
            PutOutcome::TooLarge { bytes, limit } => {
                assert!(bytes > 5000 && limit == expected, "{bytes} {limit}");
            }
            outcome => panic!("{outcome:?}"),
        }
    }
    assert_eq!(store.page(&large.key).unwrap(), None);
    assert_eq!(store.page(&kept.key).unwrap(), Some(kept));
}

#[test]
fn pages_past_the_age_limit_are_evicted_with_the_next_put() {
    let (_dir, store) = fresh();
    let limits = CacheLimits { max_age: Duration::from_secs(10), ..ROOMY };
    for at in [1_000, 4_999, 5_000] {
        put(&store, &page(&format!("http://a.test/{at}"), at, "x"), &limits);
    }
    let outcome = put(&store, &page("http://a.test/now", 15_000, "x"), &limits);
    assert_eq!(outcome, PutOutcome::Stored { evicted: 2 }, "5000 is exactly ten seconds old");
    assert_eq!(store.cache_size().unwrap().pages, 2);
}

#[test]
fn evict_pages_enforces_lowered_limits() {
    let (dir, store) = fresh();
    for n in 0..150 {
        put(&store, &page(&format!("http://a.test/{n}"), n, noise(n, 1000)), &ROOMY);
    }
    let full = store.cache_size().unwrap();
    let limits = CacheLimits { max_bytes: full.bytes / 3, ..ROOMY };
    let removed = store.evict_pages(&limits, 200).unwrap();
    let left = store.cache_size().unwrap();
    assert_eq!(left.pages, 150 - removed);
    assert!(left.bytes <= limits.max_bytes && left.pages >= 49, "{left:?}");
    assert_eq!(left, counted(dir.path()));
    assert_eq!(store.evict_pages(&limits, 200).unwrap(), 0);
    let expired = CacheLimits { max_age: Duration::from_millis(100), ..ROOMY };
    assert_eq!(store.evict_pages(&expired, 10_000).unwrap(), left.pages);
    assert_eq!(store.cache_size().unwrap(), CacheSize { pages: 0, bytes: 0 });
}

#[test]
fn purge_deletes_only_the_url_or_host() {
    let (dir, store) = fresh();
    for n in 0..150 {
        put(&store, &page(&format!("https://one.test:8443/{n}"), 1, "x"), &ROOMY);
    }
    for variant in ["", "mobile"] {
        let mut twice = page("https://two.test/a", 1, "x");
        twice.key = PageKey::new("https://two.test/a", variant);
        put(&store, &twice, &ROOMY);
    }
    put(&store, &page("https://two.test/ab", 1, "x"), &ROOMY);
    put(&store, &page("https://sub.one.test/", 1, "x"), &ROOMY);
    assert_eq!(store.purge_url("https://two.test/a").unwrap(), 2);
    assert_eq!(store.purge_host("one.test").unwrap(), 150);
    assert_eq!(store.purge_host("absent.test").unwrap(), 0);
    assert_eq!(store.cache_size().unwrap().pages, 2);
    assert_eq!(store.cache_size().unwrap(), counted(dir.path()));
}

#[test]
fn cache_totals_stay_exact_through_many_changes() {
    let (dir, store) = fresh();
    let limits =
        CacheLimits { max_bytes: 40_000, max_entry_bytes: 9_000, max_age: Duration::from_millis(150) };
    for (step, byte) in noise(42, 400).iter().enumerate() {
        let size = usize::from(*byte) * 40;
        let url = format!("http://h{}.test/{}", byte % 3, byte % 29);
        match byte % 11 {
            0 => drop(store.purge_url(&url).unwrap()),
            1 if step % 5 == 0 => drop(store.purge_host(&format!("h{}.test", byte % 3)).unwrap()),
            _ => drop(put(&store, &page(&url, step as u64, noise(step as u64, size)), &limits)),
        }
        let size = store.cache_size().unwrap();
        assert!(size.bytes <= limits.max_bytes, "step {step}: {size:?}");
    }
    let size = store.cache_size().unwrap();
    assert!(size.pages > 5, "{size:?}");
    assert_eq!(size, counted(dir.path()));
}

#[test]
fn damaged_entry_is_an_error_that_names_the_page() {
    let (dir, store) = fresh();
    let stored = page("http://a.test/", 1, "<p>text</p>".repeat(1000));
    put(&store, &stored, &ROOMY);
    for damage in [
        if is_server() {
            "UPDATE pages SET body = set_byte(body, 9, 255 - get_byte(body, 9))"
        } else {
            "UPDATE pages SET body = zeroblob(length(body))"
        },
        "UPDATE pages SET body_encoding = 'plain'",
        "UPDATE pages SET headers = '{'",
    ] {
        put(&store, &stored, &ROOMY);
        Rows::open(dir.path()).execute(damage);
        let error = store.page(&stored.key).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{damage}: {error}");
        assert!(error.to_string().contains("http://a.test/"), "{error}");
    }
}
