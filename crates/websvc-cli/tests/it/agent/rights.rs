//! Rights of keys on agent runs.

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{Canary, FakeModel};

use super::{AGENT, AgentTest};
use crate::harness::Response;

#[tokio::test(flavor = "multi_thread")]
async fn run_belongs_to_its_team() {
    let test = AgentTest::new().await;
    let (path, status) = test.run(json!({})).await;
    let thread = status["threadId"].as_str().unwrap();
    let bearer = format!("Bearer {}", test.site.create_key(&["--team", "other"]));
    let headers = [("authorization", bearer.as_str())];
    for path in [
        path.clone(),
        format!("{path}/trace"),
        format!("{path}/snapshots/data-1"),
        format!("{AGENT}/threads/{thread}"),
    ] {
        let Response { status, body, .. } = test.service.send(http::Method::GET, &path, &headers, "").await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}: {body}");
    }
    let cancelled = test.service.send(http::Method::DELETE, &path, &headers, "").await;
    assert_eq!(cancelled.status, StatusCode::NOT_FOUND, "{}", cancelled.body);
    let listed = test.service.send(http::Method::GET, AGENT, &headers, "").await;
    assert_eq!(listed.body["agents"], json!([]), "{}", listed.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn key_needs_the_scope_agent_and_for_pages_in_a_browser_interact() {
    let test = AgentTest::new().await;
    let create = |scope: &str| format!("Bearer {}", test.site.create_key(&["--scope", scope]));
    let body = json!({ "prompt": "x", "allowInteract": true }).to_string();
    for (scope, expected) in [("search", "agent"), ("agent", "interact")] {
        let bearer = create(scope);
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let refused = test.service.send(http::Method::POST, AGENT, &headers, body.clone()).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
        assert!(refused.body["error"].as_str().unwrap().contains(expected), "{}", refused.body);
    }
    let bearer = create("agent");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({ "prompt": "x" }).to_string();
    let started = test.service.send(http::Method::POST, AGENT, &headers, body).await;
    assert_eq!(started.status, StatusCode::OK, "{}", started.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn run_does_not_connect_to_internal_addresses() {
    let canary = Canary::start().await;
    let internal = format!("http://{}/", canary.addr());
    let target = internal.clone();
    let model = move |body: &Value| match super::step(body) {
        Some(1) => super::decision("open", &target, ""),
        Some(2) => super::decision("map", &target, "x"),
        Some(3) => super::decision("crawl", &target, ""),
        Some(4) => super::decision("collect", "p1", ""),
        Some(_) => super::decision("done", "", ""),
        None => FakeModel::json(&super::price()),
    };
    let test = AgentTest::with(model, &[]).await;
    let (path, status) = test.run(json!({ "prompt": format!("Read {internal}") })).await;
    assert_eq!(status["status"], "completed", "{status}");
    let events = test.trace(&path).await;
    let failures = events.iter().filter(|event| event["result"]["success"] == false).count();
    assert_eq!((failures, canary.connections()), (3, 0), "{events:?}");
    let (_, status) = test.run(json!({ "urls": [internal] })).await;
    assert_eq!((&status["status"], canary.connections()), (&json!("failed"), 0), "{status}");
}
