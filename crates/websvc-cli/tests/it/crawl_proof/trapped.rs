//! Crawls a generated site with traps while the process is killed five times. The result must not change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;
use websvc_testkit::{Page, TestWeb, TestWebBuilder, scaled};

use super::{START, minimal_options, page, page_requests, serve_with, wait_for_documents};
use crate::batch::{read_all, start_at};
use crate::harness::{Service, Site};

/// Pages of the site in the gate, and in a proof.
const PAGES: usize = 1_500;
const WHOLE_PAGES: usize = 20_000;
const KILLS: usize = 5;
const PER_HOST: usize = 4;
/// Pages that may be in flight when the process is killed.
const MAX_IN_FLIGHT: usize = 8;
/// Pages of a calendar that a crawl fetches, as documented.
const CALENDAR: usize = 100;
/// Memory limit of the process in a build without optimization.
const MEMORY_KB: u64 = 400 * 1024;
/// A page may be fetched before at most `pages / MAX_DISORDER` pages that are nearer to the start. Links of a page that
/// is slow or fetched again after a kill are discovered late.
const MAX_DISORDER: usize = 8;

fn page_url(number: usize) -> String {
    format!("http://site.test/docs/{number}")
}

/// Returns the pages that a page links to.
fn children(number: usize, pages: usize) -> [usize; 3] {
    [number * 2 + 1, number * 2 + 2, number + 1].map(|child| child % pages)
}

/// Starts the site. Every page is linked under several URLs, and every page links to the traps.
async fn world(pages: usize) -> TestWeb {
    let mut world = TestWeb::builder()
        .page("http://site.test/robots.txt", Page::text("User-agent: *\nDisallow: /docs/private/\n"));
    for number in 0..pages {
        world = world.page_with(&page_url(number), move |_| docs(number, pages));
        let spelling = format!("http://www.site.test/docs/{number}/");
        world = world.page_with(&spelling, move |_| Page::redirect(301, &page_url(number)));
    }
    traps(world).start().await
}

