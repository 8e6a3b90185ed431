//! Tests of browser sessions: methods, paths and bodies of the requests, their number, and results.

use serde_json::{Value, json};
use websvc::types::ErrorCode;
use websvc::types::interact::{
    BrowserSessionStatus, CreateBrowserRequest, ExecuteRequest, InteractLanguage, InteractRequest,
};
use websvc::{Client, StatusCode};
use websvc_testkit::{Page, TestWeb};

use crate::support;

const BROWSER: &str = "http://127.0.0.1/v2/browser";
const SCRAPE: &str = "http://127.0.0.1/v2/scrape";
const ID: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

fn response(body: &Value) -> Page {
    support::json(200, &body.to_string())
}

fn urls() -> Value {
    json!({ "cdpUrl": "ws://a.test/cdp", "liveViewUrl": "http://a.test/1", "interactiveLiveViewUrl": "http://a.test/2" })
}

/// Returns an object with the fields of both.
fn with(mut object: Value, other: Value) -> Value {
    let Value::Object(other) = other else { panic!("{other}") };
    object.as_object_mut().unwrap().extend(other);
    object
}

fn outcome() -> Value {
    json!({ "success": true, "stdout": "a\n", "stderr": "", "result": "1", "exitCode": 0, "killed": false })
}

fn failure() -> Value {
    let failed =
        json!({ "success": false, "stderr": "no tea", "exitCode": 1, "error": "no tea", "sessionId": ID });
    with(with(outcome(), failed), urls())
}

/// Starts a service with a session, and with a scrape whose code fails.
async fn service() -> (TestWeb, Client) {
    let created = with(json!({ "success": true, "id": ID, "expiresAt": "x" }), urls());
    let listed = json!({
        "id": ID, "status": "active", "streamWebView": true, "createdAt": "x", "lastActivity": "x",
    });
    let list = json!({ "success": true, "sessions": [with(listed, urls())] });
    let ended = json!({ "success": true, "sessionDurationMs": 61_500, "creditsBilled": 3 });
    let sessions = move |request: &websvc_testkit::ReceivedRequest| {
        if request.method == "POST" { response(&created) } else { response(&list) }
    };
    let interact = {
        let ended = ended.clone();
        move |request: &websvc_testkit::ReceivedRequest| {
            if request.method == "POST" { response(&failure()) } else { response(&ended) }
        }
    };
    let world = TestWeb::builder()
        .page_with(BROWSER, sessions)
        .page(&format!("{BROWSER}/{ID}/execute"), response(&outcome()))
        .page(&format!("{BROWSER}/{ID}"), response(&ended))
        .page_with(&format!("{SCRAPE}/{ID}/interact"), interact)
        .start()
        .await;
    let client = support::client(&world);
    (world, client)
}

fn code(code: &str) -> ExecuteRequest {
    ExecuteRequest { code: code.to_owned(), ..ExecuteRequest::default() }
}

#[tokio::test]
async fn calls_have_their_methods_paths_and_bodies() {
    let (world, client) = service().await;
    let request = CreateBrowserRequest { ttl: Some(60), ..CreateBrowserRequest::default() };
    assert_eq!(client.start_browser(&request).await.unwrap().cdp_url, "ws://a.test/cdp");
    assert_eq!(client.browser_sessions(None).await.unwrap().sessions[0].id, ID);
    client.browser_sessions(Some(BrowserSessionStatus::Destroyed)).await.unwrap();
    let request =
        ExecuteRequest { language: Some(InteractLanguage::Bash), timeout: Some(1.5), ..code("get title") };
    assert_eq!(client.execute_code(ID, &request).await.unwrap().result.as_deref(), Some("1"));
    assert_eq!(client.end_browser(ID).await.unwrap().credits_billed, Some(3));
    let request = InteractRequest { prompt: Some("Log in".to_owned()), ..InteractRequest::default() };
    client.interact(ID, &request).await.unwrap();
    assert_eq!(client.end_interaction(ID).await.unwrap().session_duration_ms, 61_500);
    let base = format!("{}/v2/", support::base(&world));
    let sent: Vec<(String, String, Value)> = world
        .requests()
        .into_iter()
        .map(|request| {
            let path = request.url.strip_prefix(&base).unwrap_or(&request.url).to_owned();
            (request.method.to_string(), path, serde_json::from_slice(&request.body).unwrap_or_default())
        })
        .collect();
    let execute = json!({ "code": "get title", "language": "bash", "timeout": 1.5 });
    let expected = [
        ("POST", "browser".to_owned(), json!({ "ttl": 60 })),
        ("GET", "browser".to_owned(), Value::Null),
        ("GET", "browser?status=destroyed".to_owned(), Value::Null),
        ("POST", format!("browser/{ID}/execute"), execute),
        ("DELETE", format!("browser/{ID}"), Value::Null),
        ("POST", format!("scrape/{ID}/interact"), json!({ "prompt": "Log in" })),
        ("DELETE", format!("scrape/{ID}/interact"), Value::Null),
    ];
    assert_eq!(sent, expected.map(|(method, path, body)| (method.to_owned(), path, body)));
}

#[tokio::test]
async fn code_that_fails_is_a_result_with_its_outputs() {
    let (_world, client) = service().await;
    let request = InteractRequest { code: Some("x".to_owned()), ..InteractRequest::default() };
    let failed = client.interact(ID, &request).await.unwrap();
    assert_eq!((failed.success, failed.exit_code, &*failed.stdout), (false, 1, "a\n"));
    assert_eq!(failed.error.as_deref(), Some("no tea"));
}

#[tokio::test]
async fn only_the_end_of_a_session_is_repeated_after_a_503() {
    let busy = || support::error_response(503);
    let world = TestWeb::builder()
        .page(BROWSER, busy())
        .page(&format!("{BROWSER}/{ID}"), busy())
        .page(&format!("{BROWSER}/{ID}/execute"), busy())
        .page(&format!("{SCRAPE}/{ID}/interact"), busy())
        .start()
        .await;
    let client = support::client(&world);
    assert!(client.start_browser(&CreateBrowserRequest::default()).await.is_err());
    assert!(client.execute_code(ID, &code("1")).await.is_err());
    assert!(client.interact(ID, &InteractRequest::default()).await.is_err());
    assert_eq!(world.requests().len(), 3, "a second request could start a second session, or click twice");
    assert!(client.end_browser(ID).await.is_err());
    assert_eq!(world.requests().len(), 7);
}

#[tokio::test]
async fn ended_session_has_its_code() {
    let body = json!({ "success": false, "error": "The session has ended", "code": "BROWSER_SESSION_ENDED" });
    let world = TestWeb::builder()
        .page(&format!("{BROWSER}/{ID}/execute"), support::json(410, &body.to_string()))
        .start()
        .await;
    let error = support::client(&world).execute_code(ID, &code("1")).await.unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        (Some(ErrorCode::BrowserSessionEnded), Some(StatusCode::GONE))
    );
}
