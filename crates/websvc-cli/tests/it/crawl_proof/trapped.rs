//! A generated site with traps, and a process that is killed five times on the way: the outcome is the same.
//!
//! The gate has some pages; `WEBSVC_CRAWL_PAGES` takes another number, for instance 20000.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use super::{START, bare, come_to, page, pages_of, serve_with};
use crate::batch::{read_all, start_at};
use crate::harness::{Service, Site};

/// The pages that the gate crawls.
const PAGES: usize = 1_500;
const KILLS: usize = 5;
const PER_HOST: usize = 4;
/// Pages that may be under way when the process is killed.
const AT_ONCE: usize = 8;
/// The pages of a calendar that are taken, as the manual says.
const CALENDAR: usize = 100;
/// Memory limit of the process in a build without optimization.
const MEMORY_KB: u64 = 400 * 1024;
/// Of so many pages one may come before those nearer to the start: what is found on a page that is slow, or begun again
/// after a kill, comes late, and so does what that leads to.
const DISORDER: usize = 8;

fn at(number: usize) -> String {
    format!("http://site.test/docs/{number}")
}

/// Returns the pages that a page leads to.
fn children(number: usize, pages: usize) -> [usize; 3] {
    [number * 2 + 1, number * 2 + 2, number + 1].map(|child| child % pages)
}

/// Makes the site: every page is met under several spellings, and next to each lies a trap.
async fn world(pages: usize) -> TestWeb {
    let mut world = TestWeb::builder()
        .page("http://site.test/robots.txt", Page::text("User-agent: *\nDisallow: /docs/private/\n"));
    for number in 0..pages {
        world = world.page_with(&at(number), move |_| docs(number, pages));
        let spelling = format!("http://www.site.test/docs/{number}/");
        world = world.page_with(&spelling, move |_| Page::redirect(301, &at(number)));
    }
    traps(world).start().await
}

fn docs(number: usize, pages: usize) -> Page {
    let [left, right, next] = children(number, pages);
    let links = [
        format!("/docs/{left}"),
        format!("/docs/{right}"),
        // Usual spellings of what is met anyway.
        format!("http://www.site.test/docs/{next}/"),
        format!("/docs/{next}#part"),
        format!("/docs/{next}?utm_source=mail"),
        format!("/docs/{next}?PHPSESSID={number:032x}"),
        // What has no end.
        "/docs/calendar?month=1".to_owned(),
        "/docs/loop/".to_owned(),
        // What ends elsewhere, nowhere, or where it began.
        "/docs/moved".to_owned(),
        "/docs/away".to_owned(),
        "/docs/copy".to_owned(),
        "/docs/spin".to_owned(),
        // What is no page of the crawl.
        format!("/blog/{number}"),
        format!("http://other.test/{number}"),
        format!("http://sub.site.test/{number}"),
        format!("/docs/private/{number}"),
        format!("/docs/picture-{number}.png"),
        format!("mailto:somebody@site.test?{number}"),
        "javascript:void(0)".to_owned(),
    ];
    let mut links: String = links.iter().map(|link| format!("<a href='{link}'>x</a> ")).collect();
    links.push_str("<a rel=nofollow href=/docs/unfollowed>y</a>");
    let text = format!("<h1>Page {number}</h1><p>About {number}.</p>");
    Page::html(format!("<title>Page {number}</title><main>{text}{links}</main>"))
        .delay(Duration::from_millis(3))
}

