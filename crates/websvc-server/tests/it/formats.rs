//! Keys that are restricted to formats: no way out returns more than they allow.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use http::Method;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use websvc_store::KeyRights;
use websvc_testkit::{Page, TestWeb};
use websvc_transport::{Upgrade, UpgradeRequest};

use crate::api::ApiTest;

const PAGE: &str = "http://tea.test/";
/// The time limit of jobs, for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

async fn start() -> ApiTest {
    let html = "<title>Tea</title><main><h1>Tea</h1><p>Green tea. <a href=/oolong>Oolong</a></main>";
    ApiTest::start(TestWeb::builder().page(PAGE, Page::html(html)).start().await).await
}

/// A request that a key for some formats may not make: method, path and body, and the format that it lacks.
type Refused = (Method, String, Value, &'static str);

/// Returns the requests that a key for markdown may not make, through every operation that returns pages.
fn refused_requests() -> Vec<Refused> {
    let results = [
        (json!({ "formats": ["markdown", "rawHtml"] }), "rawHtml"),
        (json!({ "formats": ["markdown", { "type": "json", "prompt": "x" }] }), "json"),
        (json!({ "actions": [{ "type": "scrape" }] }), "rawHtml"),
        (
            json!({ "actions": [{ "type": "executeJavascript", "script": "document.body.innerHTML" }] }),
            "rawHtml",
        ),
        (json!({ "actions": [{ "type": "screenshot" }] }), "screenshot"),
        (json!({ "actions": [{ "type": "pdf" }] }), "screenshot"),
    ];
    let mut requests = Vec::new();
    for (options, format) in results {
        let with = |mut body: Value| {
            body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
            body
        };
        // A search without formats scrapes nothing.
        let mut of_search = options.clone();
        of_search.as_object_mut().unwrap().entry("formats").or_insert_with(|| json!(["markdown"]));
        let bodies = [
            ("/v2/scrape", with(json!({ "url": PAGE }))),
            ("/v2/batch/scrape", with(json!({ "urls": [PAGE] }))),
            ("/v1/scrape", with(json!({ "url": PAGE }))),
            ("/v1/batch/scrape", with(json!({ "urls": [PAGE] }))),
            ("/v2/crawl", json!({ "url": PAGE, "scrapeOptions": options })),
            ("/v1/crawl", json!({ "url": PAGE, "scrapeOptions": options })),
            ("/v2/search", json!({ "query": "tea", "scrapeOptions": of_search })),
            ("/v1/search", json!({ "query": "tea", "scrapeOptions": of_search })),
            ("/v2/monitor", monitor(&options)),
        ];
        // Version 1 has other options for extracted data.
        requests.extend(
            bodies
                .into_iter()
                .filter(|(path, _)| format != "json" || !path.starts_with("/v1"))
                .map(|(path, body)| (Method::POST, path.to_owned(), body, format)),
        );
    }
    let session = "/v2/browser/0193528c-0000-7000-8000-000000000000";
    let code = json!({ "code": "document.title" });
    requests.extend([
        (Method::POST, "/v2/browser".to_owned(), json!({}), "rawHtml"),
        (Method::GET, "/v2/browser".to_owned(), Value::Null, "rawHtml"),
        (Method::POST, format!("{session}/execute"), code.clone(), "rawHtml"),
        (Method::POST, "/v2/interact".to_owned(), json!({}), "rawHtml"),
        (Method::POST, session.replace("browser", "scrape") + "/interact", code, "rawHtml"),
        (Method::POST, "/v2/agent".to_owned(), json!({ "prompt": "tea" }), "json"),
        (Method::GET, "/v2/agent".to_owned(), Value::Null, "json"),
        (Method::GET, session.replace("browser", "agent"), Value::Null, "json"),
        (Method::GET, session.replace("browser", "agent") + "/trace", Value::Null, "json"),
        (Method::POST, "/v2/extract".to_owned(), json!({ "urls": [PAGE], "prompt": "x" }), "json"),
        (Method::POST, "/v1/extract".to_owned(), json!({ "urls": [PAGE], "prompt": "x" }), "json"),
        (Method::GET, session.replace("browser", "extract"), Value::Null, "json"),
    ]);
    requests
}

fn monitor(options: &Value) -> Value {
    json!({
        "name": "tea",
        "schedule": { "text": "daily" },
        "targets": [{ "type": "scrape", "urls": [PAGE], "scrapeOptions": options }],
    })
}

#[track_caller]
fn assert_forbidden((status, body): &(u16, Value), format: &str, request: &str) {
    assert_eq!((*status, &body["code"]), (403, &json!("FORBIDDEN")), "{request}: {body}");
    let expected = format!("the key does not allow the format \"{format}\"");
    assert!(body["error"].as_str().unwrap().contains(&expected), "{request}: {body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn request_for_what_the_key_may_not_read_is_refused() {
    let test = start().await;
    let key = test.key_with_formats(&["markdown"]);
    for (method, path, body, format) in refused_requests() {
        let response = test.send(&key, method.clone(), &path, &body).await;
        assert_forbidden(&response, format, &format!("{method} {path} {body}"));
    }
    let (status, created) =
        test.post(&key, "/v2/monitor", &monitor(&json!({ "formats": ["markdown"] }))).await;
    assert_eq!(status, 200, "{created}");
    assert_eq!(created["data"].get("feedUrl"), None, "the feed may show extracted data: {created}");
    let path = format!("/v2/monitor/{}", created["data"]["id"].as_str().unwrap());
    let targets = json!({ "targets": monitor(&json!({ "formats": ["html"] }))["targets"] });
    let response = test.send(&key, Method::PATCH, &path, &targets).await;
    assert_forbidden(&response, "html", "the change of a monitor");
    for (name, arguments, format) in [
        ("scrape", json!({ "url": PAGE, "formats": ["html"] }), "html"),
        ("scrape", json!({ "url": PAGE, "actions": [{ "type": "screenshot" }] }), "screenshot"),
        ("search", json!({ "query": "tea", "scrapeOptions": { "formats": ["links"] } }), "links"),
        ("browser_create", json!({}), "rawHtml"),
        ("interact", json!({ "url": PAGE, "code": "1" }), "rawHtml"),
        ("agent", json!({ "prompt": "tea" }), "json"),
    ] {
        let text = test.call_tool(&key, name, &arguments).await;
        let expected = format!(r#"the key does not allow the format \"{format}\""#);
        assert!(text.contains(&expected), "{name} {arguments}: {text}");
    }
    let unknown = test.call_tool(&key, "find_tools", &json!({})).await;
    assert!(unknown.contains("not offered here; the tools are search, scrape, map"), "{unknown}");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_documents_and_sites_needs_the_format_markdown() {
    let test = start().await;
    let key = test.key_with_formats(&["links"]);
    let parser = |options: &str| json!([{ "type": "pdf", options: true }]);
    for (path, body) in [
        ("/v2/scrape", json!({ "url": PAGE, "formats": ["links"], "parsers": parser("pages") })),
        ("/v2/scrape", json!({ "url": PAGE, "formats": ["links"], "parsers": parser("blocks") })),
        ("/v1/llmstxt", json!({ "url": PAGE })),
    ] {
        assert_forbidden(&test.post(&key, path, &body).await, "markdown", path);
    }
    let status = "/v1/llmstxt/0193528c-0000-7000-8000-000000000000";
    assert_forbidden(&test.send(&key, Method::GET, status, &Value::Null).await, "markdown", status);
    let form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.html\"\r\n\r\n<p>Tea\r\n--b--\r\n";
    let multipart = "multipart/form-data; boundary=b";
    let parsed = test.send_text(&key, Method::POST, "/v2/parse", multipart, form.to_owned()).await;
    assert_forbidden(&parsed, "markdown", "/v2/parse");
    test.stop().await;
}

/// Asserts that a page has its markdown, and that a key for markdown does not see the other formats.
#[track_caller]
fn assert_only_markdown(page: &Value, way: &str) {
    assert!(page["markdown"].as_str().is_some_and(|text| text.contains("Green tea")), "{way}: {page}");
    for name in ["rawHtml", "links"] {
        assert_eq!(page.get(name), None, "{way}: {page}");
    }
    let warning = page["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("rawHtml, links left out"), "{way}: {page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_pages_of_another_key_lose_what_the_key_may_not_read() {
    let test = start().await;
    let all = test.create_key("red", &KeyRights::default());
    let key = test.key_with_formats(&["markdown"]);
    let formats = json!(["markdown", "rawHtml", "links"]);
    let (status, scraped) = test.post(&all, "/v2/scrape", &json!({ "url": PAGE, "formats": formats })).await;
    assert_eq!(status, 200, "{scraped}");
    let id = scraped["data"]["metadata"]["scrapeId"].as_str().unwrap();
    for version in ["v2", "v1"] {
        let path = format!("/{version}/scrape/{id}");
        let complete = test.get(&all, &path).await;
        assert_eq!(complete["data"]["rawHtml"], scraped["data"]["rawHtml"], "{path}");
        let limited = test.get(&key, &path).await;
        assert_only_markdown(&limited["data"], &path);
        assert_eq!(limited["warning"], limited["data"]["warning"], "{path}");
    }
    for (path, body) in [
        ("/v2/batch/scrape", json!({ "urls": [PAGE], "formats": formats })),
        ("/v1/batch/scrape", json!({ "urls": [PAGE], "formats": formats })),
        ("/v2/crawl", json!({ "url": PAGE, "limit": 1, "scrapeOptions": { "formats": formats } })),
        ("/v1/crawl", json!({ "url": PAGE, "limit": 1, "scrapeOptions": { "formats": formats } })),
    ] {
        let (status, started) = test.post(&all, path, &body).await;
        assert_eq!(status, 200, "{path}: {started}");
        let path = format!("{path}/{}", started["id"].as_str().unwrap());
        let complete = wait_for_end(&test, &all, &path).await;
        assert!(complete["data"][0]["rawHtml"].is_string(), "{path}: {complete}");
        assert_only_markdown(&test.get(&key, &path).await["data"][0], &path);
        if path.starts_with("/v1") {
            continue;
        }
        for frame in frames(&test, &key, &path).await {
            match &frame["data"] {
                page if frame["type"] == "document" => assert_only_markdown(page, &path),
                status => assert_only_markdown(&status["data"][0], &path),
            }
        }
    }
    test.stop().await;
}

/// Polls a job until it has ended, and returns its status.
async fn wait_for_end(test: &ApiTest, key: &str, path: &str) -> Value {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let status = test.get(key, path).await;
        if status["status"] != "scraping" {
            return status;
        }
        assert!(Instant::now() < deadline, "{path} does not end: {status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the frames with documents of the WebSocket of a job.
async fn frames(test: &ApiTest, key: &str, path: &str) -> Vec<Value> {
    let mut headers = HeaderMap::new();
    headers.insert("sec-websocket-version", HeaderValue::from_static("13"));
    headers.insert("sec-websocket-key", HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="));
    headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {key}")).unwrap());
    let url = format!("{}{path}", test.address).parse().unwrap();
    let request = UpgradeRequest { url, protocol: "websocket", headers, timeout: TIMEOUT };
    let Upgrade::Switched { tunnel, .. } = test.client.upgrade(request).await.unwrap() else {
        panic!("{path}: no WebSocket");
    };
    let mut socket = WebSocketStream::from_raw_socket(tunnel, Role::Client, None).await;
    let mut frames = Vec::new();
    while let Some(message) = socket.next().await {
        match message.unwrap() {
            Message::Text(text) => frames.push(serde_json::from_str(&text).unwrap()),
            Message::Close(_) => break,
            _ => {}
        }
    }
    assert!(!frames.is_empty(), "{path}");
    frames
}
