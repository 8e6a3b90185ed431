//! Tests of the MCP tools for agent runs: a language model lets another one collect data.

use serde_json::{Value, json};

use super::{AGENT, AgentTest, TEA, price, price_schema, wait_for_end};
use crate::harness::{Service, tea_world};
use crate::monitors::tools::{call, fail, send};

/// Returns the names of the tools for agent runs that a service lists.
async fn listed(service: &Service) -> Vec<String> {
    let tools = send(service, "tools/list", json!({})).await["tools"].clone();
    let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with("agent") || name.starts_with("extract")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn model_starts_a_run_and_reads_its_data() {
    let test = AgentTest::new().await;
    assert_eq!(listed(&test.service).await, ["extract", "extract_status", "agent", "agent_status"]);
    let arguments = json!({
        "prompt": "What does sencha cost?", "urls": [TEA], "schema": price_schema(), "maxCredits": 50,
        "strictConstrainToURLs": true, "effort": "low",
    });
    let started = call(&test.service, "agent", arguments).await;
    let id = started["id"].as_str().unwrap();
    wait_for_end(&test.service, &format!("{AGENT}/{id}")).await;
    let ended = call(&test.service, "agent_status", json!({ "id": id })).await;
    assert_eq!((&ended["status"], &ended["data"]), (&json!("completed"), &price()), "{ended}");
    let list = test.service.get(AGENT).await.body;
    assert_eq!(list["agents"][0]["origin"], "mcp", "{list}");
    let follow = json!({ "prompt": "And now?", "threadId": started["threadId"], "origin": "other" });
    assert_eq!(call(&test.service, "agent", follow).await["threadTurn"], 2);
    assert_eq!(test.service.get(AGENT).await.body["agents"][0]["origin"], "other");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_call_is_a_text_that_names_value_and_rule() {
    let mut test = AgentTest::new().await;
    for (name, arguments, parts) in [
        ("agent", json!({}), ["prompt", ""]),
        ("agent", json!({ "prompt": "x", "maxCredits": 0 }), ["/maxCredits", "0"]),
        ("agent", json!({ "prompt": "x", "schema": { "type": "objekt" } }), ["Invalid JSON schema", ""]),
        ("agent", json!({ "prompt": "x", "depth": 3 }), ["/depth", ""]),
        ("agent_status", json!({ "run": "7" }), ["agent_status", "`run`"]),
        ("agent_status", json!({ "id": "7" }), ["Invalid agent job ID", ""]),
    ] {
        let text = fail(&test.service, name, arguments).await;
        assert!(parts.iter().all(|part| text.contains(part)), "{name}: {text}");
    }
    let started = call(&test.service, "agent", json!({ "prompt": "x", "urls": [TEA] })).await;
    test.site.succeed(&["teams", "set", "others"]);
    for (options, expected) in [
        (["keys", "create", "--scope", "search"], "scope \"agent\""),
        (["keys", "create", "--team", "others"], "Agent job not found"),
    ] {
        test.service.key = test.site.succeed(&options).trim().to_owned();
        let text = fail(&test.service, "agent_status", json!({ "id": started["id"] })).await;
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn service_without_a_model_lists_no_tools_for_runs() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    assert_eq!(listed(&service).await, Vec::<String>::new());
    let refused: Value = fail(&service, "agent", json!({ "prompt": "x" })).await.into();
    assert!(refused.as_str().unwrap().contains("[llm]"), "{refused}");
}
