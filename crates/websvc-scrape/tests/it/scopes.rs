//! Copies of pages that a team keeps to itself, beside those of all teams, by what reaches the host.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_scrape::{CacheState, Page, ScrapeError};
use websvc_store::{IndexPolicy, PageScope, TeamChange};
use websvc_testkit::{Page as Served, TestWeb};

use crate::support::{Bench, plan};

const URL: &str = "http://a.test/x";
const SHARED: PageScope = PageScope::Shared;

async fn bench() -> Bench {
    // Slow enough that requests that are sent together are on their way together.
    let page =
        Served::html("<main><h1>Tea</h1><p>Three minutes.</p></main>").delay(Duration::from_millis(200));
    Bench::new(TestWeb::builder().page(URL, page).start().await)
}

fn team(bench: &Bench, name: &str) -> PageScope {
    let change = TeamChange { index: Some(IndexPolicy::Team), ..TeamChange::default() };
    bench.store.set_team(name, &change).unwrap().page_scope()
}

async fn get(bench: &Bench, scope: PageScope, options: Value) -> Result<Page, ScrapeError> {
    let deadline = Instant::now() + Duration::from_secs(20);
    let scraper = bench.scraper.clone().in_scope(scope);
    scraper.scrape(&URL.parse().unwrap(), &plan(options), deadline).await
}

/// Asserts whether a request is answered from the cache.
async fn check(bench: &Bench, scope: PageScope, is_hit: bool) {
    let page = get(bench, scope, json!({})).await.unwrap();
    assert_eq!(matches!(page.cache_state, CacheState::Hit(_)), is_hit, "{scope:?}");
}

#[tokio::test]
async fn copy_of_a_team_answers_that_team_alone() {
    let bench = bench().await;
    let (red, blue) = (team(&bench, "red"), team(&bench, "blue"));
    check(&bench, red, false).await;
    check(&bench, red, true).await;
    check(&bench, blue, false).await;
    check(&bench, SHARED, false).await;
    check(&bench, PageScope::Off, true).await;
    assert_eq!(bench.world.count(URL), 3);
}

#[tokio::test]
async fn copy_of_all_teams_answers_every_team_that_has_none_of_its_own() {
    let bench = bench().await;
    let red = team(&bench, "red");
    check(&bench, SHARED, false).await;
    for options in [json!({}), json!({"lockdown": true}), json!({"minAge": 0}), json!({"formats": ["html"]})]
    {
        let page = get(&bench, red, options.clone()).await.unwrap();
        assert!(matches!(page.cache_state, CacheState::Hit(_)), "{options}");
    }
    assert_eq!(bench.world.count(URL), 1);
    // A newer copy of its own comes before it, and does not take its place.
    bench.pass(Duration::from_secs(60));
    get(&bench, red, json!({"maxAge": 1000})).await.unwrap();
    let (own, all) =
        (get(&bench, red, json!({})).await.unwrap(), get(&bench, SHARED, json!({})).await.unwrap());
    assert_ne!(own.metadata.cached_at, all.metadata.cached_at);
    assert!(own.metadata.cached_at > all.metadata.cached_at);
    assert_eq!(bench.world.count(URL), 2);
}

#[tokio::test]
async fn team_whose_pages_are_off_stores_none() {
    let bench = bench().await;
    check(&bench, PageScope::Off, false).await;
    check(&bench, PageScope::Off, false).await;
    check(&bench, SHARED, false).await;
    assert_eq!(bench.world.count(URL), 3);
    assert_eq!(bench.store.cache_size().unwrap().pages, 1);
    // With a copy of all teams it asks the host whether the page has changed, and leaves the copy alone.
    bench.pass(Duration::from_secs(60));
    get(&bench, PageScope::Off, json!({"maxAge": 1000})).await.unwrap();
    let page = get(&bench, SHARED, json!({"maxAge": 1000})).await.unwrap();
    assert_eq!(page.cache_state, CacheState::Miss);
}

#[tokio::test]
async fn fetch_is_shared_within_a_scope_only() {
    let bench = bench().await;
    let (red, blue) = (team(&bench, "red"), team(&bench, "blue"));
    let (off, all) = (PageScope::Off, SHARED);
    let get = async |scope: PageScope| get(&bench, scope, json!({})).await.unwrap();
    tokio::join!(get(red), get(red), get(blue), get(blue), get(all), get(all), get(off), get(off));
    assert_eq!(
        bench.world.count(URL),
        5,
        "one for each team, one for all, and one for each that stores nothing"
    );
}

#[tokio::test]
async fn map_reads_and_stores_the_copies_of_its_team() {
    let bench = bench().await;
    let red = team(&bench, "red");
    let outline = async |scope: PageScope| {
        let scraper = bench.scraper.clone().in_scope(scope);
        let deadline = Instant::now() + Duration::from_secs(20);
        scraper.scrape_for_map(&URL.parse().unwrap(), &plan(json!({})), deadline).await.unwrap();
        bench.world.count(URL)
    };
    assert_eq!((outline(red).await, outline(red).await), (1, 1));
    assert_eq!((outline(SHARED).await, outline(red).await, outline(PageScope::Off).await), (2, 2, 2));
}
