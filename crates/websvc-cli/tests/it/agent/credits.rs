//! Credits of teams with few of them: what runs hold while they work, and what they are charged.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page};

use super::{
    AgentTest, COFFEE, check_free_credits, collecting, decision, hanging, price, serve, step, wait_for_data,
    wait_for_end, wait_until,
};
use crate::harness::{Response, assert_fields};

/// Never ends a run whose prompt says so.
fn patient(body: &Value) -> Page {
    if FakeModel::prompt_text(body).contains("Take your time.") { hanging(body) } else { collecting(body) }
}

/// Starts a run that has data, and does not end.
async fn start_patient(test: &AgentTest) -> String {
    let path = test.start(json!({ "prompt": "What does sencha cost? Take your time." })).await;
    wait_for_data(&test.service, &path).await;
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn small_team_works_while_its_run_does() {
    let test = AgentTest::with_credits(patient, &[], Some("60")).await;
    let first = start_patient(&test).await;
    // The run may cost 2500 credits, and holds 20.
    check_free_credits(&test.service, 32).await;
    let body = json!({ "url": COFFEE, "formats": ["markdown"] });
    let Response { status, body, .. } = test.service.post("/v2/scrape", body.to_string()).await;
    assert_eq!((status, &body["data"]["metadata"]["creditsUsed"]), (StatusCode::OK, &json!(1)), "{body}");
    let (_, second) = test.run(json!({})).await;
    assert_eq!((&second["status"], &second["creditsUsed"]), (&json!("completed"), &json!(3)), "{second}");
    assert_eq!(test.service.get(&first).await.body["status"], "processing");
    test.cancel(&first).await;
    let status = wait_for_end(&test.service, &first).await;
    assert_eq!((&status["stopReason"], &status["creditsUsed"]), (&json!("cancelled"), &json!(0)), "{status}");
    check_free_credits(&test.service, 46).await;
    assert_eq!(test.remaining_credits().await, 56);
}

/// Collects the page, and then searches it until the credits are used.
fn spending(body: &Value) -> Page {
    match step(body) {
        Some(1) => decision("collect", "p1", ""),
        Some(number) => decision("find", "", &format!("word {number}")),
        None => FakeModel::json(&price()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_that_empties_the_team_has_what_it_collected_and_costs_nothing() {
    let test = AgentTest::with_credits(spending, &[], Some("5")).await;
    let (path, status) = test.run(json!({})).await;
    let expected = json!({
        "status": "failed", "stopReason": "credit_limit_reached", "partial": price(),
        "partialSchemaValid": true, "data": null, "creditsUsed": 0,
    });
    assert_fields(&status, &expected);
    let error = status["error"].as_str().unwrap();
    for text in ["credits of the team ran out", "needs 1 more", "has 0 left", "start it again"] {
        assert!(error.contains(text), "{error}");
    }
    let events = test.trace(&path).await;
    assert_eq!(events.last().unwrap()["outcome"], "credit_limit_reached");
    let error = &events.iter().find(|event| event["type"] == "error.occurred").unwrap()["error"];
    assert_eq!((&error["code"], &error["source"]), (&json!("credit_limit_reached"), &json!("billing")));
    check_free_credits(&test.service, 3).await;
    assert_eq!(test.remaining_credits().await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_do_not_overdraw_the_team() {
    let test = AgentTest::with_credits(collecting, &[], Some("5")).await;
    let (first, second) = tokio::join!(test.run(json!({})), test.run(json!({})));
    let mut charged = 0;
    for (_, status) in [first, second] {
        if status["status"] == "completed" {
            assert_eq!(status["creditsUsed"], 3, "{status}");
            charged += 3;
        } else {
            assert_eq!(status["creditsUsed"], 0, "{status}");
            assert!(status["error"].as_str().unwrap().contains("credits of the team"), "{status}");
        }
    }
    assert!(charged <= 3, "the team has credits for one run");
    let expected = 5 - charged;
    wait_until(&test.service, "/v2/team/credit-usage", |usage| usage["data"]["remainingCredits"] == expected)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_of_a_killed_run_are_free_again() {
    let mut test = AgentTest::with_credits(hanging, &[], Some("60")).await;
    let path = test.start(json!({})).await;
    wait_for_data(&test.service, &path).await;
    check_free_credits(&test.service, 32).await;
    test.service.kill();
    test.service.end();
    test.service = serve(&test.site, &[]);
    let status = wait_for_end(&test.service, &path).await;
    assert_fields(&status, &json!({ "stopReason": "interrupted", "creditsUsed": 0 }));
    check_free_credits(&test.service, 50).await;
    assert_eq!(test.remaining_credits().await, 60);
    let deleted = test.service.send(Method::DELETE, &path, &[], "").await;
    assert_eq!(deleted.status, StatusCode::CONFLICT, "{}", deleted.body);
}
