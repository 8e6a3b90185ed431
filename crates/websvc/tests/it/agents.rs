//! Tests of agent runs: methods, paths and queries of the requests, their number, and the wait for the end of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use websvc::types::ErrorCode;
use websvc::types::agent::{AgentEventDetail, AgentRequest, AgentStatus};
use websvc_testkit::{Page, TestWeb};

use crate::support;

const AGENT: &str = "http://127.0.0.1/v2/agent";
const ID: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

fn ok(body: &Value) -> Page {
    support::json(200, &body.to_string())
}

fn status(status: &str) -> Page {
    ok(&json!({
        "success": true, "id": ID, "status": status, "data": { "euros": 12 }, "expiresAt": "x", "threadId": "t",
        "threadTurn": 1, "mode": "extract", "creditsUsed": 3, "stopReason": "succeeded",
    }))
}

fn list() -> Page {
    let run = json!({
        "id": ID, "createdAt": "x", "targetHint": "x", "origin": "api", "status": "completed",
        "settings": { "hidden": false, "starred": false }, "options": { "prompt": "What does tea cost?", "model": "spark-1-pro" },
    });
    ok(&json!({ "success": true, "agents": [run], "next": "http://127.0.0.1/v2/agent?before=7" }))
}

fn trace() -> Page {
    let event = json!({
        "schemaVersion": 1, "eventId": "e", "runId": ID, "occurredAt": "x", "producerSequence": 1,
        "agent": { "id": ID, "role": "orchestrator", "name": "agent" },
        "type": "tool_call.started", "toolCallId": "call-1", "toolName": "scrape", "parameters": { "url": "http://a.test/" },
    });
    ok(&json!({ "success": true, "id": ID, "events": [event] }))
}

#[tokio::test]
async fn calls_have_their_methods_paths_and_queries() {
    let thread = json!({ "id": "t", "createdAt": "x", "updatedAt": "x", "status": "idle", "runs": [] });
    let world = TestWeb::builder()
        .page_with(AGENT, |request| match request.method.as_str() {
            "POST" => ok(&json!({ "success": true, "id": ID, "threadId": "t", "threadTurn": 1 })),
            _ => list(),
        })
        .page(&format!("{AGENT}/{ID}"), ok(&json!({ "success": true })))
        .page(&format!("{AGENT}/{ID}/trace"), trace())
        .page(
            &format!("{AGENT}/{ID}/snapshots/data-1"),
            ok(&json!({ "success": true, "id": ID, "snapshotId": "data-1", "snapshot": "{}" })),
        )
        .page(&format!("{AGENT}/threads/t"), ok(&json!({ "success": true, "thread": thread })))
        .start()
        .await;
    let client = support::client(&world);
    let request = AgentRequest { max_credits: Some(9), ..AgentRequest::new("What does tea cost?") };
    assert_eq!(client.start_agent(&request).await.unwrap().id, ID);
    assert_eq!(client.agents(None).await.unwrap().agents[0].status, AgentStatus::Completed);
    client.agents(Some(7)).await.unwrap();
    let events = client.agent_trace(ID).await.unwrap().events;
    assert!(
        matches!(&events[0].detail, AgentEventDetail::ToolCallStarted { tool_name, .. } if tool_name == "scrape")
    );
    assert_eq!(client.agent_snapshot(ID, "data-1").await.unwrap().snapshot, "{}");
    assert_eq!(client.agent_thread("t").await.unwrap().thread.id, "t");
    client.cancel_agent(ID).await.unwrap();
    let base = format!("{}/v2/agent", support::base(&world));
    let sent: Vec<(String, String, Value)> = world
        .requests()
        .into_iter()
        .map(|request| {
            let path = request.url.strip_prefix(&base).unwrap_or(&request.url).to_owned();
            (request.method.to_string(), path, serde_json::from_slice(&request.body).unwrap_or_default())
        })
        .collect();
    let expected = [
        ("POST", String::new(), json!({ "prompt": "What does tea cost?", "maxCredits": 9 })),
        ("GET", String::new(), Value::Null),
        ("GET", "?before=7".to_owned(), Value::Null),
        ("GET", format!("/{ID}/trace"), Value::Null),
        ("GET", format!("/{ID}/snapshots/data-1"), Value::Null),
        ("GET", "/threads/t?includeData=true".to_owned(), Value::Null),
        ("DELETE", format!("/{ID}"), Value::Null),
    ];
    assert_eq!(sent, expected.map(|(method, path, body)| (method.to_owned(), path, body)));
}

#[tokio::test]
async fn wait_ends_with_the_run() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let world = TestWeb::builder()
        .page_with(&format!("{AGENT}/{ID}"), move |_| match counted.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => status("processing"),
            _ => status("completed"),
        })
        .start()
        .await;
    let run = support::client(&world).wait_for_agent(ID, Duration::from_millis(1)).await.unwrap();
    assert_eq!((run.status, run.data), (AgentStatus::Completed, Some(json!({ "euros": 12 }))));
    assert_eq!(reads.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn start_is_not_repeated_after_a_503_and_errors_have_their_codes() {
    let missing = json!({ "success": false, "error": "no model", "code": "LLM_NOT_CONFIGURED" }).to_string();
    let world = TestWeb::builder()
        .page(AGENT, support::error_response(503))
        .page(&format!("{AGENT}/{ID}"), support::json(501, &missing))
        .start()
        .await;
    let client = support::client(&world);
    assert!(client.start_agent(&AgentRequest::new("x")).await.is_err());
    assert_eq!(world.requests().len(), 1, "a second request could start a second run");
    let error = client.agent_status(ID).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::LlmNotConfigured));
}
