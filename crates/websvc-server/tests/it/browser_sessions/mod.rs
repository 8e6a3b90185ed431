//! Browser sessions with code, on a service with Chromium (operations.md, acceptance lists 1 and 2). The code is evaluated
//! in the page; programs that run more than that have tests of their own.

mod runner;

use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_browser::{Browser, BrowserConfig};
use websvc_server::{EmbeddedServer, EmbeddedServerConfig, SessionsConfig};
use websvc_store::{Store, TeamChange};
use websvc_testkit::{Page, TestWeb, skip};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use runner::PageEvaluator;

const TEA: &str = "<!DOCTYPE html><title>Tea</title><main><h1>Tea</h1><p>Water of eighty degrees.</p></main>";
/// The time limit of requests, for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A service with a browser and two teams, of which the first one has 50 credits.
struct SessionTest {
    directory: TempDir,
    web: TestWeb,
    store: Store,
    address: String,
    key: String,
    other_key: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl SessionTest {
    /// Starts a service with Chromium; skips the test and returns `None` without one.
    async fn start() -> Option<Self> {
        let Some(path) = std::env::var_os("WEBSVC_TEST_CHROMIUM") else {
            skip("WEBSVC_TEST_CHROMIUM is not set (cargo xtask test)");
            return None;
        };
        let web = TestWeb::builder()
            .page("http://tea.test/", Page::html(TEA))
            .page("http://login.test/", Page::html("<title>Login</title><p>Log in."))
            .start()
            .await;
        let directory = tempfile::tempdir().unwrap();
        let credits = TeamChange { credits: Some(Some(50)), ..TeamChange::default() };
        let store = Store::open(directory.path()).unwrap();
        store.set_team("red", &credits).unwrap();
        let mut config = EmbeddedServerConfig::new(directory.path());
        config.guard = web.guard();
        let browser = BrowserConfig {
            path: Some(path.into()),
            start_timeout: Duration::from_secs(60),
            ..BrowserConfig::default()
        };
        config.scrape.browser = Some(Browser::new(browser, web.client()));
        config.browser_sessions = SessionsConfig {
            max_sessions_per_team: 2,
            open_timeout: Duration::from_secs(90),
            runner: Some(Arc::new(PageEvaluator)),
            ..SessionsConfig::default()
        };
        let server = EmbeddedServer::bind(config).await.unwrap();
        let (key, other_key) =
            (server.create_key("red", "a").await.unwrap(), server.create_key("blue", "b").await.unwrap());
        let address = server.url();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            server.run(async move { stopped.await.unwrap_or_default() }).await.unwrap();
        });
        Some(Self { directory, web, store, address, key, other_key, stop, running })
    }

    /// Sends a request of the first team; returns the status and the body.
    async fn send(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        self.send_as(&self.key, method, path, body).await
    }

    async fn send_as(&self, key: &str, method: Method, path: &str, body: Value) -> (u16, Value) {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        self.send_text(key, method, path, text).await
    }

    /// Sends a request with this text as its body, or without one if it is empty.
    async fn send_text(&self, key: &str, method: Method, path: &str, body: String) -> (u16, Value) {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let url = format!("{}{path}", self.address).parse().unwrap();
        let mut request = FetchRequest { method, timeout: TIMEOUT, ..FetchRequest::get(url) };
        request.headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {key}")).unwrap());
        if !body.is_empty() {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = Some(body.into());
        }
        let response = client.fetch(request).await.unwrap();
        (response.status.as_u16(), serde_json::from_slice(&response.body).unwrap_or(Value::Null))
    }

    /// Scrapes a page with these options, and returns the path of its session.
    async fn scrape(&self, url: &str, mut options: Value) -> String {
        options["url"] = url.into();
        let (status, body) = self.send(Method::POST, "/v2/scrape", options).await;
        assert_eq!(status, 200, "{body}");
        format!("/v2/scrape/{}/interact", body["data"]["metadata"]["scrapeId"].as_str().unwrap())
    }

    /// Runs code, and returns the body of the response, whose status must be 200.
    async fn run(&self, path: &str, code: &str) -> Value {
        let (status, body) = self.send(Method::POST, path, json!({ "code": code })).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn result(&self, path: &str, code: &str) -> Value {
        self.run(path, code).await["result"].take()
    }

    async fn create(&self, body: Value) -> Value {
        let (status, body) = self.send(Method::POST, "/v2/browser", body).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Stops the service, and returns its data directory.
    async fn stop(self) -> TempDir {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
        self.directory
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn session_of_a_scrape_keeps_its_page_until_it_is_deleted() {
    let Some(test) = SessionTest::start().await else { return };
    let actions = json!([
        {"type": "executeJavascript", "script": "window.mark = 'left by an action'; window.open('about:blank')"},
        {"type": "screenshot"},
    ]);
    let path = test.scrape("http://tea.test/", json!({ "actions": actions, "waitFor": 1 })).await;
    let (status, body) = test.send(Method::DELETE, &path, Value::Null).await;
    assert_eq!((status, &body["error"]), (404, &json!("Browser session not found.")));
    let first = test.run(&path, "[document.title, window.mark, location.href].join(' ')").await;
    assert_eq!(
        (&first["success"], &first["result"]),
        (&json!(true), &json!("Tea left by an action http://tea.test/"))
    );
    for url in ["cdpUrl", "liveViewUrl", "interactiveLiveViewUrl"] {
        assert!(first[url].as_str().unwrap().contains(first["sessionId"].as_str().unwrap()), "{first}");
    }
    test.run(&path, "document.querySelector('h1').textContent = 'Coffee'").await;
    assert_eq!(test.result(&path, "document.querySelector('h1').textContent").await, "Coffee");
    assert_eq!(test.result(&path, "({a: [1, 'x']})").await, r#"{"a":[1,"x"]}"#);
    let failed = test.run(&path, "throw new Error('no tea')").await;
    assert_eq!((&failed["success"], &failed["exitCode"]), (&json!(false), &json!(1)));
    for field in ["stderr", "error"] {
        assert!(failed[field].as_str().unwrap().contains("no tea"), "{failed}");
    }
    let endless = json!({"code": "await new Promise(() => {})", "timeout": 1});
    let (status, body) = test.send(Method::POST, &path, endless).await;
    assert_eq!((status, &body["killed"], &body["exitCode"]), (200, &json!(true), &json!(124)));
    let forbidden = test.run(&path, "await fetch('http://169.254.169.254/'); 'reached'").await;
    assert_eq!(forbidden["success"], false, "{forbidden}");
    let session = format!("/v2/browser/{}", first["sessionId"].as_str().unwrap());
    let execute = format!("{session}/execute");
    assert_eq!(test.result(&execute, "document.querySelector('h1').textContent").await, "Coffee");
    let (status, body) = test.send(Method::DELETE, &path, Value::Null).await;
    assert_eq!((status, &body["creditsBilled"]), (200, &json!(2)), "{body}");
    assert!(body["sessionDurationMs"].as_u64().unwrap() > 0);
    for (path, code) in [(&path, 410), (&execute, 410)] {
        let (status, body) = test.send(Method::POST, path, json!({"code": "1"})).await;
        assert_eq!((status, &body["code"]), (code, &json!("BROWSER_SESSION_ENDED")), "{body}");
    }
    for path in [&path, &session] {
        let (status, body) = test.send(Method::DELETE, path, Value::Null).await;
        assert_eq!((status, &body["success"], &body["creditsBilled"]), (200, &json!(true), &Value::Null));
    }
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_of_a_scrape_is_found_when_other_scrapes_have_displaced_its_request() {
    let Some(test) = SessionTest::start().await else { return };
    let path = test.scrape("http://tea.test/", json!({})).await;
    let first = test.run(&path, "document.title = 'Coffee'").await;
    let unopened = test.scrape("http://tea.test/", json!({})).await;
    // 64 requests of this size are retained, of all teams together.
    let padding = " ".repeat(256 * 1024 - 100);
    for _ in 0..65 {
        let body = format!("{padding}{}", json!({ "url": "http://tea.test/" }));
        let (status, body) = test.send_text(&test.other_key, Method::POST, "/v2/scrape", body).await;
        assert_eq!(status, 200, "{body}");
    }
    let (status, body) = test.send(Method::POST, &unopened, json!({ "code": "1" })).await;
    assert!(matches!(status, 404 | 409), "it is not displaced: {status} {body}");
    let second = test.run(&path, "document.title").await;
    assert_eq!((&second["result"], &second["sessionId"]), (&json!("Coffee"), &first["sessionId"]));
    let (status, body) = test.send_as(&test.other_key, Method::POST, &path, json!({ "code": "1" })).await;
    assert_eq!((status, &body["error"]), (404, &json!("Job not found.")));
    assert_eq!(test.send(Method::DELETE, &path, Value::Null).await.0, 200);
    let (status, body) = test.send(Method::POST, &path, json!({ "code": "1" })).await;
    assert_eq!((status, &body["code"]), (410, &json!("BROWSER_SESSION_ENDED")), "{body}");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_checked_in_order_before_a_session_starts() {
    let Some(test) = SessionTest::start().await else { return };
    let path = test.scrape("http://tea.test/", json!({})).await;
    let unknown = "/v2/scrape/0193528c-0000-7000-8000-000000000000/interact";
    let code = json!({"code": "1"});
    for (path, body, status, expected) in [
        ("/v2/scrape/7/interact", json!({}), 400, "code or prompt is required"),
        ("/v2/scrape/7/interact", code.clone(), 400, "Invalid job ID format. Job ID must be a valid UUID."),
        (&path, json!({}), 400, "code or prompt is required"),
        (&path, json!({"code": "1", "timeout": 301}), 400, "timeout must be between 1 and 300, not 301"),
        (&path, json!({"code": "x".repeat(100_001)}), 400, "code must have at most 100000 characters"),
        (unknown, code.clone(), 404, "Job not found."),
        (&path, json!({"prompt": "buy tea"}), 501, "Prompts are not available"),
        (&path, json!({"code": "1", "language": "bash"}), 501, "The language bash is not available"),
        ("/v2/browser/7/execute", code.clone(), 400, "Invalid session ID"),
        ("/v2/browser", json!({"ttl": 29}), 400, "ttl must be between 30 and 3600, not 29"),
    ] {
        let (found, response) = test.send(Method::POST, path, body.clone()).await;
        assert_eq!(found, status, "{path} {body} {response}");
        assert!(response["error"].as_str().unwrap().contains(expected), "{path} {response}");
    }
    let foreign = test.send_as(&test.other_key, Method::POST, &path, code.clone()).await;
    assert_eq!(foreign, test.send(Method::POST, unknown, code.clone()).await);
    let lockdown = test.scrape("http://tea.test/", json!({"lockdown": true})).await;
    let (status, response) = test.send(Method::POST, &lockdown, code).await;
    assert_eq!(status, 409, "{response}");
    assert!(response["error"].as_str().unwrap().contains("Replay context is unavailable"), "{response}");
    let sessions = test.send(Method::GET, "/v2/browser", Value::Null).await;
    assert_eq!(sessions.1, json!({"success": true, "sessions": []}), "no session was started");
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_limited_and_private_to_their_team() {
    let Some(test) = SessionTest::start().await else { return };
    let (first, second) =
        tokio::join!(test.create(json!({"tll": 60})), test.create(json!({"ttl": 60, "origin": "x"})));
    assert!(first["warning"].as_str().unwrap().contains("did you mean ttl?"), "{first}");
    assert_eq!(second.get("warning"), None, "{second}");
    // The credits of the whole time to live are held: 22 of 50, so 28 are left.
    for (ttl, status, code) in [(3600, 402, "INSUFFICIENT_CREDITS"), (600, 429, "RATE_LIMITED")] {
        let (found, body) = test.send(Method::POST, "/v2/interact", json!({ "ttl": ttl })).await;
        assert_eq!((found, &body["code"]), (status, &json!(code)), "{body}");
    }
    let execute = format!("/v2/interact/{}/execute", first["id"].as_str().unwrap());
    assert_eq!(test.result(&execute, "location.href").await, "about:blank");
    let failed = test.run(&execute, "throw new Error('x')").await;
    assert_eq!((&failed["success"], &failed["exitCode"]), (&json!(true), &json!(1)));
    assert!(failed["error"].as_str().unwrap().contains("Error: x"));
    let path = format!("/v2/browser/{}", second["id"].as_str().unwrap());
    // A session of another team is like one that does not exist.
    let unknown = "/v2/browser/0193528c-0000-7000-8000-000000000000";
    let unknown_execute = format!("{unknown}/execute");
    for (method, path, unknown, body) in [
        (Method::POST, execute.as_str(), unknown_execute.as_str(), json!({"code": "1"})),
        (Method::DELETE, path.as_str(), unknown, Value::Null),
    ] {
        let foreign = test.send_as(&test.other_key, method.clone(), path, body.clone()).await;
        assert_eq!((foreign.0, &foreign.1["error"]), (404, &json!("Browser session not found.")));
        assert_eq!(foreign, test.send(method, unknown, body).await);
    }
    assert_eq!(test.send(Method::DELETE, &path, Value::Null).await.1["creditsBilled"], 2);
    let list = async |query: &str| {
        let (_, body) = test.send(Method::GET, &format!("/v2/browser{query}"), Value::Null).await;
        let sessions = body["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|session| session["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(list("?status=active").await, [first["id"].clone()]);
    assert_eq!(list("?status=destroyed").await, [second["id"].clone()]);
    assert_eq!(list("").await.len(), 2);
    for status in ["new", ""] {
        let path = format!("/v2/browser?status={status}");
        assert_eq!(test.send(Method::GET, &path, Value::Null).await.0, 400);
    }
    let others = test.send_as(&test.other_key, Method::GET, "/v2/browser", Value::Null).await;
    assert_eq!(others.1["sessions"], json!([]));
    // A shutdown ends the sessions, and records that.
    let (store, id) = (test.store.clone(), first["id"].as_str().unwrap().to_owned());
    let _directory = test.stop().await;
    assert!(store.browser_session(&id).unwrap().unwrap().destroyed_at_ms.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn profile_is_saved_at_the_end_and_has_one_writer() {
    let Some(test) = SessionTest::start().await else { return };
    let profile = json!({"profile": {"name": "shop"}});
    let path = test.scrape("http://login.test/", profile.clone()).await;
    test.run(&path, "localStorage.setItem('user', 'Anna'); document.cookie = 'a=1; max-age=1000'").await;
    let (status, body) = test.send(Method::POST, "/v2/browser", profile.clone()).await;
    assert_eq!((status, &body["code"]), (409, &json!("PROFILE_LOCKED")), "{body}");
    let reader = test.create(json!({"profile": {"name": "shop", "saveChanges": false}})).await;
    let reader = format!("/v2/browser/{}", reader["id"].as_str().unwrap());
    assert_eq!(test.send(Method::DELETE, &reader, Value::Null).await.0, 200);
    assert_eq!(test.send(Method::DELETE, &path, Value::Null).await.0, 200);
    let again = test.scrape("http://login.test/", profile).await;
    let found = test.result(&again, "[localStorage.getItem('user'), document.cookie].join()").await;
    assert_eq!(found, "Anna,a=1");
    assert!(test.web.count("http://login.test/") > 0);
    test.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_that_starts_is_not_taken_for_one_that_has_ended() {
    let Some(test) = SessionTest::start().await else { return };
    let ended = async {
        let id = loop {
            let (_, body) = test.send(Method::GET, "/v2/browser", Value::Null).await;
            if let Some(id) = body["sessions"][0]["id"].as_str() {
                break id.to_owned();
            }
        };
        loop {
            let (status, body) = test.send(Method::DELETE, &format!("/v2/browser/{id}"), Value::Null).await;
            if status == 200 {
                // An end of a session that ran, which is charged.
                assert_eq!(body["creditsBilled"], 2, "{body}");
                return id;
            }
            assert_eq!((status, &body["code"]), (503, &json!("BROWSER_UNAVAILABLE")), "{body}");
            assert!(body["error"].as_str().unwrap().contains("the session is starting"), "{body}");
        }
    };
    let (created, ended) = tokio::join!(test.create(json!({})), ended);
    assert_eq!(created["id"], ended);
    test.stop().await;
}
