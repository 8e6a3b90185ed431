//! `kill -9` in the middle of a crawl: nothing committed is lost, and the crawl goes on.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{Page, World};

use crate::harness::{Site, signal, wait};

const PAGES: usize = 400;

/// Slow enough that the crawl is far from its end at the first commit, on any machine.
const ANSWER_TIME: Duration = Duration::from_millis(10);

async fn chain(pages: usize, answer_time: Duration) -> World {
    let mut world = World::builder();
    for number in 0..pages {
        let text = format!(
            "<title>Page {number}</title><main><h1>Page {number}</h1><p>marker{number} of a long chain.</p>\
             <a href=/{}>next</a> <a href=/{}>after</a></main>",
            (number + 1) % pages,
            (number + 2) % pages
        );
        world = world.page(&format!("http://chain.test/{number}"), Page::html(text).delay(answer_time));
    }
    world.start().await
}

fn documents(site: &Site) -> u64 {
    let stats: Value = serde_json::from_str(&site.succeed(&["index", "stats", "--json"])).unwrap();
    stats["documents"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_crawl_loses_nothing_committed_and_goes_on() {
    let world = chain(PAGES, ANSWER_TIME).await;
    let site = Site::new(&world);
    let arguments = ["index", "crawl", "http://chain.test/0", "--json"];
    let mut crawl = site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while documents(&site) == 0 {
        assert!(Instant::now() < deadline, "pages are committed while the crawl runs");
        assert!(crawl.try_wait().unwrap().is_none(), "the crawl is still running");
    }
    signal(&crawl, "KILL");
    assert!(!wait(&mut crawl).success());

    let kept = documents(&site);
    assert!(kept > 0 && kept < PAGES as u64, "it was killed in the middle: {kept}");
    let fetched = world.requests().len();
    let found = site.succeed(&["search", "marker0", "--json"]);
    assert!(found.contains("http://chain.test/0"), "{found}");

    let said: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(said["pages"], json!(PAGES));
    assert_eq!(documents(&site), PAGES as u64);
    let again = world.requests().len() - fetched;
    assert!(again < PAGES, "pages fetched before come from the cache: {again} requests");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_killed_fifty_times_fetches_next_to_nothing_twice() {
    const KILLS: usize = 50;
    const CHAIN: usize = 150;
    let world = chain(CHAIN, Duration::from_millis(2)).await;
    let site = Site::new(&world);
    let arguments = ["index", "crawl", "http://chain.test/0", "--json"];
    let fetched = || {
        world
            .requests()
            .iter()
            .filter(|seen| !seen.url.contains(".txt") && !seen.url.contains(".xml"))
            .count()
    };
    let mut kept = 0;
    for kill in 0..KILLS {
        let mut crawl = site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Somewhere in the next one to five pages, differently each time.
        let until = fetched() + 1 + kill * 7 % 5;
        let deadline = Instant::now() + Duration::from_secs(60);
        while fetched() < until && crawl.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the crawl goes on");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        signal(&crawl, "KILL");
        wait(&mut crawl);
        let now = documents(&site);
        assert!(now >= kept, "what was committed stays: {now} after {kept}");
        kept = now;
    }
    let said: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(said["pages"], json!(CHAIN));
    assert_eq!(documents(&site), CHAIN as u64, "no document is there twice");
    // A page is fetched again only when it was under way at a kill, as two at one time may be.
    let again = fetched() - CHAIN;
    assert!(again <= 2 * KILLS, "{again} pages were fetched again");
}
