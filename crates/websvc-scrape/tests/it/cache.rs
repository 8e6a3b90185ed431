//! Tests of the cache rules (specification, section 2.2), by the requests that reach the host.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_scrape::{CacheState, ScrapeError};
use websvc_store::CacheLimits;
use websvc_testkit::{Page, TestWeb};
use websvc_transport::{Client, ClientConfig};
use websvc_types::ErrorCode;

use crate::support::Fixture;

const URL: &str = "http://a.test/x";
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

async fn web() -> TestWeb {
    TestWeb::builder().page(URL, Page::html("<main><h1>Tea</h1><p>Three minutes.</p></main>")).start().await
}

use Outcome::{Hit, LockdownMiss, Miss, NoCachedData};

/// The outcome of a request.
#[derive(Debug, PartialEq)]
enum Outcome {
    Hit,
    Miss,
    NoCachedData,
    LockdownMiss,
}

/// A request: the time that passes before it, its options, its outcome, and the total number of requests to the host.
type Step = (Duration, Value, Outcome, usize);

async fn check(steps: Vec<Step>) {
    let fixture = Fixture::new(web().await);
    for (number, (elapsed, options, expected, requests)) in steps.into_iter().enumerate() {
        fixture.advance(elapsed);
        let outcome = match fixture.scrape(URL, options.clone()).await {
            Ok(page) => match page.cache_state {
                CacheState::Hit(_) => Hit,
                CacheState::Miss => Miss,
            },
            Err(ScrapeError::NoCachedData) => NoCachedData,
            Err(ScrapeError::LockdownMiss) => LockdownMiss,
            Err(error) => panic!("{error}"),
        };
        assert_eq!((outcome, fixture.web.requests().len()), (expected, requests), "step {number}: {options}");
    }
}

const NOW: Duration = Duration::ZERO;

#[tokio::test]
async fn max_age_is_two_days_by_default() {
    check(vec![
        (NOW, json!({}), Miss, 1),
        (NOW, json!({}), Hit, 1),
        (2 * DAY, json!({}), Hit, 1),
        (Duration::from_millis(1), json!({}), Miss, 2),
        (HOUR, json!({ "maxAge": 3_600_000 }), Hit, 2),
        (HOUR, json!({ "maxAge": 3_600_000 }), Miss, 3),
        (NOW, json!({ "maxAge": 0 }), Miss, 4),
        (NOW, json!({}), Hit, 4),
    ])
    .await;
}

#[tokio::test]
async fn min_age_never_fetches() {
    check(vec![
        (NOW, json!({ "minAge": 1 }), NoCachedData, 0),
        (NOW, json!({}), Miss, 1),
        (NOW, json!({ "minAge": 1 }), NoCachedData, 1),
        (HOUR, json!({ "minAge": 1 }), Hit, 1),
        (NOW, json!({ "minAge": 3_600_001 }), NoCachedData, 1),
        (30 * DAY, json!({ "minAge": 1, "maxAge": 0 }), Hit, 1),
    ])
    .await;
}

#[tokio::test]
async fn lockdown_never_fetches_and_serves_pages_of_two_years() {
    check(vec![
        (NOW, json!({ "lockdown": true }), LockdownMiss, 0),
        (NOW, json!({}), Miss, 1),
        (700 * DAY, json!({ "lockdown": true }), Hit, 1),
        (NOW, json!({ "lockdown": true, "maxAge": 3_600_000 }), LockdownMiss, 1),
        (31 * DAY, json!({ "lockdown": true }), LockdownMiss, 1),
    ])
    .await;
}

#[tokio::test]
async fn page_is_not_stored_with_store_in_cache_false_or_own_headers() {
    check(vec![
        (NOW, json!({ "storeInCache": false }), Miss, 1),
        (NOW, json!({}), Miss, 2),
        (NOW, json!({ "storeInCache": false }), Hit, 2),
        (NOW, json!({ "headers": { "x-own": "1" } }), Miss, 3),
        (NOW, json!({ "headers": { "x-own": "1" }, "storeInCache": true }), Miss, 4),
        (NOW, json!({ "headers": { "x-own": "1" }, "minAge": 1 }), NoCachedData, 4),
    ])
    .await;
}

