//! Budgets, cancellation, failures and restarts of agent runs.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, until};

use super::{
    AgentTest, TEA, decision, hanging, inventing, price, serve, step, types, wait_for_data, wait_for_end,
    wait_until,
};
use crate::harness::{Response, assert_fields};

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_run_is_a_failed_one_within_seconds() {
    let test = AgentTest::with(hanging, &[]).await;
    let path = test.start(json!({ "webhook": { "url": super::HOOK, "events": ["cancelled"] } })).await;
    wait_for_data(&test.service, &path).await;
    let cancelled = test.cancel(&path).await;
    assert_eq!((cancelled.status, &cancelled.body), (StatusCode::OK, &json!({ "success": true })));
    // The model would respond only after the time limit of the wait.
    let status = wait_for_end(&test.service, &path).await;
    let expected = json!({
        "status": "failed", "stopReason": "cancelled", "creditsUsed": 0, "partial": price(),
    });
    assert_fields(&status, &expected);
    assert!(status["error"].as_str().unwrap().contains("cancelled"), "{status}");
    assert_eq!(status.get("data"), None, "{status}");
    let again = test.cancel(&path).await;
    assert_eq!((again.status.as_u16(), &again.body["code"]), (409, &json!("JOB_ENDED")), "{}", again.body);
    let events = test.trace(&path).await;
    assert!(types(&events).contains(&"run.cancel_requested"), "{events:?}");
    assert_eq!(events.last().unwrap()["outcome"], "cancelled");
    until("the event has arrived", || !test.requested(super::HOOK).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_beyond_its_credits_fails_and_costs_nothing() {
    let test = AgentTest::new().await;
    test.site.succeed(&["teams", "set", "default", "--credits", "100"]);
    let (path, status) = test.run(json!({ "maxCredits": 1 })).await;
    let expected = json!({
        "status": "failed", "creditsUsed": 0, "stopReason": "credit_limit_reached", "data": null,
    });
    assert_fields(&status, &expected);
    assert_eq!(test.trace(&path).await.last().unwrap()["outcome"], "credit_limit_reached");
    let usage = test.service.get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], 100, "{usage}");
    // The positive control: with enough credits, the same run is charged.
    let (_, status) = test.run(json!({ "maxCredits": 3 })).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("completed"), &json!(3)), "{status}");
    let remaining = "/v2/team/credit-usage";
    wait_until(&test.service, remaining, |usage| usage["data"]["remainingCredits"] == 97).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn team_without_credits_cannot_start_a_run() {
    let test = AgentTest::new().await;
    test.site.succeed(&["teams", "set", "default", "--credits", "0"]);
    let refused = async {
        loop {
            let Response { status, body, .. } = test.try_start(json!({})).await;
            if status == StatusCode::PAYMENT_REQUIRED {
                return body;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let body = tokio::time::timeout(super::TIMEOUT, refused).await.expect("the service sees the grant");
    assert_eq!(body["code"], "INSUFFICIENT_CREDITS", "{body}");
    assert!(body["error"].as_str().unwrap().contains("at least 1 credit,"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_of_the_model_ends_the_run() {
    let test = AgentTest::with(|_| FakeModel::bad_request("no such model"), &[]).await;
    let (path, status) = test.run(json!({})).await;
    assert_fields(&status, &json!({ "status": "failed", "stopReason": "model_failed" }));
    let events = test.trace(&path).await;
    let error = &events.iter().find(|event| event["type"] == "error.occurred").unwrap()["error"];
    assert_eq!((&error["code"], &error["source"]), (&json!("internal"), &json!("agent")), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_a_team_hold() {
    let settings = [("WEBSVC__AGENT__CONCURRENCY_PER_TEAM", "1"), ("WEBSVC__AGENT__MAX_OPEN_PER_TEAM", "2")];
    let test = AgentTest::with(hanging, &settings).await;
    let first = test.start(json!({})).await;
    wait_for_data(&test.service, &first).await;
    let second = test.start(json!({ "urls": [super::COFFEE] })).await;
    let third = test.try_start(json!({})).await;
    assert_eq!(third.status, StatusCode::TOO_MANY_REQUESTS, "{}", third.body);
    assert!(third.headers.contains_key("retry-after"));
    assert!(test.trace(&second).await.is_empty(), "it waits for the first one");
    // A run that waits is cancelled at once.
    assert_eq!(test.cancel(&second).await.status, StatusCode::OK);
    let status = wait_for_end(&test.service, &second).await;
    assert_eq!(status["stopReason"], "cancelled", "{status}");
    assert!(!test.requested("http://shop.test/").contains(&super::COFFEE.to_owned()));
    test.cancel(&first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_service_fails_the_run_and_begins_those_that_wait() {
    let settings = [("WEBSVC__AGENT__CONCURRENCY", "1")];
    let mut test = AgentTest::with(hanging, &settings).await;
    test.site.succeed(&["teams", "set", "default", "--credits", "10000"]);
    let interrupted = test.start(json!({})).await;
    wait_for_data(&test.service, &interrupted).await;
    let waiting = test.start(json!({ "prompt": "What does arabica cost?", "urls": [super::COFFEE] })).await;
    test.service.kill();
    test.service.end();
    test.service = serve(&test.site, &settings);
    let status = wait_for_end(&test.service, &interrupted).await;
    let expected = json!({
        "status": "failed", "stopReason": "interrupted", "creditsUsed": 0, "partial": price(),
    });
    assert_fields(&status, &expected);
    assert!(status["error"].as_str().unwrap().contains("restarted"), "{status}");
    let events = test.trace(&interrupted).await;
    assert_eq!(events.last().unwrap()["type"], "run.finished");
    assert_eq!(events.last().unwrap()["producerSequence"], events.len(), "{events:?}");
    wait_for_data(&test.service, &waiting).await;
    assert!(test.requested("http://shop.test/").contains(&super::COFFEE.to_owned()));
    test.cancel(&waiting).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_without_a_model_is_not_implemented() {
    let world = crate::harness::tea_world().await;
    let service = crate::harness::Service::for_world(&world);
    let Response { status, body, .. } = service.post(super::AGENT, r#"{"prompt":"x"}"#).await;
    assert_eq!((status.as_u16(), &body["code"]), (501, &json!("LLM_NOT_CONFIGURED")), "{body}");
    assert!(body["error"].as_str().unwrap().contains("[llm]"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn start_urls_that_cannot_be_read_are_in_the_error() {
    let ending = |body: &Value| match step(body) {
        Some(_) => decision("done", "", ""),
        None => FakeModel::json(&price()),
    };
    let test = AgentTest::with(ending, &[]).await;
    let urls = ["http://ann:hunter2@shop.test/none", "http://missing.test/", "http://10.1.2.3/"];
    let (_, status) = test.run(json!({ "urls": urls })).await;
    assert_eq!((&status["status"], &status["stopReason"]), (&json!("failed"), &json!("refused")), "{status}");
    let error = status["error"].as_str().unwrap();
    for text in [
        "; no page could be read: http://shop.test/none: the page has status 404; http://missing.test/: ",
        "; http://10.1.2.3/: the service may not connect to this address",
    ] {
        assert!(error.contains(text), "{error}");
    }
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_is_answered_with_prose() {
    let talking = |body: &Value| match step(body) {
        Some(_) => decision("done", "", ""),
        None => FakeModel::text("<think>It is on the page.</think>\nA tin costs 12 euros."),
    };
    let test = AgentTest::with(talking, &[]).await;
    let (_, status) = test.run(json!({ "mode": "chat", "schema": null })).await;
    assert_eq!(
        (&status["status"], &status["message"], &status["data"]),
        (&json!("completed"), &json!("A tin costs 12 euros."), &json!({ "answer": "A tin costs 12 euros." })),
        "{status}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn run_ends_at_its_maximum_of_steps() {
    let test = AgentTest::with(inventing, &[("WEBSVC__AGENT__MAX_STEPS", "3")]).await;
    let (_, status) = test.run(json!({ "effort": "high" })).await;
    assert_eq!(status["stopReason"], "step_limit_reached", "{status}");
    assert!(status["error"].as_str().unwrap().contains("3 steps"), "{status}");
    assert_eq!((&status["creditsUsed"], status.get("data")), (&json!(0), None), "{status}");
    assert_eq!(test.requested("http://shop.test/"), [TEA]);
    let metrics = test.service.text("/metrics").await;
    assert!(metrics.contains("websvc_runs_total{status=\"failed\"} 1\n"), "{metrics}");
}
