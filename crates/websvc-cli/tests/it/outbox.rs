//! Tests of the outbox of an index on a server: no page that was acknowledged is missing there, whatever fails.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeElasticsearch, Page, TestWeb};

use crate::elastic::{command, serve, server};
use crate::harness::{Response, Service, Site, assert_fields};

const ONLY: &str = r#"["es"]"#;

/// The time until which a condition must be met.
const TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) fn url(number: usize) -> String {
    format!("http://tea.test/{number}")
}

/// Starts a site with pages, and an index server.
async fn start(es: &FakeElasticsearch, pages: usize, response_time: Duration) -> TestWeb {
    let mut world = es.serve(TestWeb::builder(), "http://es.test");
    for number in 0..pages {
        let text =
            format!("<title>Tea {number}</title><main><h1>Tea {number}</h1><p>Tea costs 5 euros.</p></main>");
        world = world.page(&url(number), Page::html(text).delay(response_time));
    }
    world.start().await
}

async fn scrape(service: &Service, number: usize) -> Response {
    let body = json!({"url": url(number), "formats": ["markdown"]});
    service.post("/v2/scrape", body.to_string()).await
}

/// Returns the URLs on the index server.
pub(crate) fn indexed(es: &FakeElasticsearch) -> BTreeSet<String> {
    es.documents().iter().map(|document| document["url"].as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn wait_until<F: Future<Output = bool>>(what: &str, mut is_met: impl FnMut() -> F) {
    let deadline = std::time::Instant::now() + TIMEOUT;
    while !is_met().await {
        assert!(std::time::Instant::now() < deadline, "not met in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn wait_for_pages(es: &FakeElasticsearch, expected: &BTreeSet<String>) {
    wait_until("all pages are indexed", async || indexed(es).is_superset(expected)).await;
}

/// Starts a batch of all pages, and returns its path.
async fn start_batch(service: &Service, pages: usize) -> String {
    let urls: Vec<String> = (0..pages).map(url).collect();
    let body = json!({"urls": urls, "formats": ["markdown"]});
    let started = service.post("/v2/batch/scrape", body.to_string()).await;
    assert_eq!(started.status, 200, "{}", started.body);
    format!("/v2/batch/scrape/{}", started.body["id"].as_str().unwrap())
}

pub(crate) async fn completed(service: &Service, path: &str) -> u64 {
    service.get(&format!("{path}?limit=1")).await.body["completed"].as_u64().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_pages_of_a_killed_service_are_indexed_after_its_restart() {
    const PAGES: usize = 40;
    let es = server();
    let world = start(&es, PAGES, Duration::ZERO).await;
    let site = Site::new(&world);
    let service = serve(&site, ONLY);
    es.set_away(true);
    let scraping = (0..PAGES).map(|number| scrape(&service, number));
    for response in futures_util::future::join_all(scraping).await {
        assert_eq!(
            (response.status.as_u16(), &response.body["warning"]),
            (200, &Value::Null),
            "{}",
            response.body
        );
    }
    let upload = json!({"documents": [{"url": "http://coffee.test/", "title": "Coffee", "body": "Beans."}]});
    let uploaded = service.post("/v2/index/documents", upload.to_string()).await.body;
    assert_eq!(uploaded["accepted"], 1, "{uploaded}");
    let warning = uploaded["warning"].as_str().unwrap();
    assert!(warning.starts_with("1 document is written to es later: "), "{warning}");
    service.kill();
    es.set_away(false);
    assert!(indexed(&es).is_empty());
    let _restarted = serve(&site, ONLY);
    let expected = (0..PAGES).map(url).chain(["http://coffee.test/".to_owned()]).collect();
    wait_for_pages(&es, &expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_of_a_service_that_is_killed_many_times_is_indexed_completely() {
    const PAGES: usize = 150;
    const KILLS: u64 = 10;
    let es = server();
    let world = start(&es, PAGES, Duration::from_millis(20)).await;
    let site = Site::new(&world);
    let mut service = serve(&site, ONLY);
    let path = start_batch(&service, PAGES).await;
    for part in 1..=KILLS {
        wait_until("pages are completed", async || completed(&service, &path).await >= part * 12).await;
        service.kill();
        drop(service);
        service = serve(&site, ONLY);
    }
    wait_until("the batch is completed", async || completed(&service, &path).await == PAGES as u64).await;
    wait_for_pages(&es, &(0..PAGES).map(url).collect()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_indexed_after_the_server_was_away() {
    const PAGES: usize = 60;
    let es = server();
    let world = start(&es, PAGES, Duration::ZERO).await;
    let site = Site::new(&world);
    let mut serving = command(&site, &["serve", "--listen", "127.0.0.1:0"], ONLY);
    let service = Service::start(serving.env("WEBSVC__SEARCH__SOURCES__ES__OUTBOX_MAX_LAG_MS", "1"));
    scrape(&service, 0).await;
    wait_for_pages(&es, &BTreeSet::from([url(0)])).await;
    es.set_away(true);
    let path = start_batch(&service, PAGES).await;
    wait_until("the batch is completed", async || completed(&service, &path).await == PAGES as u64).await;

    let outbox = async || service.get("/ready").await.body["outboxes"][0].clone();
    wait_until("the failure is known", async || outbox().await["reason"].is_string()).await;
    let ready = service.get("/ready").await;
    assert_eq!(
        (ready.status.as_u16(), &ready.body["degraded"]),
        (200, &json!(["outbox:es"])),
        "{}",
        ready.body
    );
    let outbox = &ready.body["outboxes"][0];
    let expected = json!({
        "name": "es", "state": "late", "pages": PAGES - 1, "reason": "responded with status 503",
    });
    assert_fields(outbox, &expected);
    let metrics = service.text("/metrics").await;
    let pages = format!("websvc_mirror_outbox_pages{{source=\"es\"}} {}", PAGES - 1);
    assert!(metrics.lines().any(|line| line == pages), "{metrics}");

    es.set_away(false);
    let found = service.search(json!({"query": "tea"})).await.body;
    if indexed(&es).len() < PAGES {
        let warning = found["warning"].as_str().unwrap_or_default();
        assert!(warning.contains("wait to be written to it"), "{found}");
    }
    wait_for_pages(&es, &(0..PAGES).map(url).collect()).await;
    let is_drained = async || {
        let ready = service.get("/ready").await.body;
        ready["degraded"] == json!([]) && ready["outboxes"][0]["pages"] == 0
    };
    wait_until("no page waits", is_drained).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn full_outbox_is_a_warning_for_scrapes_and_an_error_for_uploads() {
    let es = server();
    let world = start(&es, 3, Duration::ZERO).await;
    let site = Site::new(&world);
    let mut serving = command(&site, &["serve", "--listen", "127.0.0.1:0"], ONLY);
    let service = Service::start(serving.env("WEBSVC__SEARCH__SOURCES__ES__OUTBOX_MAX_PAGES", "1"));
    es.set_away(true);
    scrape(&service, 0).await;
    let refused = scrape(&service, 1).await;
    let warning = refused.body["warning"].as_str().unwrap_or_default().to_owned();
    assert!(warning.contains("1 page could not be written to es: its outbox is full"), "{}", refused.body);
    assert_eq!(refused.status, 200);
    let upload = json!({"documents": [{"url": "http://coffee.test/", "title": "Coffee", "body": "Beans."}]});
    let refused = service.post("/v2/index/documents", upload.to_string()).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.body["code"]),
        (503, &json!("SEARCH_UNAVAILABLE")),
        "{}",
        refused.body
    );
    es.set_away(false);
    wait_for_pages(&es, &BTreeSet::from([url(0)])).await;
    wait_until("the refused page is indexed when it is read from the cache", async || {
        let read = scrape(&service, 1).await.body;
        assert_eq!(read["data"]["metadata"]["cacheState"], "hit", "{read}");
        indexed(&es).contains(&url(1))
    })
    .await;
    wait_until("the outbox accepts pages", async || {
        service.post("/v2/index/documents", upload.to_string()).await.status == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_a_batch_is_not_completed_while_the_outbox_fails() {
    const PAGES: usize = 3;
    let es = server();
    let world = start(&es, PAGES, Duration::ZERO).await;
    let site = Site::new(&world);
    let service = serve(&site, ONLY);
    let database = rusqlite::Connection::open(site.data_dir().join("websvc.db")).unwrap();
    database.busy_timeout(TIMEOUT).unwrap();
    database.execute_batch("ALTER TABLE index_outbox RENAME TO index_outbox_aside").unwrap();
    let path = start_batch(&service, PAGES).await;
    let interrupted = "SELECT count(*) FROM job_urls WHERE interruptions > 0";
    wait_until("all pages are returned", async || {
        database.query_row(interrupted, [], |row| row.get::<_, usize>(0)).unwrap() == PAGES
    })
    .await;
    assert_eq!(completed(&service, &path).await, 0);
    database.execute_batch("ALTER TABLE index_outbox_aside RENAME TO index_outbox").unwrap();
    wait_until("the batch is completed", async || completed(&service, &path).await == PAGES as u64).await;
    let batch = service.get(&path).await.body;
    assert_eq!((&batch["status"], &batch["creditsUsed"]), (&json!("completed"), &json!(PAGES)), "{batch}");
    wait_for_pages(&es, &(0..PAGES).map(url).collect()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_page_does_not_come_back_from_the_outbox() {
    let es = server();
    let world = start(&es, 2, Duration::ZERO).await;
    let site = Site::new(&world);
    let service = serve(&site, ONLY);
    es.set_away(true);
    scrape(&service, 0).await;
    scrape(&service, 1).await;
    service.kill();
    es.set_away(false);
    let output = command(&site, &["index", "delete", "--url", &url(0)], ONLY).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let _restarted = serve(&site, ONLY);
    wait_for_pages(&es, &BTreeSet::from([url(1)])).await;
    assert_eq!(indexed(&es), BTreeSet::from([url(1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_page_that_is_in_no_index_is_indexed_when_it_is_read() {
    let es = server();
    let world = start(&es, 1, Duration::ZERO).await;
    let site = Site::new(&world);
    // As if the process had been killed after the page was cached, and before it was indexed.
    let service = site.serve();
    assert_eq!(scrape(&service, 0).await.status, 200);
    service.kill();
    let service = serve(&site, ONLY);
    let read = scrape(&service, 0).await.body;
    assert_eq!(read["data"]["metadata"]["cacheState"], "hit", "{read}");
    wait_for_pages(&es, &BTreeSet::from([url(0)])).await;
}
