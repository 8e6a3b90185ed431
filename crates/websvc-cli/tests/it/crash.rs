//! Tests of crawls that are killed: committed pages are kept, and the next crawl continues.

use std::process::Stdio;
use std::time::{Duration, Instant};

use std::collections::BTreeSet;

use serde_json::{Value, json};
use websvc_index::{Index, IndexConfig, SearchOptions, Vertical};
use websvc_testkit::{Page, TestWeb, scaled};

use crate::harness::{Site, signal, wait};

const PAGES: usize = 400;

/// Slow enough that the crawl is still running at the first commit, on any machine.
const RESPONSE_TIME: Duration = Duration::from_millis(10);

async fn chain(pages: usize, response_time: Duration) -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..pages {
        let text = format!(
            "<title>Page {number}</title><main><h1>Page {number}</h1><p>marker{number} of a long chain.</p>\
             <a href=/{}>next</a> <a href=/{}>after</a></main>",
            (number + 1) % pages,
            (number + 2) % pages
        );
        world = world.page(&format!("http://chain.test/{number}"), Page::html(text).delay(response_time));
    }
    world.start().await
}

fn documents(site: &Site) -> u64 {
    let stats: Value = serde_json::from_str(&site.succeed(&["index", "stats", "--json"])).unwrap();
    stats["documents"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_crawl_keeps_committed_pages_and_resumes() {
    let world = chain(PAGES, RESPONSE_TIME).await;
    let site = Site::new(&world);
    let arguments = ["index", "crawl", "http://chain.test/0", "--json"];
    let mut crawl = site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while documents(&site) == 0 {
        assert!(Instant::now() < deadline, "no page was committed while the crawl runs");
        assert!(crawl.try_wait().unwrap().is_none(), "the crawl ended early");
    }
    signal(&crawl, "KILL");
    assert!(!wait(&mut crawl).success());

    let committed = documents(&site);
    assert!(
        committed > 0 && committed < PAGES as u64,
        "the kill was too early or too late: {committed} pages"
    );
    let before = page_fetches(&world);
    let found = site.succeed(&["search", "marker0", "--json"]);
    assert!(found.contains("http://chain.test/0"), "{found}");

    let report: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(report["pages"], json!(PAGES));
    assert_eq!(documents(&site), PAGES as u64);
    // Only pages in flight at the kill are fetched again, which are at most two.
    let fetches = page_fetches(&world);
    assert!(fetches <= PAGES + 2, "{fetches} fetches, {before} of them before the kill");
}

/// Counts the requests for pages, without robots.txt and sitemaps, which every crawl fetches again.
fn page_fetches(world: &TestWeb) -> usize {
    let pages = world
        .requests()
        .into_iter()
        .filter(|request| !request.url.contains(".txt") && !request.url.contains(".xml"));
    pages.count()
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_killed_often_refetches_only_pages_in_flight() {
    let kills = scaled(15, 50);
    let length = 3 * kills;
    let world = chain(length, Duration::from_millis(2)).await;
    let site = Site::new(&world);
    let arguments = ["index", "crawl", "http://chain.test/0", "--json"];
    let fetched = || page_fetches(&world);
    let mut committed = 0;
    for kill in 0..kills {
        let mut crawl = site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Each round kills the crawl after another one to five pages.
        let until = fetched() + 1 + kill * 7 % 5;
        let deadline = Instant::now() + Duration::from_secs(60);
        while fetched() < until && crawl.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the crawl makes no progress");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        signal(&crawl, "KILL");
        wait(&mut crawl);
        let now = documents(&site);
        assert!(now >= committed, "committed pages were lost: {now} after {committed}");
        committed = now;
    }
    let report: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(report["pages"], json!(length));
    assert_eq!(documents(&site), length as u64, "documents are missing or repeated");
    // Only pages in flight at a kill are fetched again, which are at most two.
    let repeated = fetched() - length;
    assert!(repeated <= 2 * kills, "{repeated} pages were fetched again");
}

/// The header of a PNG file of 640 by 480 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0";

/// Pages of the gallery, each with one image.
const GALLERY: usize = 100;

/// The approximate duration of a crawl of the gallery, within which it is killed.
const LATEST_MS: u64 = 3_000;

/// Starts a site whose pages form a chain. Each has an image without a declared size.
async fn gallery() -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..GALLERY {
        let text = format!(
            "<title>Hall {number}</title><main><h1>Hall {number}</h1><p>marker{number} of a gallery.</p>\
             <img src=/image{number}.png alt='Image {number}'><a href=/{}>next</a></main>",
            (number + 1) % GALLERY
        );
        let image = Page::new("image/png", PNG).delay(RESPONSE_TIME);
        world = world
            .page(&format!("http://gallery.test/{number}"), Page::html(text).delay(RESPONSE_TIME))
            .page(&format!("http://gallery.test/image{number}.png"), image);
    }
    world.start().await
}

/// Returns the pages of an index, and the page and width of each of its images.
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
async fn killed_image_crawl_has_no_orphan_images_and_learns_every_size() {
    let rounds = scaled(8, 60);
    let world = gallery().await;
    let site = Site::new(&world);
    let arguments = ["index", "crawl", "http://gallery.test/0", "--json"];
    let (mut committed, mut random) = (BTreeSet::new(), 0x2545_f491_4f6c_dd1d_u64);
    let (mut killed, mut checked_images) = (0, 0);
    for round in 0..rounds {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let deadline = Instant::now() + Duration::from_millis(random % LATEST_MS);
        let mut crawl = site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while Instant::now() < deadline && crawl.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        signal(&crawl, "KILL");
        killed += usize::from(!wait(&mut crawl).success());
        let (pages, images) = pages_and_images(&site);
        assert!(pages.is_superset(&committed), "round {round}: committed pages were lost");
        for (page, _) in &images {
            assert!(pages.contains(page), "round {round}: an image refers to the missing page {page}");
        }
        checked_images += images.len();
        committed = pages;
    }
    assert!(
        killed > 0 && checked_images > 0,
        "{killed} crawls were killed, {checked_images} images were checked"
    );
    let report: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(report["pages"], json!(GALLERY));
    let (pages, images) = pages_and_images(&site);
    assert_eq!((pages.len(), images.len()), (GALLERY, GALLERY));
    assert!(images.iter().all(|(_, width)| *width == Some(640)), "{images:?}");
    // Only images in flight at a kill are fetched again, which are at most two.
    let requests = world.requests().iter().filter(|request| request.url.ends_with(".png")).count();
    assert!((GALLERY..=GALLERY + 2 * rounds).contains(&requests), "{requests} requests for {GALLERY} images");
}
