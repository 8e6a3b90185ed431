//! The pace of crawls, read from the times at which a site was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};

use super::{START, crawl, page, pages_of, serve_with};
use crate::batch::{ended, start_at};
use crate::harness::{Service, Site};

/// A star of so many pages, each of which takes its time to answer.
fn star(pages: usize, answer: Duration) -> TestWebBuilder {
    let links: Vec<String> = (0..pages).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let mut world = TestWeb::builder().page("http://site.test/", page("Start", &links).delay(answer));
    for number in 0..pages {
        world = world.page(&format!("http://site.test/{number}"), page("Page", &[]).delay(answer));
    }
    world
}

/// Returns the shortest time from one request to the next.
fn shortest_gap(seen: &[ReceivedRequest]) -> Duration {
    seen.windows(2).map(|pair| pair[1].received_at.duration_since(pair[0].received_at)).min().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_crawl_delay_of_robots_txt_is_kept_whatever_else_is_set() {
    let robots = Page::text("User-agent: *\nCrawl-delay: 0.4\n");
    let world = star(5, Duration::ZERO).page("http://site.test/robots.txt", robots).start().await;
    let site = Site::new(&world);
    let service = serve_with(&site, &[("WEBSVC__JOBS__PAUSE", "asked"), ("WEBSVC__JOBS__PER_HOST", "8")]);
    let documents = crawl(&service, json!({ "url": "http://site.test/", "sitemap": "skip" })).await;
    assert_eq!(documents.len(), 6);
    let seen = pages_of(&world, "site.test");
    assert!(shortest_gap(&seen) >= Duration::from_millis(400), "{:?}", shortest_gap(&seen));
    assert!(seen.iter().all(|seen| seen.in_flight == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delay_of_the_crawl_is_kept() {
    let world = star(4, Duration::ZERO).start().await;
    let service = Service::of(&world);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "delay": 0.3 });
    assert_eq!(crawl(&service, body).await.len(), 5);
    let seen = pages_of(&world, "site.test");
    assert!(shortest_gap(&seen) >= Duration::from_millis(300), "{:?}", shortest_gap(&seen));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_crawls_of_one_host_have_one_pace_and_wait_as_long_as_it_took() {
    let answer = Duration::from_millis(40);
    let world = star(6, answer).start().await;
    let site = Site::new(&world);
    let service = serve_with(&site, &[("WEBSVC__JOBS__PER_HOST", "1")]);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "scrapeOptions": { "maxAge": 0 } });
    let first = start_at(&service, START, body.clone()).await;
    let second = start_at(&service, START, body).await;
    for path in [first, second] {
        assert_eq!(ended(&service, &path).await["completed"], json!(7));
    }
    let seen = pages_of(&world, "site.test");
    assert_eq!(seen.len(), 14);
    assert!(seen.iter().all(|seen| seen.in_flight == 1), "never two at one time");
    // From one to the next: the time of the answer, and as long a pause.
    assert!(shortest_gap(&seen) >= 2 * answer, "{:?}", shortest_gap(&seen));
}

/// Answers badly so often, and well from then on.
fn at_first(
    times: usize,
    bad: Page,
    well: Page,
) -> impl Fn(&ReceivedRequest) -> Page + Send + Sync + 'static {
    let asked = AtomicUsize::new(0);
    move |_| if asked.fetch_add(1, Ordering::SeqCst) < times { bad.clone() } else { well.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_wants_to_be_left_alone_is() {
    let busy = Page::text("later").status(429).header("retry-after", "4");
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &["/busy", "/other"]))
        .page_with("http://site.test/busy", at_first(1, busy, page("Busy", &[])))
        .page("http://site.test/other", page("Other", &[]))
        .start()
        .await;
    let site = Site::new(&world);
    let service = serve_with(&site, &[("WEBSVC__JOBS__PER_HOST", "1")]);
    let documents = crawl(&service, json!({ "url": "http://site.test/", "sitemap": "skip" })).await;
    assert_eq!(documents.len(), 3);
    let seen = pages_of(&world, "site.test");
    let place = seen.iter().position(|seen| seen.url.ends_with("/busy")).unwrap();
    let gap = seen[place + 1].received_at.duration_since(seen[place].received_at);
    // All of the host, not only the page. Without the header it would be two seconds.
    assert!(gap >= Duration::from_secs(4), "{gap:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_cannot_be_had_at_first_are_asked_for_again() {
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
    let service = Service::of(&world);
    let documents = crawl(&service, json!({ "url": "http://site.test/", "sitemap": "skip" })).await;
    assert_eq!(documents.len(), 3);
    assert_eq!(world.count("http://site.test/robots.txt"), 2);
    // So are those of a host that a page leads to.
    assert_eq!(crawl(&service, json!({ "url": "http://old.test/", "sitemap": "skip" })).await.len(), 1);
    assert_eq!(world.count("http://www.old.test/robots.txt"), 2);
    // Of a host that is another one nobody waits for them: with a further try its own host would be made to wait, too.
    let body = json!({ "url": "http://lead.test/", "sitemap": "skip", "allowExternalLinks": true });
    assert_eq!(crawl(&service, body).await.len(), 2);
    assert_eq!(world.count("http://lead.test/out"), 1);
    // Where it stays so, nothing is fetched.
    assert_eq!(crawl(&service, json!({ "url": "http://down.test/", "sitemap": "skip" })).await.len(), 0);
    assert_eq!(world.count("http://down.test/"), 0);
}
