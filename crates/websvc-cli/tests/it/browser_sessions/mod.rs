//! Browser sessions of the program (operations.md, acceptance list 2): their answers, their URLs, their end, and the end of
//! the program.

mod acceptance;
pub(crate) mod cdp;
mod code;
mod command;
mod downloads;
mod egress;
mod end;
mod interpreters;
pub(crate) mod live;
mod live_page;
mod metrics;
mod prompt;
mod recipes;
mod tools;

use std::path::Path;

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::browser::{path_or_skip, serve_command};
use crate::harness::{KEY, Response, Service, Site};

const SESSIONS: &str = "/v2/browser";

/// A service with Chromium, and the site whose pages it reaches.
struct SessionTest {
    world: TestWeb,
    site: Site,
    service: Service,
}

impl SessionTest {
    async fn start() -> Option<Self> {
        Self::start_with(TestWeb::builder()).await
    }

    /// Does the same, with more pages.
    async fn start_with(world: TestWebBuilder) -> Option<Self> {
        let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
        let world = world
            .page("http://click.test/", Page::html(live::PAGE))
            .page("http://tea.test/", Page::html("<!DOCTYPE html><title>Tea</title><h1>Tea</h1>"));
        Some(Self::start_in(world, &chromium).await)
    }

    /// Starts a service in this world.
    async fn start_in(world: TestWebBuilder, chromium: &Path) -> Self {
        let world = world.start().await;
        let site = Site::new(&world);
        let mut command = serve_command(&site, chromium);
        command.env("WEBSVC_LOG", "info,websvc_server=debug,websvc_session=debug,websvc_browser=debug");
        let service = Service::start_logging(&mut command, &site.data_dir().join("log.txt"));
        Self { world, site, service }
    }

    async fn create(&self, body: Value) -> Value {
        let response = self.service.post(SESSIONS, body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        response.body
    }

    /// Runs code in a session, and returns the body of the response.
    async fn execute(&self, session: &Value, language: &str, code: &str) -> Value {
        let body = json!({"code": code, "language": language, "timeout": 60});
        let response = self.service.post(&format!("{}/execute", path(session)), body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        response.body
    }

    async fn delete(&self, session: &Value) -> Response {
        self.service.send(Method::DELETE, &path(session), &[], String::new()).await
    }

    /// Returns the session in the list of all sessions.
    async fn listed(&self, session: &Value) -> Value {
        let list = self.service.get(SESSIONS).await.body;
        let sessions = list["sessions"].as_array().unwrap().clone();
        sessions.into_iter().find(|listed| listed["id"] == session["id"]).unwrap()
    }
}

fn path(session: &Value) -> String {
    format!("{SESSIONS}/{}", session["id"].as_str().unwrap())
}

/// Returns the path and the query of a URL of the service.
fn path_of(service: &Service, url: &Value) -> String {
    let url = url.as_str().unwrap();
    let rest = url.split_once("://").unwrap().1;
    let host = service.address.split_once("://").unwrap().1;
    rest.strip_prefix(host).unwrap_or_else(|| panic!("{url} is not at {host}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn created_session_has_urls_under_both_prefixes() {
    let Some(test) = SessionTest::start().await else { return };
    for prefix in [SESSIONS, "/v2/interact"] {
        let created = test.service.post(prefix, "").await;
        assert_eq!(created.status, 200, "{}", created.body);
        let session = created.body;
        let mut names: Vec<&str> = session.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["cdpUrl", "expiresAt", "id", "interactiveLiveViewUrl", "liveViewUrl", "success"]);
        let listed = test.listed(&session).await;
        let ms = |time: &Value| time.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
        assert_eq!(ms(&session["expiresAt"]) - ms(&listed["createdAt"]), 600_000);
        assert_eq!((&listed["status"], &listed["streamWebView"]), (&json!("active"), &json!(true)));
        for url in ["cdpUrl", "liveViewUrl", "interactiveLiveViewUrl"] {
            assert_eq!(listed[url], session[url]);
            assert!(!session[url].as_str().unwrap().contains(KEY));
        }
        assert!(session["cdpUrl"].as_str().unwrap().starts_with("ws://127.0.0.1:"), "{session}");
        let page = test.service.text(&path_of(&test.service, &session["liveViewUrl"])).await;
        assert!(page.contains("<title>Browser session</title>") && !page.contains("token"), "{page}");
        let ended = test.delete(&session).await;
        assert_eq!((ended.status.as_u16(), &ended.body["creditsBilled"]), (200, &json!(2)));
        let listed = test.listed(&session).await;
        assert_eq!((&listed["status"], &listed["cdpUrl"]), (&json!("destroyed"), &json!("")));
        let view = path_of(&test.service, &session["liveViewUrl"]);
        assert_eq!(test.service.get(&view).await.status, 410);
        let execute = test.service.post(&format!("{}/execute", path(&session)), r#"{"code": "1"}"#).await;
        assert_eq!(execute.status, 410);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn live_view_needs_no_key_and_ends_with_its_session() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let fetch = async |url: &Value| {
        let path = path_of(&test.service, url);
        test.service.send(Method::GET, &path, &[("authorization", "")], String::new()).await
    };
    for url in ["liveViewUrl", "interactiveLiveViewUrl"] {
        let page = fetch(&session[url]).await;
        assert_eq!(page.status, 200);
        assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("frame-ancestors *") && policy.contains("default-src 'none'"), "{policy}");
    }
    assert_eq!(test.delete(&session).await.status, 200);
    for url in ["liveViewUrl", "interactiveLiveViewUrl"] {
        let ended = fetch(&session[url]).await;
        assert_eq!((ended.status.as_u16(), &ended.body["code"]), (410, &json!("BROWSER_SESSION_ENDED")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn session_without_a_browser_or_a_program_for_its_language_is_refused() {
    let world = TestWeb::builder().start().await;
    let service = Service::for_world(&world);
    let refused = service.post(SESSIONS, "{}").await;
    assert_eq!((refused.status.as_u16(), &refused.body["code"]), (503, &json!("BROWSER_UNAVAILABLE")));
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let execute = format!("{}/execute", path(&session));
    let body = json!({"code": "1", "language": "python"}).to_string();
    let refused = test.service.post(&execute, body).await;
    assert_eq!(refused.status, 501, "{}", refused.body);
    assert_eq!(refused.body["code"], "INTERACT_LANGUAGE_UNAVAILABLE");
    assert!(refused.body["error"].as_str().unwrap().contains("python"));
    let replay = test.service.get(&format!("{}/replay", path(&session))).await;
    assert_eq!(replay.status, 404, "{}", replay.body);
}
