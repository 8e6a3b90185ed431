//! `kill -9` in the middle of a crawl: nothing committed is lost, and the crawl goes on.

use std::process::Stdio;
use std::time::{Duration, Instant};

use std::collections::BTreeSet;

use serde_json::{Value, json};
use websvc_index::{Index, IndexConfig, SearchOptions, Vertical};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Site, signal, wait};

const PAGES: usize = 400;

/// Slow enough that the crawl is far from its end at the first commit, on any machine.
const ANSWER_TIME: Duration = Duration::from_millis(10);

async fn chain(pages: usize, answer_time: Duration) -> TestWeb {
    let mut world = TestWeb::builder();
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
    let before = page_fetches(&world);
    let found = site.succeed(&["search", "marker0", "--json"]);
    assert!(found.contains("http://chain.test/0"), "{found}");

    let said: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(said["pages"], json!(PAGES));
    assert_eq!(documents(&site), PAGES as u64);
    // Only what was under way at the kill is fetched again, as two at one time may be.
    let fetches = page_fetches(&world);
    assert!(
        fetches <= PAGES + 2,
        "pages fetched before come from the cache: {fetches} fetches, {before} before"
    );
}

/// Counts the requests for pages: those for robots.txt and sitemaps are made anew by every crawl.
fn page_fetches(world: &TestWeb) -> usize {
    let pages =
        world.requests().into_iter().filter(|seen| !seen.url.contains(".txt") && !seen.url.contains(".xml"));
    pages.count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_killed_fifty_times_fetches_next_to_nothing_twice() {
    const KILLS: usize = 50;
    const CHAIN: usize = 150;
    let world = chain(CHAIN, Duration::from_millis(2)).await;
    let site = Site::new(&world);
    let arguments = ["index", "crawl", "http://chain.test/0", "--json"];
    let fetched = || page_fetches(&world);
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

/// The beginning of a PNG file of 640 by 480 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0";

/// How many pages the gallery has, each with one picture.
const GALLERY: usize = 100;

/// A crawl of the gallery takes about so long, and is killed before that.
const LATEST_MS: u64 = 3_000;

/// Pages in a chain, each with a picture that does not say how large it is.
async fn gallery() -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..GALLERY {
        let text = format!(
            "<title>Hall {number}</title><main><h1>Hall {number}</h1><p>marker{number} of a gallery.</p>\
             <img src=/picture{number}.png alt='Picture {number}'><a href=/{}>next</a></main>",
            (number + 1) % GALLERY
        );
        let picture = Page::new("image/png", PNG).delay(ANSWER_TIME);
        world = world
            .page(&format!("http://gallery.test/{number}"), Page::html(text).delay(ANSWER_TIME))
            .page(&format!("http://gallery.test/picture{number}.png"), picture);
    }
    world.start().await
}

/// Returns the pages of an index, and those of the images that are found in it, each image with its width.
fn pages_and_images(site: &Site) -> (BTreeSet<String>, Vec<(String, Option<u32>)>) {
    let index = Index::open(&site.data_dir().join("index"), IndexConfig::default()).unwrap();
    let pages = index.urls(None, usize::MAX).unwrap().into_iter().collect();
    let options = SearchOptions { vertical: Vertical::Images, limit: 1_000, ..SearchOptions::default() };
    let found = index.search(&websvc_query::parse("site:gallery.test").query, &options).unwrap();
    let images = found.hits.into_iter().map(|hit| {
        let image = hit.image.unwrap();
        (hit.url, image.width)
    });
    (pages, images.collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_killed_among_images_leaves_none_without_its_page_and_learns_every_size() {
    let rounds = std::env::var("WEBSVC_KILL_ROUNDS").map_or(12, |rounds| rounds.parse().unwrap());
    let world = gallery().await;
    let site = Site::new(&world);
    let arguments = ["index", "crawl", "http://gallery.test/0", "--json"];
    let (mut kept, mut random) = (BTreeSet::new(), 0x2545_f491_4f6c_dd1d_u64);
    let (mut killed, mut seen) = (0, 0);
    for round in 0..rounds {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let moment = Instant::now() + Duration::from_millis(random % LATEST_MS);
        let mut crawl = site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while Instant::now() < moment && crawl.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        signal(&crawl, "KILL");
        killed += usize::from(!wait(&mut crawl).success());
        let (pages, images) = pages_and_images(&site);
        assert!(pages.is_superset(&kept), "round {round}: what was committed stays");
        for (page, _) in &images {
            assert!(pages.contains(page), "round {round}: an image of {page}, which is not there");
        }
        seen += images.len();
        kept = pages;
    }
    assert!(killed > 0 && seen > 0, "{killed} crawls were killed, {seen} images looked at");
    let said: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(said["pages"], json!(GALLERY));
    let (pages, images) = pages_and_images(&site);
    assert_eq!((pages.len(), images.len()), (GALLERY, GALLERY));
    assert!(images.iter().all(|(_, width)| *width == Some(640)), "{images:?}");
    // A picture is asked for again only when it was under way at a kill, as two at one time may be.
    let asked = world.requests().iter().filter(|seen| seen.url.ends_with(".png")).count();
    assert!((GALLERY..=GALLERY + 2 * rounds).contains(&asked), "{asked} requests for {GALLERY} pictures");
}
