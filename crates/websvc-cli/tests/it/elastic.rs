//! A server that speaks the API of Elasticsearch, as an operator configures it: written to, searched, and failing.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{FakeElasticsearch, Page, TestWeb};

use crate::harness::{KEY, Service, Site};

const SEARCH: &str = "http://searx.test/search";

/// Returns a command that knows the server as `es`.
fn command(site: &Site, arguments: &[&str], providers: &str) -> Command {
    let mut command = site.command(arguments);
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("ES_KEY", "secret")
        .env("WEBSVC__SEARCH__PROVIDERS", providers)
        .env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test")
        .env("WEBSVC__SEARCH__SOURCES__ES__KIND", "elasticsearch")
        .env("WEBSVC__SEARCH__SOURCES__ES__URL", "http://es.test")
        .env("WEBSVC__SEARCH__SOURCES__ES__INDEX", "pages")
        .env("WEBSVC__SEARCH__SOURCES__ES__WRITE", "true")
        .env("WEBSVC__SEARCH__SOURCES__ES__API_KEY", "${ES_KEY}");
    command
}

fn serve(site: &Site, providers: &str) -> Service {
    Service::start(&mut command(site, &["serve", "--listen", "127.0.0.1:0"], providers))
}

fn server() -> FakeElasticsearch {
    FakeElasticsearch::new("pages").require_authorization("ApiKey secret")
}

/// Writes pages to import, and returns where.
fn tea_pages(site: &Site) -> String {
    let file = site.data_dir().join("pages.jsonl");
    let lines = ["green", "black"].map(|kind| {
        let body = format!("Welcome. All about {kind} tea leaves. Enjoy.");
        json!({"url": format!("http://tea.test/{kind}"), "title": format!("{kind} tea"), "body": body})
            .to_string()
    });
    std::fs::write(&file, lines.join("\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

async fn metrics(service: &Service) -> String {
    service.text("/metrics").await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_imported_uploaded_and_scraped_is_found_there() {
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
            output.status.success() && errors.contains("es: 2 pages written, 0 refused, 0 lost"),
            "{errors}"
        );
    }
    assert_eq!(es.documents().len(), 2);
    let here = || site.succeed(&["index", "stats"]);
    assert!(here().starts_with("0 documents"), "nobody searches the index here: {}", here());
    assert!(command(&site, &["index", "import", &file], r#"["index", "es"]"#).status().unwrap().success());
    assert!(here().starts_with("2 documents"), "{}", here());
    assert_eq!(es.documents().len(), 2);

    let service = serve(&site, r#"["es"]"#);
    let answer = service.search(json!({"query": "green leaves"})).await;
    let first = &answer.body["data"]["web"][0];
    assert_eq!(
        (answer.status.as_u16(), &first["url"]),
        (200, &json!("http://tea.test/green")),
        "{}",
        answer.body
    );
    assert_eq!(first["description"], "All about green tea leaves.");

    let upload = json!({"documents": [{"url": "http://coffee.test/", "title": "Coffee", "body": "Beans."}]});
    assert_eq!(service.post("/v2/index/documents", upload.to_string()).await.status, 200);
    let answer = service.search(json!({"query": "beans"})).await;
    assert_eq!(answer.body["data"]["web"][0]["url"], "http://coffee.test/");

    let request = json!({"query": "green", "limit": 1, "scrapeOptions": {"formats": ["markdown"]}});
    service.search(request).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_scraped = |document: &Value| document["body"].as_str().unwrap_or_default().contains("is scraped");
    while !es.documents().iter().any(is_scraped) {
        assert!(Instant::now() < deadline, "{:?}", es.documents());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(es.documents().len(), 3, "the page replaced its older state");
    let figures = metrics(&service).await;
    for line in [
        "websvc_source_requests_total{source=\"es\",outcome=\"results\"} 3",
        "websvc_source_duration_seconds_count{source=\"es\"} 3",
        "websvc_source_state{source=\"es\",state=\"ok\"} 1",
        "websvc_mirror_pages_total{source=\"es\",fate=\"lost\"} 0",
    ] {
        assert!(figures.lines().any(|found| found == line), "{line}\n{figures}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_it_does_not_take_are_told() {
    let es = server();
    let world = es.serve(TestWeb::builder(), "http://es.test").start().await;
    let site = Site::new(&world);
    let file = tea_pages(&site);
    es.reject_urls_with("black");
    let output = command(&site, &["index", "import", &file], r#"["es"]"#).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{errors}");
    assert!(
        errors.contains("es: 1 pages written, 1 refused, 0 lost; first failure: http://tea.test/black"),
        "{errors}"
    );
    assert!(errors.contains("1 pages are not in es"), "{errors}");

    es.fail_next("_bulk", Page::text("no").status(400));
    let output = command(&site, &["index", "import", &file], r#"["es"]"#).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("could not be written to es"), "{errors}");
}

async fn both(es: &FakeElasticsearch, searxng: Page) -> TestWeb {
    let world = TestWeb::builder().page(SEARCH, searxng);
    es.serve(world, "http://es.test").start().await
}

fn empty_searxng() -> Page {
    Page::new("application/json", json!({"results": [], "unresponsive_engines": []}).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_source_that_answers_is_an_error_that_names_all() {
    let es = server();
    let world = both(&es, Page::html("<title>403</title>").status(403)).await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["es", "searxng"]"#);
    let answer = service.search(json!({"query": "tea"})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (503, &json!("SEARCH_UNAVAILABLE")));
    let expected = "no search source could answer: source es: it answered with status 404: it has no index \"pages\"; \
                    source searxng: it refuses JSON (403): add `json` to `search.formats` in its settings.yml";
    assert_eq!(answer.body["error"], expected);
    let figures = metrics(&service).await;
    let line = "websvc_source_requests_total{source=\"es\",outcome=\"unavailable\",reason=\"status\"} 1";
    assert!(figures.lines().any(|found| found == line), "{figures}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_source_that_fails_is_a_warning_and_all_empty_is_an_empty_answer() {
    let es = server();
    let world = both(&es, empty_searxng()).await;
    let site = Site::new(&world);
    let file = tea_pages(&site);
    assert!(command(&site, &["index", "import", &file], r#"["es"]"#).status().unwrap().success());
    let service = serve(&site, r#"["es", "searxng"]"#);
    let answer = service.search(json!({"query": "nothing"})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["data"]), (200, &json!({"web": []})));
    assert_eq!(answer.body["warning"], Value::Null);
    es.fail_next("_search", Page::text("down").status(503));
    let answer = service.search(json!({"query": "nothing"})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["data"]), (200, &json!({"web": []})));
    assert_eq!(answer.body["warning"], "source es: it answered with status 503");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_sources_alone_are_a_timeout() {
    let world = TestWeb::builder()
        .page(SEARCH, Page::unresponsive())
        .page("http://es.test/pages/_search", Page::unresponsive())
        .start()
        .await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["es", "searxng"]"#);
    let answer = service.search(json!({"query": "tea", "timeout": 1000})).await;
    assert_eq!(answer.status, 408, "{}", answer.body);
    let figures = metrics(&service).await;
    let line = "websvc_source_requests_total{source=\"es\",outcome=\"given_up\"} 1";
    assert!(figures.lines().any(|found| found == line), "{figures}");
}
