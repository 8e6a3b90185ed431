//! Tests of the pace of crawls, measured by the times of the requests that a site received.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};

use super::{START, crawl, page, page_requests, serve_with};
use crate::batch::{start_at, wait_for_end};
use crate::harness::{Service, Site};

/// Returns a site with a start page that links to `pages` pages. Each response takes `response_time`.
fn star(pages: usize, response_time: Duration) -> TestWebBuilder {
    let links: Vec<String> = (0..pages).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let mut world = TestWeb::builder().page("http://site.test/", page("Start", &links).delay(response_time));
    for number in 0..pages {
        world = world.page(&format!("http://site.test/{number}"), page("Page", &[]).delay(response_time));
    }
    world
}

/// Returns the shortest time between two successive requests.
fn shortest_gap(requests: &[ReceivedRequest]) -> Duration {
    requests.windows(2).map(|pair| pair[1].received_at.duration_since(pair[0].received_at)).min().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_crawl_delay_wins_over_the_configuration() {
    let robots = Page::text("User-agent: *\nCrawl-delay: 0.4\n");
    let world = star(5, Duration::ZERO).page("http://site.test/robots.txt", robots).start().await;
    let site = Site::new(&world);
    let service =
        serve_with(&site, &[("WEBSVC__JOBS__PACE", "requested"), ("WEBSVC__JOBS__MAX_PER_HOST", "8")]);
    let documents = crawl(&service, json!({ "url": "http://site.test/", "sitemap": "skip" })).await;
    assert_eq!(documents.len(), 6);
    let requests = page_requests(&world, "site.test");
    assert!(shortest_gap(&requests) >= Duration::from_millis(400), "{:?}", shortest_gap(&requests));
    assert!(requests.iter().all(|request| request.in_flight == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn delay_option_spaces_requests() {
    let world = star(4, Duration::ZERO).start().await;
    let service = Service::for_world(&world);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "delay": 0.3 });
    assert_eq!(crawl(&service, body).await.len(), 5);
    let requests = page_requests(&world, "site.test");
    assert!(shortest_gap(&requests) >= Duration::from_millis(300), "{:?}", shortest_gap(&requests));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_crawls_of_one_host_share_an_adaptive_pace() {
    let response_time = Duration::from_millis(40);
    let world = star(6, response_time).start().await;
    let site = Site::new(&world);
    let service = serve_with(&site, &[("WEBSVC__JOBS__MAX_PER_HOST", "1")]);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "scrapeOptions": { "maxAge": 0 } });
    let first = start_at(&service, START, body.clone()).await;
    let second = start_at(&service, START, body).await;
    for path in [first, second] {
        assert_eq!(wait_for_end(&service, &path).await["completed"], json!(7));
    }
    let requests = page_requests(&world, "site.test");
    assert_eq!(requests.len(), 14);
    assert!(requests.iter().all(|request| request.in_flight == 1), "two requests were in flight");
    // The adaptive pace waits as long as the response took.
    assert!(shortest_gap(&requests) >= 2 * response_time, "{:?}", shortest_gap(&requests));
}

/// Returns a handler that serves `bad` for the first `times` requests, and `good` afterwards.
fn at_first(
    times: usize,
    bad: Page,
    good: Page,
) -> impl Fn(&ReceivedRequest) -> Page + Send + Sync + 'static {
    let requests = AtomicUsize::new(0);
    move |_| if requests.fetch_add(1, Ordering::SeqCst) < times { bad.clone() } else { good.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_delays_all_requests_to_the_host() {
    let busy = Page::text("later").status(429).header("retry-after", "4");
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &["/busy", "/other"]))
        .page_with("http://site.test/busy", at_first(1, busy, page("Busy", &[])))
        .page("http://site.test/other", page("Other", &[]))
        .start()
        .await;
    let site = Site::new(&world);
    let service = serve_with(&site, &[("WEBSVC__JOBS__MAX_PER_HOST", "1")]);
    let documents = crawl(&service, json!({ "url": "http://site.test/", "sitemap": "skip" })).await;
    assert_eq!(documents.len(), 3);
    let requests = page_requests(&world, "site.test");
    let position = requests.iter().position(|request| request.url.ends_with("/busy")).unwrap();
    let gap = requests[position + 1].received_at.duration_since(requests[position].received_at);
    // The header delays the whole host, not only the page. Without the header, the delay is two seconds.
    assert!(gap >= Duration::from_secs(4), "{gap:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_robots_txt_is_fetched_again() {
    let broken = Page::text("broken").status(503);
    let broken_too = broken.clone();
    let rules = Page::text("User-agent: *\nDisallow: /private\n");
    let world = star(2, Duration::ZERO)
        .page_with("http://site.test/robots.txt", at_first(1, broken, rules))
        .page("http://lead.test/", page("Lead", &["/out", "/a"]))
        .page("http://lead.test/out", Page::redirect(302, "http://down.test/"))
        .page("http://lead.test/a", page("A", &[]))
        .page("http://old.test/", Page::redirect(301, "http://www.old.test/"))
        .page_with("http://www.old.test/robots.txt", at_first(1, broken_too, Page::text("User-agent: *\n")))
        .page("http://www.old.test/", page("Old", &[]))
        .page("http://down.test/robots.txt", Page::text("broken").status(500))
        .page("http://down.test/", page("Down", &[]))
        .start()
        .await;
    let service = Service::for_world(&world);
    let documents = crawl(&service, json!({ "url": "http://site.test/", "sitemap": "skip" })).await;
    assert_eq!(documents.len(), 3);
    assert_eq!(world.count("http://site.test/robots.txt"), 2);
    // The same holds for the host that the start page redirects to.
    assert_eq!(crawl(&service, json!({ "url": "http://old.test/", "sitemap": "skip" })).await.len(), 1);
    assert_eq!(world.count("http://www.old.test/robots.txt"), 2);
    // The rules of an external host are not retried: a retry would also delay the host of the link.
    let body = json!({ "url": "http://lead.test/", "sitemap": "skip", "allowExternalLinks": true });
    assert_eq!(crawl(&service, body).await.len(), 2);
    assert_eq!(world.count("http://lead.test/out"), 1);
    // While robots.txt fails, no page of the host is fetched.
    assert_eq!(crawl(&service, json!({ "url": "http://down.test/", "sitemap": "skip" })).await.len(), 0);
    assert_eq!(world.count("http://down.test/"), 0);
}