fn docs(number: usize, pages: usize) -> Page {
    let [left, right, next] = children(number, pages);
    let links = [
        format!("/docs/{left}"),
        format!("/docs/{right}"),
        // Other URLs of pages that are linked anyway.
        format!("http://www.site.test/docs/{next}/"),
        format!("/docs/{next}#part"),
        format!("/docs/{next}?utm_source=mail"),
        format!("/docs/{next}?PHPSESSID={number:032x}"),
        // Endless paths.
        "/docs/calendar?month=1".to_owned(),
        "/docs/loop/".to_owned(),
        // Redirects to another page, to another host and to themselves, and a copy.
        "/docs/moved".to_owned(),
        "/docs/away".to_owned(),
        "/docs/copy".to_owned(),
        "/docs/spin".to_owned(),
        // URLs outside the crawl.
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

/// Adds an endless calendar, a looping path, redirects that leave the site or loop, and a copy.
fn traps(world: TestWebBuilder) -> TestWebBuilder {
    let canonical =
        "<title>Copy</title><link rel=canonical href=/docs/0><main><h1>Copy</h1><p>About 0.</p></main>";
    let mut world = world
        .page_with("http://site.test/docs/calendar", |request| {
            let month: usize = request.url.rsplit('=').next().unwrap().parse().unwrap();
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
async fn trapped_site_crawl_is_unaffected_by_five_kills() {
    let pages = scaled(PAGES, WHOLE_PAGES);
    let world = world(pages).await;
    let site = Site::new(&world);
    let variables = [
        ("WEBSVC__JOBS__PACE", "requested"),
        ("WEBSVC__JOBS__MAX_PER_HOST", "4"),
        ("WEBSVC__JOBS__CONCURRENCY", "8"),
    ];
    let mut service = serve_with(&site, &variables);
    let body = json!({
        "url": "http://site.test/docs/0", "crawlEntireDomain": true, "includePaths": ["^/docs/"], "limit": 1_000_000,
        "scrapeOptions": minimal_options(),
    });
    let path = start_at(&service, START, body).await;
    let mut peak = 0;
    for kill in 1..=KILLS {
        wait_for_documents(&service, &path, pages * kill / (KILLS + 1)).await;
        peak = peak.max(peak_kb(&service));
        service.kill();
        drop(service);
        service = serve_with(&site, &variables);
    }
    wait_for_documents(&service, &path, usize::MAX).await;
    peak = peak.max(peak_kb(&service));
    println!("{pages} pages: peak memory {} MB", peak / 1024);
    assert!(peak < MEMORY_KB, "{peak} kB");
    check_documents(&service, &path, pages).await;
    check_requests(&world, pages);
}

fn peak_kb(service: &Service) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Compares the documents and errors with the pages of the site.
async fn check_documents(service: &Service, path: &str, pages: usize) {
    let (documents, _) = read_all(service, path).await;
    let sources: Vec<&str> =
        documents.iter().map(|document| document["metadata"]["sourceURL"].as_str().unwrap()).collect();
    let comparable = |url: &str| url.replace("www.", "").trim_end_matches('/').to_owned();
    let mut got = BTreeSet::new();
    for source in &sources {
        assert!(got.insert(comparable(source)), "{source} appears twice");
    }
    let mut expected: BTreeSet<String> = (0..pages).map(page_url).collect();
    expected.extend((1..=CALENDAR).map(|month| format!("http://site.test/docs/calendar?month={month}")));
    // A path segment may repeat three times.
    expected.extend((1..=3).map(|depth| format!("http://site.test/docs{}", "/loop".repeat(depth))));
    let missing: Vec<_> = expected.difference(&got).collect();
    let unexpected: Vec<_> = got.difference(&expected).collect();
    assert!(missing.is_empty() && unexpected.is_empty(), "missing: {missing:?}, unexpected: {unexpected:?}");
    let status = service.get(&format!("{path}?skip=999999999")).await.body;
    assert_eq!(status["creditsUsed"], json!(expected.len()), "every page is charged once: {status}");
    let errors = service.get(&format!("{path}/errors")).await.body;
    let failed: Vec<_> = errors["errors"].as_array().unwrap().iter().map(|error| &error["url"]).collect();
    assert_eq!(failed, ["http://site.test/docs/spin"], "{errors}");
    let blocked = errors["robotsBlocked"].as_array().unwrap();
    assert!(
        !blocked.is_empty() && blocked.iter().all(|url| url.as_str().unwrap().contains("/docs/private/")),
        "{errors}"
    );
}

/// Checks in the site's record that no page was fetched twice, too fast, out of order or outside the crawl.
fn check_requests(world: &TestWeb, pages: usize) {
    let requests = page_requests(world, "site.test");
    assert!(world.requests().iter().all(|request| !request.url.contains("sub.site.test")));
    for part in ["/private/", "/blog/", ".png", "unfollowed", "utm_", "PHPSESSID"] {
        assert!(requests.iter().all(|request| !request.url.contains(part)), "{part}");
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for url in requests.iter().map(|request| request.url.as_str()) {
        // Redirects of the traps lead to these two again.
        if !url.ends_with("/spin") && !url.ends_with("/docs/0") {
            *counts.entry(url).or_default() += 1;
        }
    }
    let repeated: usize = counts.values().map(|count| count - 1).sum();
    assert!(repeated <= KILLS * MAX_IN_FLIGHT, "{repeated} requests were repeated, after {KILLS} kills");
    assert!(counts.values().all(|count| *count <= 1 + KILLS));
    let max = world.requests().iter().map(|request| request.in_flight).max().unwrap();
    // Requests of a killed process may still be in flight when the next process begins.
    assert!(max <= 2 * PER_HOST, "{max} requests were in flight");
    check_order(&requests.iter().map(|request| request.url.as_str()).collect::<Vec<_>>(), pages);
}

/// Asserts that pages nearer to the start were fetched first, except for the disorder of concurrent fetches.
fn check_order(urls: &[&str], pages: usize) {
    let depths = depths(pages);
    let number = |url: &&str| url.strip_prefix("http://site.test/docs/")?.parse::<usize>().ok();
    let mut seen = BTreeSet::new();
    let order: Vec<usize> = urls.iter().filter_map(number).filter(|number| seen.insert(*number)).collect();
    // Pages of each depth that follow.
    let mut remaining = vec![0_usize; depths.iter().max().unwrap() + 1];
    order.iter().for_each(|number| remaining[depths[*number]] += 1);
    for number in order {
        let depth = depths[number];
        remaining[depth] -= 1;
        let nearer: usize = remaining[..depth].iter().sum();
        assert!(
            nearer <= pages / MAX_DISORDER,
            "{number} at depth {depth} was fetched before {nearer} nearer pages"
        );
    }
}

/// Returns the number of links from the start to each page.
fn depths(pages: usize) -> Vec<usize> {
    let mut depths = vec![usize::MAX; pages];
    depths[0] = 0;
    let mut queue = std::collections::VecDeque::from([0]);
    while let Some(number) = queue.pop_front() {
        for child in children(number, pages) {
            if depths[child] == usize::MAX {
                depths[child] = depths[number] + 1;
                queue.push_back(child);
            }
        }
    }
    depths
}
