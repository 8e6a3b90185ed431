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
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("WEBSVC__SEARCH__PROVIDERS", providers)
        .env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test");
    Service::start(&mut command)
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
async fn failed_source_is_a_warning_and_alone_an_error() {
    let world = world_of(instance().without_json()).await;
    let site = Site::new(&world);
    let reason =
        "source searxng: JSON is not enabled (403): add `json` to `search.formats` in its settings.yml";
    let service = serve(&site, r#"["index", "searxng"]"#);
    let response = service.search(json!({"query": "tea"})).await;
    assert_eq!((response.status.as_u16(), &response.body["data"]["web"]), (200, &json!([])));
    assert_eq!(response.body["warning"], reason);
    drop(service);
    let service = serve(&site, r#"["searxng"]"#);
    let response = service.search(json!({"query": "tea"})).await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (503, &json!("SEARCH_UNAVAILABLE")));
    assert_eq!(response.body["error"], format!("no search source is available: {reason}"));
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
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("WEBSVC_API_KEY", KEY)
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
    let brave = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sources/brave.toml");
    check(&[("WEBSVC_CONFIG", brave)], "BRAVE_API_KEY, which is not set");
}

/// Searches through a declared source, and checks the request URL, a header and the first result. The response is a
/// fixture in the form of the real API.
async fn check_declared(
    name: &str,
    request_url: &str,
    header: Option<(&str, &str)>,
    first: (&str, &str, &str),
) {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sources");
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sources");
    let page = match std::fs::read_to_string(format!("{fixtures}/{name}.json")) {
        Ok(response) => Page::new("application/json; charset=utf-8", response),
        Err(_) => Page::new(
            "application/atom+xml; charset=UTF-8",
            std::fs::read_to_string(format!("{fixtures}/{name}.xml")).unwrap(),
        ),
    };
    let world = TestWeb::builder().page(request_url, page).start().await;
    let site = Site::new(&world);
    let mut command =
        site.command(&["serve", "--listen", "127.0.0.1:0", "--config", &format!("{docs}/{name}.toml")]);
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("WEBSVC__FETCH__CA_FILE", world.ca_file())
        .env("BRAVE_API_KEY", "secret-brave")
        .env("GITHUB_TOKEN", "secret-github");
    let service = Service::start(&mut command);
    let response = service.search(json!({"query": "green tea -site:excluded.test", "limit": 5})).await;
    assert_eq!(response.status, 200, "{name}: {}", response.body);
    let requests = world.requests();
    assert_eq!(requests[0].url, request_url, "{name}");
    if let Some((header, value)) = header {
        assert_eq!(requests[0].header(header), Some(value), "{name}");
    }
    let found = &response.body["data"]["web"][0];
    let found =
        [&found["url"], &found["title"], &found["description"]].map(|part| part.as_str().unwrap_or_default());
    assert_eq!(found, [first.0, first.1, first.2], "{name}: {}", response.body);
    assert_eq!(urls(&response.body).len(), 2, "{name}: {}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn shipped_source_declarations_read_api_responses() {
    check_declared(
        "brave",
        "https://api.search.brave.com/res/v1/web/search?q=green%20tea%20-site%3Aexcluded.test&count=5&offset=0&search_lang=en&safesearch=off",
        Some(("x-subscription-token", "secret-brave")),
        ("https://tea.test/green", "Green tea & you", "All about green tea."),
    )
    .await;
    check_declared(
        "wikipedia",
        "https://en.wikipedia.org/w/rest.php/v1/search/page?q=green%20tea&limit=5",
        None,
        ("https://en.wikipedia.org/wiki/Green_tea", "Green tea", "Green tea is made from leaves"),
    )
    .await;
    check_declared(
        "marginalia",
        "https://api2.marginalia-search.com/search?query=green%20tea&count=5&page=1",
        Some(("api-key", "public")),
        ("https://tea.test/", "A page on tea", "Written by hand."),
    )
    .await;
    check_declared(
        "stackexchange",
        "https://api.stackexchange.com/2.3/search/advanced?order=desc&sort=relevance&site=stackoverflow&filter=withbody&q=green%20tea&pagesize=5&page=1",
        None,
        ("https://stackoverflow.com/questions/1/tea", "How is \"tea\" brewed?", "I have leaves & water."),
    )
    .await;
    check_declared(
        "github",
        "https://api.github.com/search/repositories?q=green%20tea&per_page=5&page=1",
        Some(("authorization", "Bearer secret-github")),
        ("https://github.com/leaf/green-tea", "leaf/green-tea", "Brews tea"),
    )
    .await;
    check_declared(
        "crossref",
        "https://api.crossref.org/works?query=green%20tea&rows=5&offset=0",
        None,
        ("https://doi.org/10.1000/tea", "On green tea", "We brewed tea."),
    )
    .await;
    check_declared(
        "hackernews",
        "https://hn.algolia.com/api/v1/search?tags=story&query=green%20tea&hitsPerPage=5&page=0",
        None,
        ("https://tea.test/story", "Green tea, reviewed", ""),
    )
    .await;
    check_declared(
        "arxiv",
        "https://export.arxiv.org/api/query?search_query=all:green%20tea&start=0&max_results=5",
        Some(("accept", "application/atom+xml")),
        (
            "https://arxiv.org/abs/2001.00001v2",
            "On the brewing of green tea",
            "We brewed $70^\\circ$ & waited.",
        ),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shipped_source_declaration_is_tested() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sources");
    let mut names: Vec<String> = std::fs::read_dir(docs)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .collect();
    names.sort();
    let tested =
        ["arxiv", "brave", "crossref", "github", "hackernews", "marginalia", "stackexchange", "wikipedia"];
    assert_eq!(names, tested);
}