/// Adds a calendar without an end, a path that loops, redirects that leave or turn, and a copy.
fn traps(world: TestWebBuilder) -> TestWebBuilder {
    let canonical =
        "<title>Copy</title><link rel=canonical href=/docs/0><main><h1>Copy</h1><p>About 0.</p></main>";
    let mut world = world
        .page_with("http://site.test/docs/calendar", |seen| {
            let month: usize = seen.url.rsplit('=').next().unwrap().parse().unwrap();
            page(&format!("Month {month}"), &[&format!("/docs/calendar?month={}", month + 1)])
        })
        .page("http://site.test/docs/moved", Page::redirect(301, "/docs/0"))
        .page("http://site.test/docs/away", Page::redirect(302, "http://other.test/"))
        .page("http://site.test/docs/spin", Page::redirect(302, "/docs/spin"))
        .page("http://site.test/docs/copy", Page::html(canonical))
        .page("http://other.test/", page("Other", &[]));
    for depth in 1..10 {
        let path = "loop/".repeat(depth);
        world = world.page(&format!("http://site.test/docs/{path}"), page("Loop", &["loop/"]));
    }
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn five_kills_change_nothing_about_a_crawl_of_a_trapped_site() {
    let pages = std::env::var("WEBSVC_CRAWL_PAGES").map_or(PAGES, |pages| pages.parse().unwrap());
    let world = world(pages).await;
    let site = Site::new(&world);
    let variables = [
        ("WEBSVC__JOBS__PAUSE", "asked"),
        ("WEBSVC__JOBS__PER_HOST", "4"),
        ("WEBSVC__JOBS__CONCURRENCY", "8"),
    ];
    let mut service = serve_with(&site, &variables);
    let body = json!({
        "url": "http://site.test/docs/0", "crawlEntireDomain": true, "includePaths": ["^/docs/"], "limit": 1_000_000,
        "scrapeOptions": bare(),
    });
    let path = start_at(&service, START, body).await;
    let mut peak = 0;
    for part in 1..=KILLS {
        come_to(&service, &path, pages * part / (KILLS + 1)).await;
        peak = peak.max(peak_kb(&service));
        service.kill();
        drop(service);
        service = serve_with(&site, &variables);
    }
    come_to(&service, &path, usize::MAX).await;
    peak = peak.max(peak_kb(&service));
    println!("{pages} pages: {} MB at most", peak / 1024);
    assert!(peak < MEMORY_KB, "{peak} kB");
    outcome(&service, &path, pages).await;
    record(&world, pages);
}

fn peak_kb(service: &Service) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Compares the documents and errors with what the site has.
async fn outcome(service: &Service, path: &str, pages: usize) {
    let (documents, _) = read_all(service, path).await;
    let sources: Vec<&str> =
        documents.iter().map(|document| document["metadata"]["sourceURL"].as_str().unwrap()).collect();
    let spelled = |url: &str| url.replace("www.", "").trim_end_matches('/').to_owned();
    let mut got = BTreeSet::new();
    for source in &sources {
        assert!(got.insert(spelled(source)), "{source} is there twice");
    }
    let mut expected: BTreeSet<String> = (0..pages).map(at).collect();
    expected.extend((1..=CALENDAR).map(|month| format!("http://site.test/docs/calendar?month={month}")));
    // One segment may be there three times.
    expected.extend((1..=3).map(|depth| format!("http://site.test/docs{}", "/loop".repeat(depth))));
    let missing: Vec<_> = expected.difference(&got).collect();
    let beside: Vec<_> = got.difference(&expected).collect();
    assert!(missing.is_empty() && beside.is_empty(), "missing: {missing:?}, beside: {beside:?}");
    let status = service.get(&format!("{path}?skip=999999999")).await.body;
    assert_eq!(status["creditsUsed"], json!(expected.len()), "each is charged once: {status}");
    let errors = service.get(&format!("{path}/errors")).await.body;
    let failed: Vec<_> = errors["errors"].as_array().unwrap().iter().map(|error| &error["url"]).collect();
    assert_eq!(failed, ["http://site.test/docs/spin"], "{errors}");
    let blocked = errors["robotsBlocked"].as_array().unwrap();
    assert!(blocked.iter().all(|url| url.as_str().unwrap().contains("/docs/private/")), "{errors}");
}

/// Reads from the record of the site that nothing was fetched twice, too fast, out of order or out of the crawl.
fn record(world: &TestWeb, pages: usize) {
    let seen = pages_of(world, "site.test");
    assert!(world.requests().iter().all(|seen| !seen.url.contains("sub.site.test")));
    for part in ["/private/", "/blog/", ".png", "unfollowed", "utm_", "PHPSESSID"] {
        assert!(seen.iter().all(|seen| !seen.url.contains(part)), "{part}");
    }
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for seen in seen.iter().filter(|seen| !seen.url.ends_with("/spin") && !seen.url.ends_with("/docs/0")) {
        *asked.entry(seen.url.clone()).or_default() += 1;
    }
    let again: usize = asked.values().map(|times| times - 1).sum();
    assert!(again <= KILLS * AT_ONCE, "{again} requests were repeated, after {KILLS} kills");
    assert!(asked.values().all(|times| *times <= 1 + KILLS));
    let most = world.requests().iter().map(|seen| seen.in_flight).max().unwrap();
    // What was under way at a kill may still be on its way when the next process begins.
    assert!(most <= 2 * PER_HOST, "{most} requests at one time");
    in_order(&seen.iter().map(|seen| seen.url.as_str()).collect::<Vec<_>>(), pages);
}

/// Asserts that pages nearer to the start were got before those that are further away, as far as several at one time can.
fn in_order(asked: &[&str], pages: usize) {
    let depths = depths(pages);
    let number = |url: &&str| url.strip_prefix("http://site.test/docs/")?.parse::<usize>().ok();
    let mut first = BTreeSet::new();
    let order: Vec<usize> = asked.iter().filter_map(number).filter(|number| first.insert(*number)).collect();
    // How many of each depth are still to come.
    let mut left = vec![0_usize; depths.iter().max().unwrap() + 1];
    order.iter().for_each(|number| left[depths[*number]] += 1);
    for number in order {
        let depth = depths[number];
        left[depth] -= 1;
        let nearer: usize = left[..depth].iter().sum();
        assert!(nearer <= pages / DISORDER, "{number} at depth {depth} came before {nearer} nearer ones");
    }
}

/// Returns the number of links from the start to each page.
fn depths(pages: usize) -> Vec<usize> {
    let mut depths = vec![usize::MAX; pages];
    depths[0] = 0;
    let mut waiting = std::collections::VecDeque::from([0]);
    while let Some(number) = waiting.pop_front() {
        for child in children(number, pages) {
            if depths[child] == usize::MAX {
                depths[child] = depths[number] + 1;
                waiting.push_back(child);
            }
        }
    }
    depths
}