#[tokio::test]
async fn options_that_change_the_response_have_their_own_copy() {
    check(vec![
        (NOW, json!({}), Miss, 1),
        (NOW, json!({ "mobile": true }), Miss, 2),
        (NOW, json!({ "location": { "country": "DE", "languages": ["de"] } }), Miss, 3),
        (NOW, json!({ "skipTlsVerification": false }), Hit, 3),
        (NOW, json!({ "formats": ["html", "links"] }), Hit, 3),
        (NOW, json!({ "onlyMainContent": false }), Hit, 3),
        (NOW, json!({ "includeTags": ["h1"] }), Hit, 3),
        (NOW, json!({ "mobile": true }), Hit, 3),
    ])
    .await;
}

#[tokio::test]
async fn urls_with_different_fragments_share_a_copy() {
    let fixture = Fixture::new(web().await);
    fixture.scrape(URL, json!({})).await.unwrap();
    let page = fixture.scrape(&format!("{URL}#part"), json!({})).await.unwrap();
    assert!(matches!(page.cache_state, CacheState::Hit(_)));
    assert_eq!(page.metadata.source_url.as_deref(), Some("http://a.test/x#part"));
}

#[tokio::test]
async fn stale_copy_is_revalidated_with_its_etag() {
    let web = TestWeb::builder().page_with(URL, |seen| match seen.header("if-none-match") {
        Some("\"1\"") => Page::text("").status(304).header("etag", "\"1\""),
        _ => Page::html("<main><p>Three minutes.</p></main>").header("etag", "\"1\""),
    });
    let fixture = Fixture::new(web.start().await);
    fixture.scrape(URL, json!({})).await.unwrap();
    fixture.advance(3 * DAY);
    let page = fixture.scrape(URL, json!({})).await.unwrap();
    assert_eq!((page.markdown.as_deref(), page.metadata.status_code), (Some("Three minutes.\n"), Some(200)));
    assert_eq!(page.cache_state, CacheState::Miss, "the host confirmed the copy");
    let validators: Vec<_> =
        fixture.web.requests().iter().map(|seen| seen.header("if-none-match").map(str::to_owned)).collect();
    assert_eq!(validators, [None, Some("\"1\"".to_owned())]);
    let page = fixture.scrape(URL, json!({})).await.unwrap();
    assert!(matches!(page.cache_state, CacheState::Hit(_)), "a confirmed copy is fresh");
    fixture.scrape(URL, json!({ "maxAge": 0 })).await.unwrap();
    let last = fixture.web.requests().pop().unwrap();
    assert_eq!(last.header("if-none-match"), None, "maxAge 0 must not revalidate a copy");
}

#[tokio::test]
async fn stale_and_revalidated_pages_are_counted_as_misses_too() {
    let web = TestWeb::builder().page_with(URL, |request| match request.header("if-none-match") {
        Some(_) => Page::text("").status(304).header("etag", "\"1\""),
        None => Page::html("<main><p>Three minutes.</p></main>").header("etag", "\"1\""),
    });
    let fixture = Fixture::new(web.start().await);
    let counts = || {
        let metrics = fixture.scraper.cache_metrics();
        (metrics.misses.get(), metrics.stale.get(), metrics.revalidated.get())
    };
    fixture.scrape(URL, json!({})).await.unwrap();
    assert_eq!(counts(), (1, 0, 0), "no copy");
    fixture.advance(3 * DAY);
    fixture.scrape(URL, json!({})).await.unwrap();
    assert_eq!(counts(), (2, 1, 1), "the host confirmed the old copy");
    fixture.scrape(URL, json!({})).await.unwrap();
    assert_eq!(counts(), (2, 1, 1), "the copy is fresh again");
}

#[tokio::test]
async fn unverified_page_is_not_stored() {
    let web = TestWeb::builder().page("https://a.test/", Page::html("<p>Three minutes.</p>")).start().await;
    // This client does not trust the authority of the test web.
    let client = Client::new(ClientConfig::new(web.guard())).unwrap();
    let fixture = Fixture::with_client(web, client);
    for requests in 1..=2 {
        let page = fixture.scrape("https://a.test/", json!({ "skipTlsVerification": true })).await.unwrap();
        assert!(page.warnings[0].contains("was not verified"), "{:?}", page.warnings);
        assert!(page.index_copy.is_none());
        assert_eq!(fixture.web.requests().len(), requests);
    }
    let error = fixture.scrape("https://a.test/", json!({ "skipTlsVerification": false })).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ScrapeSslError, "{error}");
}

