//! Tests of an Elasticsearch source: mirrored pages, searches and failures.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{FakeElasticsearch, Page, TestWeb};

use crate::harness::{KEY, Service, Site};

const SEARCH: &str = "http://searx.test/search";

/// Returns a command with the Elasticsearch server configured as source `es`.
pub(crate) fn command(site: &Site, arguments: &[&str], providers: &str) -> Command {
    let mut command = site.command(arguments);
    command.env("WEBSVC_API_KEY", KEY).envs(settings(providers));
    command
}

/// Returns the variables that configure the Elasticsearch server as source `es`.
pub(crate) fn settings(providers: &str) -> [(&'static str, &str); 8] {
    [
        ("ES_KEY", "secret"),
        ("WEBSVC__SEARCH__PROVIDERS", providers),
        ("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test"),
        ("WEBSVC__SEARCH__SOURCES__ES__KIND", "elasticsearch"),
        ("WEBSVC__SEARCH__SOURCES__ES__URL", "http://es.test"),
        ("WEBSVC__SEARCH__SOURCES__ES__INDEX", "pages"),
        ("WEBSVC__SEARCH__SOURCES__ES__WRITE", "true"),
        ("WEBSVC__SEARCH__SOURCES__ES__API_KEY", "${ES_KEY}"),
    ]
}

pub(crate) fn serve(site: &Site, providers: &str) -> Service {
    Service::start(&mut command(site, &["serve", "--listen", "127.0.0.1:0"], providers))
}

pub(crate) fn server() -> FakeElasticsearch {
    FakeElasticsearch::new("pages").require_authorization("ApiKey secret")
}

/// Writes a file with pages to import, and returns its path.
pub(crate) fn tea_pages(site: &Site) -> String {
    let file = site.data_dir().join("pages.jsonl");
    let lines = ["green", "black"].map(|kind| {
        let body = format!("Welcome. All about {kind} tea leaves. Enjoy.");
        json!({"url": format!("http://tea.test/{kind}"), "title": format!("{kind} tea"), "body": body})
            .to_string()
    });
    std::fs::write(&file, lines.join("\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

async fn fetch_metrics(service: &Service) -> String {
    service.text("/metrics").await
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_uploaded_and_scraped_pages_are_mirrored() {
    let es = server();
    let world = es.serve(TestWeb::builder(), "http://es.test");
    let world = world
        .page(
            "http://tea.test/green",
            Page::html("<title>Green</title><main><p>Green tea is scraped.</p></main>"),
        )
        .start()
        .await;
    let site = Site::new(&world);
    let file = tea_pages(&site);
    for _ in 0..2 {
        let output = command(&site, &["index", "import", &file], r#"["es"]"#).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && errors.contains("es: 2 pages written, 0 rejected, 0 lost"),
            "{errors}"
        );
    }
    assert_eq!(es.documents().len(), 2);
    let local_stats = || site.succeed(&["index", "stats"]);
    assert!(
        local_stats().starts_with("0 documents"),
        "the import also wrote to the local index: {}",
        local_stats()
    );
    assert!(command(&site, &["index", "import", &file], r#"["index", "es"]"#).status().unwrap().success());
    assert!(local_stats().starts_with("2 documents"), "{}", local_stats());
    assert_eq!(es.documents().len(), 2);

    let service = serve(&site, r#"["es"]"#);
    let response = service.search(json!({"query": "green leaves"})).await;
    let first = &response.body["data"]["web"][0];
    assert_eq!(
        (response.status.as_u16(), &first["url"]),
        (200, &json!("http://tea.test/green")),
        "{}",
        response.body
    );
    assert_eq!(first["description"], "All about green tea leaves.");

    let upload = json!({"documents": [{"url": "http://coffee.test/", "title": "Coffee", "body": "Beans."}]});
    assert_eq!(service.post("/v2/index/documents", upload.to_string()).await.status, 200);
    let response = service.search(json!({"query": "beans"})).await;
    assert_eq!(response.body["data"]["web"][0]["url"], "http://coffee.test/");

    let request = json!({"query": "green", "limit": 1, "scrapeOptions": {"formats": ["markdown"]}});
    service.search(request).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_scraped = |document: &Value| document["body"].as_str().unwrap_or_default().contains("is scraped");
    while !es.documents().iter().any(is_scraped) {
        assert!(Instant::now() < deadline, "{:?}", es.documents());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(es.documents().len(), 3, "the scraped page did not replace the older version");
    let metrics = fetch_metrics(&service).await;
    for line in [
        "websvc_source_requests_total{source=\"es\",outcome=\"results\"} 3",
        "websvc_source_duration_seconds_count{source=\"es\"} 3",
        "websvc_source_state{source=\"es\",state=\"ok\"} 1",
        "websvc_mirror_pages_total{source=\"es\",outcome=\"lost\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_mirror_pages_are_reported() {
    let es = server();
    let world = es.serve(TestWeb::builder(), "http://es.test").start().await;
    let site = Site::new(&world);
    let file = tea_pages(&site);
    es.reject_urls_with("black");
    let output = command(&site, &["index", "import", &file], r#"["es"]"#).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{errors}");
    assert!(
        errors.contains("es: 1 page written, 1 rejected, 0 lost; first failure: http://tea.test/black"),
        "{errors}"
    );
    assert!(errors.contains("1 page is missing in es"), "{errors}");

    // The server rejects the request of the import, and another one at its end.
    es.fail_next("_bulk", Page::text("no").status(400));
    es.fail_next("_bulk", Page::text("no").status(400));
    let output = command(&site, &["index", "import", &file], r#"["es"]"#).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let expected = "2 pages wait in the outbox of es: `websvc serve` writes them when es accepts them";
    assert!(!output.status.success() && errors.contains(expected), "{errors}");
}

async fn start_world(es: &FakeElasticsearch, searxng: Page) -> TestWeb {
    let world = TestWeb::builder().page(SEARCH, searxng);
    es.serve(world, "http://es.test").start().await
}

fn empty_searxng() -> Page {
    Page::new("application/json", json!({"results": [], "unresponsive_engines": []}).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_of_all_sources_is_an_error_that_names_each() {
    let es = server();
    let world = start_world(&es, Page::html("<title>403</title>").status(403)).await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["es", "searxng"]"#);
    let response = service.search(json!({"query": "tea"})).await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (503, &json!("SEARCH_UNAVAILABLE")));
    let expected = "no search source is available: source es: responded with status 404: the index \"pages\" does not exist; with `write = true`, the first page creates it; \
                    source searxng: JSON is not enabled (403): add `json` to `search.formats` in its settings.yml";
    assert_eq!(response.body["error"], expected);
    let metrics = fetch_metrics(&service).await;
    let line = "websvc_source_requests_total{source=\"es\",outcome=\"unavailable\",reason=\"status\"} 1";
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_source_is_a_warning_and_empty_sources_are_not() {
    let es = server();
    let world = start_world(&es, empty_searxng()).await;
    let site = Site::new(&world);
    let file = tea_pages(&site);
    assert!(command(&site, &["index", "import", &file], r#"["es"]"#).status().unwrap().success());
    let service = serve(&site, r#"["es", "searxng"]"#);
    let response = service.search(json!({"query": "nothing"})).await;
    assert_eq!((response.status.as_u16(), &response.body["data"]), (200, &json!({"web": []})));
    assert_eq!(response.body["warning"], Value::Null);
    es.fail_next("_search", Page::text("down").status(503));
    let response = service.search(json!({"query": "nothing"})).await;
    assert_eq!((response.status.as_u16(), &response.body["data"]), (200, &json!({"web": []})));
    assert_eq!(response.body["warning"], "source es: responded with status 503");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_slow_sources_time_out() {
    let world = TestWeb::builder()
        .page(SEARCH, Page::unresponsive())
        .page("http://es.test/pages/_search", Page::unresponsive())
        .start()
        .await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["es", "searxng"]"#);
    let response = service.search(json!({"query": "tea", "timeout": 1000})).await;
    assert_eq!(response.status, 408, "{}", response.body);
    let metrics = fetch_metrics(&service).await;
    let line = "websvc_source_requests_total{source=\"es\",outcome=\"cancelled\"} 1";
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
}
