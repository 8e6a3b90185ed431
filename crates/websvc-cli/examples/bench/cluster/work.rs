//! One large job on all replicas, and many webhooks that are due at the same time.

use std::time::{Duration, Instant};

use serde_json::json;
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use super::{MAX_REPLICAS, Replicas, store};
use crate::connection::Connection;
use crate::load::Request;
use crate::report::Report;

const HOSTS: usize = 40;
/// The largest batch.
const PAGES: usize = 10_000;
/// The number of different contents of the pages.
const CONTENTS: usize = 1_000;
pub(super) const WEBHOOKS: usize = 50;
pub(super) const EVENTS_PER_WEBHOOK: usize = 400;
const TIMEOUT: Duration = Duration::from_secs(600);

/// Adds the pages of the job and the receivers of the webhooks.
pub(super) fn add_pages(mut world: TestWebBuilder) -> TestWebBuilder {
    let contents: Vec<Page> =
        (0..CONTENTS).map(|number| Page::html(crate::crawl::html(number, CONTENTS))).collect();
    for number in 0..PAGES {
        world = world.page(&page_url(number), contents[number % CONTENTS].clone());
    }
    for webhook in 0..WEBHOOKS {
        world = world.page(&receiver(webhook), Page::text("ok"));
    }
    world
}

fn page_url(number: usize) -> String {
    format!("http://large{}.test/{number}", number % HOSTS)
}

pub(super) fn receiver(webhook: usize) -> String {
    format!("http://hook{webhook}.test/")
}

/// Measures one job with one replica and with several, each with the same share of a core.
pub(super) async fn measure_job(server: &str, report: &mut Report) {
    let mut rates = Vec::new();
    for count in [1, MAX_REPLICAS] {
        let rate = run_job(&Replicas::start(server, count).await).await;
        report.number(
            &format!("pages of one job of {PAGES} pages and {HOSTS} hosts, {count} x"),
            rate,
            "/s",
            "",
        );
        rates.push(rate);
    }
    report.ratio("pages of one job, 3 replicas / 1", rates[1] / rates[0], "");
}

/// Returns the pages per second of a job that the first replica gets.
async fn run_job(replicas: &Replicas) -> f64 {
    let urls: Vec<String> = (0..PAGES).map(page_url).collect();
    let started = Instant::now();
    let body = json!({ "urls": urls, "formats": ["markdown"], "maxAge": 0 });
    let response = Connection::open(&replicas.processes[0]).post("/v2/batch/scrape", &body);
    let path = format!("/v2/batch/scrape/{}?limit=1", response["id"].as_str().unwrap());
    loop {
        let status = Connection::open(&replicas.processes[0]).send(&Request::get(&path));
        if status["status"] != "scraping" {
            assert_eq!(status["completed"], PAGES, "pages are lost: {status}");
            return PAGES as f64 / started.elapsed().as_secs_f64();
        }
        assert!(started.elapsed() < TIMEOUT, "{status}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Measures the delivery of events that are all due. Fails if one is lost or sent twice.
pub(super) async fn measure_webhooks(server: &str, report: &mut Report) {
    let replicas = Replicas::start_far(server, MAX_REPLICAS, Duration::ZERO).await;
    let url = replicas.schema.url.clone();
    let stored = tokio::task::spawn_blocking(move || store::enqueue_webhooks(&url));
    stored.await.unwrap();
    let expected = WEBHOOKS * EVENTS_PER_WEBHOOK;
    let (begun, before) = (Instant::now(), delivered(&replicas.world));
    while delivered(&replicas.world) < expected {
        assert!(begun.elapsed() < TIMEOUT, "{} of {expected} events", delivered(&replicas.world));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let rate = (expected - before) as f64 / begun.elapsed().as_secs_f64();
    let counts = (0..WEBHOOKS).map(|webhook| replicas.world.count(&receiver(webhook)));
    assert!(counts.into_iter().all(|count| count == EVENTS_PER_WEBHOOK), "events were sent twice");
    report.number(
        &format!("webhooks, {expected} events of {WEBHOOKS} webhooks due, 3 replicas"),
        rate,
        "/s",
        "",
    );
}

fn delivered(world: &TestWeb) -> usize {
    (0..WEBHOOKS).map(|webhook| world.count(&receiver(webhook))).sum()
}