#[tokio::test]
async fn concurrent_requests_with_different_tls_policies_do_not_share_a_fetch() {
    let slow = Page::html("<p>Three minutes.</p>").delay(Duration::from_millis(200));
    let web = TestWeb::builder().page("https://a.test/", slow).start().await;
    // This client does not trust the authority of the test web.
    let client = Client::new(ClientConfig::new(web.guard())).unwrap();
    let fixture = Fixture::with_client(web, client);
    let get = |skip| fixture.scrape("https://a.test/", json!({ "skipTlsVerification": skip }));
    for is_skipping_first in [true, false] {
        let (first, second) = tokio::join!(get(is_skipping_first), get(!is_skipping_first));
        let (skipping, verifying) = if is_skipping_first { (first, second) } else { (second, first) };
        assert_eq!(skipping.unwrap().markdown.as_deref(), Some("Three minutes.\n"));
        assert_eq!(verifying.unwrap_err().code(), ErrorCode::ScrapeSslError);
    }
}

#[tokio::test]
async fn page_with_error_status_is_not_stored() {
    let web = TestWeb::builder().page(URL, Page::html("<p>gone</p>").status(410)).start().await;
    let fixture = Fixture::new(web);
    for requests in 1..=2 {
        let page = fixture.scrape(URL, json!({})).await.unwrap();
        assert_eq!((page.metadata.status_code, fixture.web.requests().len()), (Some(410), requests));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_concurrent_requests_share_one_fetch() {
    let slow = Page::html("<main><p>Three minutes.</p></main>").delay(Duration::from_millis(200));
    let fixture = std::sync::Arc::new(Fixture::new(TestWeb::builder().page(URL, slow).start().await));
    for (round, options) in [json!({}), json!({ "maxAge": 0, "storeInCache": false })].into_iter().enumerate()
    {
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let (fixture, options) = (fixture.clone(), options.clone());
                tokio::spawn(async move { fixture.scrape(URL, options).await.unwrap().markdown })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().as_deref(), Some("Three minutes.\n"));
        }
        assert_eq!(fixture.web.requests().len(), round + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_share_the_error_of_one_fetch() {
    let fixture = std::sync::Arc::new(Fixture::new(TestWeb::builder().start().await));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let fixture = fixture.clone();
            tokio::spawn(async move { fixture.scrape("http://127.0.0.1:9/", json!({})).await.unwrap_err() })
        })
        .collect();
    for task in tasks {
        let error = task.await.unwrap();
        assert_eq!(error.code(), ErrorCode::ScrapeForbiddenUrl, "{error}");
    }
}

#[tokio::test]
async fn cache_size_is_bounded_and_oldest_pages_are_evicted() {
    let mut web = TestWeb::builder();
    // Random words cannot be compressed.
    for number in 0..20 {
        let words: String =
            (0..4000u32).map(|word| format!("{:x} ", word.wrapping_mul(2_654_435_761 + number))).collect();
        web = web.page(&format!("http://a.test/{number}"), Page::html(format!("<p>{words}</p>")));
    }
    let limits = CacheLimits { max_bytes: 200_000, ..CacheLimits::default() };
    let fixture = Fixture::with_config(web.start().await, |config| config.cache = limits);
    for number in 0..20 {
        fixture.scrape(&format!("http://a.test/{number}"), json!({})).await.unwrap();
        fixture.advance(Duration::from_secs(1));
        assert!(fixture.store.cache_size().unwrap().bytes <= 200_000);
    }
    let pages = fixture.store.cache_size().unwrap().pages;
    assert!((2..20).contains(&pages), "{pages}");
    let newest = fixture.scrape("http://a.test/19", json!({ "minAge": 1 })).await.unwrap();
    assert!(matches!(newest.cache_state, CacheState::Hit(_)));
}

#[tokio::test]
async fn purged_page_is_fetched_again_although_output_was_cached() {
    let fixture = Fixture::new(web().await);
    fixture.scrape(URL, json!({})).await.unwrap();
    fixture.scrape(URL, json!({})).await.unwrap();
    fixture.store.purge_url(URL).unwrap();
    // The output cache compares its entries with the page cache once a second.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while fixture.web.requests().len() < 2 {
        assert!(std::time::Instant::now() < deadline, "the purged page is still served");
        tokio::time::sleep(Duration::from_millis(50)).await;
        fixture.scrape(URL, json!({})).await.unwrap();
    }
}
