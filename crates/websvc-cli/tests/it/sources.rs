//! Tests of remote search sources.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeSearxng, Page, TestWeb};

use crate::harness::{KEY, Service, Site};

const SEARCH: &str = "http://searx.test/search";

fn result(url: &str, title: &str) -> Value {
    json!({"url": url, "title": title, "content": format!("All about {title}."), "engine": "x"})
}

fn instance() -> FakeSearxng {
    let general =
        vec![result("https://www.tea.test/green/", "Green tea"), result("http://far.test/", "Far tea")];
    FakeSearxng::new().results("general", general)
}

async fn world_of(instance: FakeSearxng) -> TestWeb {
    TestWeb::builder().page_with(SEARCH, move |request| instance.respond(request)).start().await
}

/// Starts a service with these `search.providers`, and with the fake instance as `search.searxng`.
fn serve(site: &Site, providers: &str) -> Service {
    site.serve_with(&[
        ("WEBSVC__SEARCH__PROVIDERS", providers),
        ("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test"),
    ])
}

fn urls(body: &Value) -> Vec<&str> {
    let list = body["data"]["web"].as_array();
    list.into_iter().flatten().filter_map(|result| result["url"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn index_and_searxng_results_are_merged() {
    let world = world_of(instance().unresponsive_engine("google", "timeout")).await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["index", "searxng"]"#);
    let documents = json!({"documents": [
        {"url": "http://tea.test/green", "title": "Green tea at home", "body": "tea leaves"},
        {"url": "http://tea.test/black", "title": "Black tea at home", "body": "tea leaves"},
    ]});
    service.post("/v2/index/documents", documents.to_string()).await;
    let found = loop {
        let response = service.search(json!({"query": "tea"})).await;
        if urls(&response.body).len() >= 3 {
            break response;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let urls = urls(&found.body);
    assert_eq!(
        urls[0], "http://tea.test/green",
        "the result of both sources is not the one of the index: {urls:?}"
    );
    assert_eq!(urls.len(), 3);
    assert_eq!(found.body["warning"], "source searxng: some engines did not respond: google (timeout)");
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_reports_the_state_of_every_source() {
    let world = world_of(FakeSearxng::new().rate_limited("60")).await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["index", "searxng"]"#);
    let response = service.get("/ready").await;
    let fine = json!([{"name": "index", "state": "ok"}, {"name": "searxng", "state": "ok"}]);
    assert_eq!((response.status.as_u16(), &response.body["sources"]), (200, &fine));
    service.search(json!({"query": "tea"})).await;
    let response = service.get("/ready").await;
    let searxng = &response.body["sources"][1];
    assert_eq!((response.status.as_u16(), &searxng["state"]), (200, &json!("paused")));
    let reason = "rate limited by the source (429), next attempt in 60 s";
    assert_eq!(searxng["reason"], reason);
    assert!(searxng["retryAfterMs"].as_u64().is_some_and(|remaining| remaining <= 60_000), "{searxng}");
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_source_returns_empty_lists() {
    let world = world_of(FakeSearxng::new()).await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["searxng"]"#);
    let response = service.search(json!({"query": "tea", "sources": ["web", "news"]})).await;
    assert_eq!((response.status.as_u16(), &response.body["data"]), (200, &json!({"web": [], "news": []})));
    assert_eq!(response.body["warning"], Value::Null);
    assert_eq!(response.body["creditsUsed"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_source_is_a_warning_and_alone_a_timeout() {
    let world = TestWeb::builder().page(SEARCH, Page::unresponsive()).start().await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["index", "searxng"]"#);
    let response = service.search(json!({"query": "tea", "timeout": 1000})).await;
    assert_eq!((response.status.as_u16(), &response.body["data"]["web"]), (200, &json!([])));
    assert_eq!(response.body["warning"], "source searxng: no response in time");
    drop(service);
    let service = serve(&site, r#"["searxng"]"#);
    let response = service.search(json!({"query": "tea", "timeout": 1000})).await;
    let error = response.body["error"].as_str().unwrap_or_default();
    assert!(response.status == 408 && error.starts_with("Request timed out"), "{}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_loopback_source_is_reached_and_other_ports_are_not() {
    let instance = FakeSearxng::new().results("general", vec![result("http://127.0.0.1:1/", "Tea")]);
    let world = TestWeb::builder()
        .page_with("http://127.0.0.1/search", move |request| instance.respond(request))
        .start()
        .await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    command
        .env("WEBSVC__FETCH__CONNECT_TO", "{}")
        .env("WEBSVC__SEARCH__PROVIDERS", r#"["searxng"]"#)
        .env("WEBSVC__SEARCH__SEARXNG__URL", format!("http://{}/", world.http_addr()));
    let service = Service::start(&mut command);
    let request = json!({"query": "tea", "scrapeOptions": {"formats": ["markdown"]}});
    let response = service.search(request).await;
    assert_eq!(response.status, 200);
    let error = response.body["data"]["web"][0]["metadata"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("this URL may not be fetched"), "{}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_source_configuration_ends_the_start() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let check = |variables: &[(&str, &str)], expected: &str| {
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{errors}");
    };
    const PROVIDERS: &str = "WEBSVC__SEARCH__PROVIDERS";
    check(&[(PROVIDERS, "[]")], "search.providers is empty");
    check(&[(PROVIDERS, r#"["serxng"]"#)], "serxng");
    check(&[(PROVIDERS, r#"["searxng"]"#)], "search.searxng.url is missing");
    let url = "WEBSVC__SEARCH__SEARXNG__URL";
    check(&[(PROVIDERS, r#"["searxng"]"#), (url, "ftp://a.test/")], "neither http nor https");
    check(&[("WEBSVC__SEARCH__SEARXNG__TIMEOUT", "5")], "timeout_ms");
    check(&[(PROVIDERS, r#"["brave"]"#)], "BRAVE_API_KEY, which is not set");
    check(&[("WEBSVC__SEARCH__PRESETS", r#"["wikipeda"]"#)], "did you mean \"wikipedia\"?");
}

/// Returns a page with a response of the API of a preset.
fn recorded(name: &str) -> Page {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sources");
    Page::new("application/json", std::fs::read_to_string(format!("{file}/{name}.json")).unwrap())
}

async fn public_apis() -> TestWeb {
    TestWeb::builder()
        .page("https://en.wikipedia.org/w/rest.php/v1/search/page", recorded("wikipedia"))
        .page("https://de.wikipedia.org/w/rest.php/v1/search/page", recorded("wikipedia"))
        .page("https://api2.marginalia-search.com/search", recorded("marginalia"))
        .page("https://api.github.com/search/repositories", recorded("github"))
        .page("https://api.stackexchange.com/2.3/search/advanced", recorded("stackexchange"))
        .page("https://hn.algolia.com/api/v1/search", recorded("hackernews"))
        .page("https://crates.io/api/v1/crates", recorded("crates-io"))
        .page("https://api.openalex.org/works", recorded("openalex"))
        .page("https://api.gdeltproject.org/api/v2/doc/doc", recorded("gdelt"))
        .page("https://commons.wikimedia.org/w/api.php", recorded("wikimedia-commons"))
        .page("https://api.openverse.org/v1/images/", recorded("openverse"))
        .start()
        .await
}

/// Returns the hosts that were asked since the last call.
fn asked_hosts(world: &TestWeb) -> Vec<String> {
    let hosts = world.requests().into_iter().map(|request| {
        request.url.trim_start_matches("https://").split('/').next().unwrap_or_default().to_owned()
    });
    let mut hosts: Vec<String> = hosts.collect();
    world.clear_requests();
    hosts.sort();
    hosts
}

#[tokio::test(flavor = "multi_thread")]
async fn search_of_the_open_web_asks_only_the_apis_that_fit() {
    let world = public_apis().await;
    let site = Site::new(&world);
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0", "--sources", "open"]);
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("WEBSVC__FETCH__CA_FILE", world.ca_file())
        .env("WEBSVC__SEARCH__CONTACT", "ops@own.test");
    let service = Service::start(&mut command);
    let general = ["api2.marginalia-search.com", "en.wikipedia.org"];
    for (body, expected) in [
        (json!({"query": "green tea"}), &general[..]),
        (json!({"query": "green tea", "country": "AT"}), &["de.wikipedia.org"]),
        (
            json!({"query": "tea crate in rust"}),
            &[
                "api.github.com",
                "api.stackexchange.com",
                "api2.marginalia-search.com",
                "crates.io",
                "en.wikipedia.org",
                "hn.algolia.com",
            ],
        ),
        (json!({"query": "tea", "categories": ["github"]}), &["api.github.com"]),
        (json!({"query": "tea site:stackoverflow.com"}), &["api.stackexchange.com"]),
        (json!({"query": "tea", "sources": ["images"]}), &["api.openverse.org", "commons.wikimedia.org"]),
        (json!({"query": "tea", "sources": ["news"]}), &["api.gdeltproject.org", "hn.algolia.com"]),
    ] {
        let response = service.search(body.clone()).await;
        assert_eq!(response.status, 200, "{body}: {}", response.body);
        if world.requests().iter().any(|request| request.url.starts_with("https://en.wikipedia.org")) {
            let request =
                world.requests().into_iter().find(|request| request.url.contains("wikipedia")).unwrap();
            assert_eq!(
                request.header("user-agent"),
                Some(concat!("websvc/", env!("CARGO_PKG_VERSION"), " (ops@own.test)"))
            );
        }
        assert_eq!(asked_hosts(&world), expected, "{body}");
    }
    let found = service.search(json!({"query": "green tea"})).await;
    assert!(urls(&found.body).contains(&"https://en.wikipedia.org/wiki/Green_tea"), "{}", found.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn presets_are_listed_shown_and_tested() {
    let world = public_apis().await;
    let site = Site::new(&world);
    let run = |arguments: &[&str]| {
        let mut command = site.command(arguments);
        let output = command.env("WEBSVC__FETCH__CA_FILE", world.ca_file()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, list, _) = run(&["sources", "list", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    let find = |name: &str| list.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((code, find("index")["searched"].as_bool()), (Some(0), Some(true)));
    assert_eq!(
        (find("wikipedia")["open"].as_bool(), find("brave")["keys"][0].as_str()),
        (Some(true), Some("BRAVE_API_KEY"))
    );
    let (code, section, _) = run(&["sources", "show", "arxiv"]);
    assert_eq!(code, Some(0));
    assert!(
        section.contains("[search.sources.arxiv]\n") && section.contains("[search.sources.arxiv.fields]\n"),
        "{section}"
    );
    let (code, _, error) = run(&["sources", "show", "arxv"]);
    assert!(code == Some(1) && error.contains("did you mean \"arxiv\"?"), "{error}");
    let (code, table, error) = run(&["sources", "test", "wikipedia", "github"]);
    assert_eq!(code, Some(0), "{table}{error}");
    assert_eq!(table.lines().filter(|line| line.contains("responds in")).count(), 2, "{table}");
    let (code, table, _) = run(&["sources", "test", "brave"]);
    assert!(code == Some(1) && table.contains("BRAVE_API_KEY, which is not set"), "{table}");
    let (code, found, error) = run(&["search", "--sources", "wikipedia", "--json", "green tea"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(code, Some(0), "{error}");
    assert!(urls(&found).contains(&"https://en.wikipedia.org/wiki/Green_tea"), "{found}");
}
