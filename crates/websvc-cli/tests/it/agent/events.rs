//! Traces, snapshots and webhooks of agent runs.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, until};

use super::{AGENT, AgentTest, HOOK, TEA, decision, inventing, price, step, types};
use crate::harness::assert_fields;

#[tokio::test(flavor = "multi_thread")]
async fn trace_has_the_work_and_the_sources_of_the_data() {
    let test = AgentTest::new().await;
    let (path, status) = test.run(json!({})).await;
    let events = test.trace(&path).await;
    let types = types(&events);
    assert_eq!(
        (types[0], types[1], *types.last().unwrap()),
        ("run.started", "agent.started", "run.finished")
    );
    assert_eq!(events.last().unwrap()["outcome"], "succeeded");
    let find =
        |name: &str| events.iter().find(|event| event["type"] == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(
        (&find("tool_call.started")["toolName"], &find("tool_call.started")["parameters"]),
        (&json!("scrape"), &json!({ "url": TEA }))
    );
    assert_eq!(find("tool_call.finished")["result"]["success"], true);
    assert_eq!(find("reasoning.summary")["text"], "It is next.");
    for (number, event) in (1..).zip(&events) {
        assert_fields(event, &json!({ "schemaVersion": 1, "producerSequence": number }));
    }
    let artifacts: Vec<&Value> = events.iter().filter(|event| event["type"] == "artifact.updated").collect();
    let snapshot = async |id: &str| -> Value {
        let artifact = artifacts.iter().rev().find(|event| event["artifact"]["artifactId"] == id).unwrap();
        let name = artifact["artifact"]["snapshotId"].as_str().unwrap();
        let body = test.service.get(&format!("{path}/snapshots/{name}")).await.body;
        assert_eq!(body["snapshotId"], name, "{body}");
        serde_json::from_str(body["snapshot"].as_str().unwrap()).unwrap()
    };
    assert_eq!(snapshot("data").await, price());
    let sources = snapshot("sources").await;
    let euros = sources.as_array().unwrap().iter().find(|source| source["pointer"] == "/euros").unwrap();
    assert_eq!(euros["url"], TEA, "{sources}");
    assert!(euros["passage"].as_str().unwrap().contains("12 euros"), "{sources}");
    let trace = test.service.get(&format!("{path}/trace?liveView=true")).await.body;
    assert_fields(&trace, &json!({ "creditsUsed": status["creditsUsed"], "activeBrowserSessions": [] }));
    assert_eq!(test.service.get(&format!("{path}/snapshots/data-99")).await.status, 404);
    let wrong = test.service.get(&format!("{path}/trace?liveView=1")).await;
    assert_eq!((wrong.status.as_u16(), &wrong.body["details"][0]["path"]), (400, &json!("/liveView")));
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_gets_the_events_in_order() {
    let test = AgentTest::new().await;
    let webhook = json!({ "url": HOOK, "headers": { "X-Mine": "1" }, "metadata": { "for": "tea" } });
    let (path, status) = test.run(json!({ "webhook": webhook })).await;
    let events = received(&test, 3).await;
    let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(names, ["agent.started", "agent.action", "agent.completed"]);
    for event in &events {
        assert_eq!((&event["success"], &event["metadata"]["for"]), (&json!(true), &json!("tea")), "{event}");
        assert!(path.ends_with(event["id"].as_str().unwrap()), "{event}");
    }
    assert_eq!(events[0]["data"], json!([]));
    let action = &events[1]["data"][0];
    assert_eq!((&action["action"], &action["input"]), (&json!("scrape"), &json!({ "url": TEA })), "{action}");
    assert!(action["creditsUsed"].is_u64(), "{action}");
    assert_eq!(events[2]["data"], json!([{ "creditsUsed": status["creditsUsed"], "data": price() }]));
    let requests = test.world.requests();
    let signed = requests.iter().filter(|request| request.url == HOOK);
    assert!(signed.into_iter().all(|request| {
        request.header("x-firecrawl-signature").is_some_and(|value| value.starts_with("sha256="))
            && request.header("x-mine") == Some("1")
    }));
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_gets_only_the_events_it_asks_for() {
    let test = AgentTest::with(inventing, &[("WEBSVC__AGENT__MAX_STEPS", "2")]).await;
    let webhook = json!({ "url": HOOK, "events": ["failed"] });
    let (_, status) = test.run(json!({ "webhook": webhook })).await;
    assert_eq!(status["stopReason"], "step_limit_reached", "{status}");
    let events = received(&test, 1).await;
    assert_eq!((&events[0]["type"], &events[0]["success"]), (&json!("agent.failed"), &json!(false)));
    assert_eq!((&events[0]["data"], &events[0]["error"]), (&json!([{ "creditsUsed": 0 }]), &status["error"]));
}

/// Opens the URL of the prompt, and then works as the other models do.
fn opening(body: &Value) -> Page {
    match step(body) {
        Some(1) => decision("open", "r1", ""),
        Some(2) => decision("collect", "p1", ""),
        Some(_) => decision("done", "", ""),
        None => FakeModel::json(&price()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn password_of_a_url_in_the_prompt_is_sent_to_its_host_only() {
    let test = AgentTest::with(opening, &[]).await;
    let prompt = "The price at http://ann:hunter2@shop.test/tea, please";
    let webhook = json!({ "url": HOOK });
    let (path, status) = test.run(json!({ "prompt": prompt, "urls": null, "webhook": webhook })).await;
    assert_eq!((&status["status"], &status["data"]), (&json!("completed"), &price()), "{status}");
    received(&test, 3).await;
    let requests = test.world.requests();
    let page = requests.iter().find(|request| request.url == TEA).unwrap();
    assert_eq!(page.header("authorization"), Some("Basic YW5uOmh1bnRlcjI="));
    for request in &requests {
        let body = String::from_utf8_lossy(&request.body);
        assert!(!body.contains("hunter2"), "{}: {body}", request.url);
    }
    let trace = json!(test.trace(&path).await).to_string();
    assert!(trace.contains("http://shop.test/tea") && !trace.contains("hunter2"), "{trace}");
    let list = test.service.get(AGENT).await.body;
    assert_eq!(list["agents"][0]["options"]["prompt"], prompt, "the team sees what it sent");
    let activity = test.service.get("/v2/team/activity").await.body;
    assert!(!activity.to_string().contains("hunter2"), "{activity}");
}

/// Waits for this number of events, and returns those that the receiver got.
async fn received(test: &AgentTest, count: usize) -> Vec<Value> {
    let events = || -> Vec<Value> {
        let requests = test.world.requests().into_iter().filter(|request| request.url == HOOK);
        requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    };
    until("the events have arrived", || events().len() >= count).await;
    let events = events();
    assert_eq!(events.len(), count, "{events:?}");
    events
}
