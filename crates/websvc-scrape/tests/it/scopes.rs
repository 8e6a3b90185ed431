//! Tests of page scopes: the private copies of a team and the shared copies, by the requests that reach the host.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_scrape::{CacheState, Page, ScrapeError};
use websvc_store::{IndexPolicy, PageScope, TeamChange};
use websvc_testkit::{Page as Served, TestWeb};

use crate::support::{Fixture, plan};

const URL: &str = "http://a.test/x";
const SHARED: PageScope = PageScope::Shared;

async fn fixture() -> Fixture {
    // The delay lets requests that are sent together overlap.
    let page =
        Served::html("<main><h1>Tea</h1><p>Three minutes.</p></main>").delay(Duration::from_millis(200));
    Fixture::new(TestWeb::builder().page(URL, page).start().await)
}

fn team(fixture: &Fixture, name: &str) -> PageScope {
    let change = TeamChange { index: Some(IndexPolicy::Team), ..TeamChange::default() };
    fixture.store.set_team(name, &change).unwrap().page_scope()
}

async fn get(fixture: &Fixture, scope: PageScope, options: Value) -> Result<Page, ScrapeError> {
    let deadline = Instant::now() + Duration::from_secs(20);
    let scraper = fixture.scraper.clone().for_team("team", scope);
    scraper.scrape(&URL.parse().unwrap(), &plan(options), deadline).await
}

/// Asserts whether a request is served from the cache.
async fn check(fixture: &Fixture, scope: PageScope, is_hit: bool) {
    let page = get(fixture, scope, json!({})).await.unwrap();
    assert_eq!(matches!(page.cache_state, CacheState::Hit(_)), is_hit, "{scope:?}");
}

#[tokio::test]
async fn copy_of_a_team_is_served_to_that_team_only() {
    let fixture = fixture().await;
    let (red, blue) = (team(&fixture, "red"), team(&fixture, "blue"));
    check(&fixture, red, false).await;
    check(&fixture, red, true).await;
    check(&fixture, blue, false).await;
    check(&fixture, SHARED, false).await;
    check(&fixture, PageScope::Off, true).await;
    assert_eq!(fixture.web.count(URL), 3);
}

#[tokio::test]
async fn shared_copy_is_served_to_every_team_without_its_own() {
    let fixture = fixture().await;
    let red = team(&fixture, "red");
    check(&fixture, SHARED, false).await;
    for options in [json!({}), json!({"lockdown": true}), json!({"minAge": 0}), json!({"formats": ["html"]})]
    {
        let page = get(&fixture, red, options.clone()).await.unwrap();
        assert!(matches!(page.cache_state, CacheState::Hit(_)), "{options}");
    }
    assert_eq!(fixture.web.count(URL), 1);
    // A newer copy of the team takes precedence and does not replace the shared one.
    fixture.advance(Duration::from_secs(60));
    get(&fixture, red, json!({"maxAge": 1000})).await.unwrap();
    let (own, shared) =
        (get(&fixture, red, json!({})).await.unwrap(), get(&fixture, SHARED, json!({})).await.unwrap());
    assert_ne!(own.metadata.cached_at, shared.metadata.cached_at);
    assert!(own.metadata.cached_at > shared.metadata.cached_at);
    assert_eq!(fixture.web.count(URL), 2);
}

#[tokio::test]
async fn team_with_page_storage_off_stores_no_page() {
    let fixture = fixture().await;
    check(&fixture, PageScope::Off, false).await;
    check(&fixture, PageScope::Off, false).await;
    check(&fixture, SHARED, false).await;
    assert_eq!(fixture.web.count(URL), 3);
    assert_eq!(fixture.store.cache_size().unwrap().pages, 1);
    // The team revalidates a shared copy but does not update it.
    fixture.advance(Duration::from_secs(60));
    get(&fixture, PageScope::Off, json!({"maxAge": 1000})).await.unwrap();
    let page = get(&fixture, SHARED, json!({"maxAge": 1000})).await.unwrap();
    assert_eq!(page.cache_state, CacheState::Miss);
}

#[tokio::test]
async fn fetch_is_shared_within_a_scope_only() {
    let fixture = fixture().await;
    let (red, blue) = (team(&fixture, "red"), team(&fixture, "blue"));
    let (off, shared) = (PageScope::Off, SHARED);
    let get = async |scope: PageScope| get(&fixture, scope, json!({})).await.unwrap();
    tokio::join!(get(red), get(red), get(blue), get(blue), get(shared), get(shared), get(off), get(off));
    assert_eq!(
        fixture.web.count(URL),
        5,
        "one per team, one for the shared scope, and one per request that stores nothing"
    );
}

#[tokio::test]
async fn map_reads_and_stores_the_copies_of_its_team() {
    let fixture = fixture().await;
    let red = team(&fixture, "red");
    let request_count = async |scope: PageScope| {
        let scraper = fixture.scraper.clone().for_team("team", scope);
        let deadline = Instant::now() + Duration::from_secs(20);
        scraper.scrape_for_map(&URL.parse().unwrap(), &plan(json!({})), deadline).await.unwrap();
        fixture.web.count(URL)
    };
    assert_eq!((request_count(red).await, request_count(red).await), (1, 1));
    assert_eq!(
        (request_count(SHARED).await, request_count(red).await, request_count(PageScope::Off).await),
        (2, 2, 2)
    );
}
