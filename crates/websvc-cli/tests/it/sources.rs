//! Sources elsewhere, as an operator configures them and a caller sees them.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{Page, SearxngStandIn, World};

use crate::harness::{KEY, Service, Site};

const SEARCH: &str = "http://searx.test/search";

fn result(url: &str, title: &str) -> Value {
    json!({"url": url, "title": title, "content": format!("All about {title}."), "engine": "x"})
}

fn instance() -> SearxngStandIn {
    let general =
        vec![result("https://www.tea.test/green/", "Green tea"), result("http://far.test/", "Far tea")];
    SearxngStandIn::new().results("general", general)
}

async fn world_of(instance: SearxngStandIn) -> World {
    World::builder().page_with(SEARCH, move |seen| instance.answer(seen)).start().await
}

/// Starts a service with `[search] providers` and the stand-in as `[search.searxng]`.
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
async fn index_and_searxng_are_one_list() {
    let world = world_of(instance().silent_engine("google", "timeout")).await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["index", "searxng"]"#);
    let documents = json!({"documents": [
        {"url": "http://tea.test/green", "title": "Green tea at home", "body": "tea leaves"},
        {"url": "http://tea.test/black", "title": "Black tea at home", "body": "tea leaves"},
    ]});
    service.post("/v2/index/documents", documents.to_string()).await;
    let found = loop {
        let answer = service.search(json!({"query": "tea"})).await;
        if urls(&answer.body).len() >= 3 {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let urls = urls(&found.body);
    assert_eq!(urls[0], "http://tea.test/green", "both have it, and the index tells it: {urls:?}");
    assert_eq!(urls.len(), 3);
    assert_eq!(found.body["warning"], "source searxng: engines did not answer: google (timeout)");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_fails_is_named_and_alone_it_is_an_error() {
    let world = world_of(instance().without_json()).await;
    let site = Site::new(&world);
    let reason = "source searxng: it refuses JSON (403): add `json` to `search.formats` in its settings.yml";
    let service = serve(&site, r#"["index", "searxng"]"#);
    let answer = service.search(json!({"query": "tea"})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["data"]["web"]), (200, &json!([])));
    assert_eq!(answer.body["warning"], reason);
    drop(service);
    let service = serve(&site, r#"["searxng"]"#);
    let answer = service.search(json!({"query": "tea"})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (503, &json!("SEARCH_UNAVAILABLE")));
    assert_eq!(answer.body["error"], format!("no search source could answer: {reason}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_found_is_an_empty_list() {
    let world = world_of(SearxngStandIn::new()).await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["searxng"]"#);
    let answer = service.search(json!({"query": "tea", "sources": ["web", "news"]})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["data"]), (200, &json!({"web": [], "news": []})));
    assert_eq!(answer.body["warning"], Value::Null);
    assert_eq!(answer.body["creditsUsed"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_source_does_not_hold_the_answer_and_alone_it_times_out() {
    let world = World::builder().page(SEARCH, Page::silence()).start().await;
    let site = Site::new(&world);
    let service = serve(&site, r#"["index", "searxng"]"#);
    let answer = service.search(json!({"query": "tea", "timeout": 1000})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["data"]["web"]), (200, &json!([])));
    assert_eq!(answer.body["warning"], "source searxng: it was too slow and was not waited for");
    drop(service);
    let service = serve(&site, r#"["searxng"]"#);
    let answer = service.search(json!({"query": "tea", "timeout": 1000})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (408, &json!("REQUEST_TIMEOUT")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_on_loopback_is_reached_and_its_neighbours_are_not() {
    let instance = SearxngStandIn::new().results("general", vec![result("http://127.0.0.1:1/", "Tea")]);
    let world = World::builder()
        .page_with("http://127.0.0.1/search", move |seen| instance.answer(seen))
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
    let answer = service.search(request).await;
    assert_eq!(answer.status, 200);
    let error = answer.body["data"]["web"][0]["metadata"]["error"].as_str().unwrap_or_default();
    assert!(error.contains("this URL may not be fetched"), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_a_source_ends_the_start() {
    let world = World::builder().start().await;
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
}
