//! The rules of the cache (specification, section 2.2), by what reaches the host.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_scrape::{CacheState, ScrapeError};
use websvc_store::CacheLimits;
use websvc_testkit::{Page, TestWeb};
use websvc_transport::{Client, ClientConfig};
use websvc_types::ErrorCode;

use crate::support::Bench;

const URL: &str = "http://a.test/x";
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

async fn world() -> TestWeb {
    TestWeb::builder().page(URL, Page::html("<main><h1>Tea</h1><p>Three minutes.</p></main>")).start().await
}

use Outcome::{Hit, LockdownMiss, Miss, NoCachedData};

/// Expected outcome of a request.
#[derive(Debug, PartialEq)]
enum Outcome {
    Hit,
    Miss,
    NoCachedData,
    LockdownMiss,
}

/// One request: how much time passes before it, its options, how it ends, and what has reached the host since the
/// beginning.
type Step = (Duration, Value, Outcome, usize);

async fn check(steps: Vec<Step>) {
    let bench = Bench::new(world().await);
    for (number, (passed, options, expected, requests)) in steps.into_iter().enumerate() {
        bench.pass(passed);
        let outcome = match bench.get(URL, options.clone()).await {
            Ok(page) => match page.cache_state {
                CacheState::Hit(_) => Hit,
                CacheState::Miss => Miss,
            },
            Err(ScrapeError::NoCachedData) => NoCachedData,
            Err(ScrapeError::LockdownMiss) => LockdownMiss,
            Err(error) => panic!("{error}"),
        };
        assert_eq!((outcome, bench.world.requests().len()), (expected, requests), "step {number}: {options}");
    }
}

const NOW: Duration = Duration::ZERO;

#[tokio::test]
async fn max_age_is_two_days_unless_given() {
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
async fn lockdown_never_fetches_and_takes_pages_of_two_years() {
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
async fn what_is_not_to_be_stored_is_not() {
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
async fn what_changes_the_answer_of_the_host_has_its_own_copy_and_what_does_not_has_none() {
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
async fn a_fragment_is_no_other_page() {
    let bench = Bench::new(world().await);
    bench.get(URL, json!({})).await.unwrap();
    let page = bench.get(&format!("{URL}#part"), json!({})).await.unwrap();
    assert!(matches!(page.cache_state, CacheState::Hit(_)));
    assert_eq!(page.metadata.source_url.as_deref(), Some("http://a.test/x#part"));
}

#[tokio::test]
async fn an_old_copy_is_asked_about_with_its_validator() {
    let world = TestWeb::builder().page_with(URL, |seen| match seen.header("if-none-match") {
        Some("\"1\"") => Page::text("").status(304).header("etag", "\"1\""),
        _ => Page::html("<main><p>Three minutes.</p></main>").header("etag", "\"1\""),
    });
    let bench = Bench::new(world.start().await);
    bench.get(URL, json!({})).await.unwrap();
    bench.pass(3 * DAY);
    let page = bench.get(URL, json!({})).await.unwrap();
    assert_eq!((page.markdown.as_deref(), page.metadata.status_code), (Some("Three minutes.\n"), Some(200)));
    assert_eq!(page.cache_state, CacheState::Miss, "the host was asked");
    let asked: Vec<_> =
        bench.world.requests().iter().map(|seen| seen.header("if-none-match").map(str::to_owned)).collect();
    assert_eq!(asked, [None, Some("\"1\"".to_owned())]);
    let page = bench.get(URL, json!({})).await.unwrap();
    assert!(matches!(page.cache_state, CacheState::Hit(_)), "the copy is as good as new");
    bench.get(URL, json!({ "maxAge": 0 })).await.unwrap();
    let last = bench.world.requests().pop().unwrap();
    assert_eq!(last.header("if-none-match"), None, "who wants nothing cached gets nothing cached");
}

#[tokio::test]
async fn what_somebody_between_may_have_written_is_not_stored() {
    let world = TestWeb::builder().page("https://a.test/", Page::html("<p>Three minutes.</p>")).start().await;
    // A client that does not know the authority of the world.
    let client = Client::new(ClientConfig::new(world.guard())).unwrap();
    let bench = Bench::asking(world, client);
    for requests in 1..=2 {
        let page = bench.get("https://a.test/", json!({ "skipTlsVerification": true })).await.unwrap();
        assert!(page.warnings[0].contains("was not verified"), "{:?}", page.warnings);
        assert!(page.index_copy.is_none());
        assert_eq!(bench.world.requests().len(), requests);
    }
    let error = bench.get("https://a.test/", json!({ "skipTlsVerification": false })).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ScrapeSslError, "{error}");
}

#[tokio::test]
async fn concurrent_requests_with_different_tls_policies_do_not_share_a_fetch() {
    let slow = Page::html("<p>Three minutes.</p>").delay(Duration::from_millis(200));
    let world = TestWeb::builder().page("https://a.test/", slow).start().await;
    // This client does not trust the authority of the test web.
    let client = Client::new(ClientConfig::new(world.guard())).unwrap();
    let bench = Bench::asking(world, client);
    let get = |skip| bench.get("https://a.test/", json!({ "skipTlsVerification": skip }));
    for is_skipping_first in [true, false] {
        let (first, second) = tokio::join!(get(is_skipping_first), get(!is_skipping_first));
        let (skipping, verifying) = if is_skipping_first { (first, second) } else { (second, first) };
        assert_eq!(skipping.unwrap().markdown.as_deref(), Some("Three minutes.\n"));
        assert_eq!(verifying.unwrap_err().code(), ErrorCode::ScrapeSslError);
    }
}

#[tokio::test]
async fn failures_are_not_stored() {
    let world = TestWeb::builder().page(URL, Page::html("<p>gone</p>").status(410)).start().await;
    let bench = Bench::new(world);
    for requests in 1..=2 {
        let page = bench.get(URL, json!({})).await.unwrap();
        assert_eq!((page.metadata.status_code, bench.world.requests().len()), (Some(410), requests));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_make_one_fetch() {
    let slow = Page::html("<main><p>Three minutes.</p></main>").delay(Duration::from_millis(200));
    let bench = std::sync::Arc::new(Bench::new(TestWeb::builder().page(URL, slow).start().await));
    for (round, options) in [json!({}), json!({ "maxAge": 0, "storeInCache": false })].into_iter().enumerate()
    {
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let (bench, options) = (bench.clone(), options.clone());
                tokio::spawn(async move { bench.get(URL, options).await.unwrap().markdown })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().as_deref(), Some("Three minutes.\n"));
        }
        assert_eq!(bench.world.requests().len(), round + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_wait_learn_of_the_failure_of_one_fetch() {
    let bench = std::sync::Arc::new(Bench::new(TestWeb::builder().start().await));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let bench = bench.clone();
            tokio::spawn(async move { bench.get("http://127.0.0.1:9/", json!({})).await.unwrap_err() })
        })
        .collect();
    for task in tasks {
        let error = task.await.unwrap();
        assert_eq!(error.code(), ErrorCode::ScrapeForbiddenUrl, "{error}");
    }
}

#[tokio::test]
async fn the_cache_is_bounded_in_bytes_and_the_oldest_leaves() {
    let mut world = TestWeb::builder();
    // Random words do not pack.
    for number in 0..20 {
        let words: String =
            (0..4000u32).map(|word| format!("{:x} ", word.wrapping_mul(2_654_435_761 + number))).collect();
        world = world.page(&format!("http://a.test/{number}"), Page::html(format!("<p>{words}</p>")));
    }
    let limits = CacheLimits { max_bytes: 200_000, ..CacheLimits::default() };
    let bench = Bench::with(world.start().await, |config| config.cache = limits);
    for number in 0..20 {
        bench.get(&format!("http://a.test/{number}"), json!({})).await.unwrap();
        bench.pass(Duration::from_secs(1));
        assert!(bench.store.cache_size().unwrap().bytes <= 200_000);
    }
    let pages = bench.store.cache_size().unwrap().pages;
    assert!((2..20).contains(&pages), "{pages}");
    let newest = bench.get("http://a.test/19", json!({ "minAge": 1 })).await.unwrap();
    assert!(matches!(newest.cache_state, CacheState::Hit(_)));
}

#[tokio::test]
async fn what_was_purged_is_fetched_again_though_it_was_written_before() {
    let bench = Bench::new(world().await);
    bench.get(URL, json!({})).await.unwrap();
    bench.get(URL, json!({})).await.unwrap();
    bench.store.purge_url(URL).unwrap();
    // Beside a running server it takes up to a second until memory follows.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while bench.world.requests().len() < 2 {
        assert!(std::time::Instant::now() < deadline, "the purged page is still served");
        tokio::time::sleep(Duration::from_millis(50)).await;
        bench.get(URL, json!({})).await.unwrap();
    }
}
