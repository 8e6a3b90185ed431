//! Credits of teams with few of them: what extractions hold while they work, and what they are charged.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, until};

use super::{COFFEE, EXTRACT, ExtractTest, TEA, reading, serve};
use crate::agent::check_free_credits;

#[tokio::test(flavor = "multi_thread")]
async fn team_without_enough_credits_is_refused_or_not_charged() {
    let test = ExtractTest::with_credits(reading, Some("6")).await;
    let (_, status) = test.run(json!({})).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    let error = status["error"].as_str().unwrap();
    for text in ["credits of the team ran out", "needs 5 more", "has 1 left"] {
        assert!(error.contains(text), "{error}");
    }
    let (_, status) = test.run(json!({ "urls": [TEA] })).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("completed"), &json!(5)), "{status}");
    let refused = test.try_start(EXTRACT, json!({})).await;
    assert_eq!(refused.status.as_u16(), 402, "{}", refused.body);
    let error = refused.body["error"].as_str().unwrap();
    assert!(error.contains("at least 5 credits, and the team has 1 left"), "{error}");
}

/// Never answers an extraction whose prompt says so.
fn patient(body: &Value) -> Page {
    let is_patient = FakeModel::prompt_text(body).contains("Take your time.");
    reading(body).delay(Duration::from_secs(if is_patient { 600 } else { 0 }))
}

#[tokio::test(flavor = "multi_thread")]
async fn small_team_works_while_its_extraction_does() {
    let mut test = ExtractTest::with_credits(patient, Some("60")).await;
    let fields = json!({ "urls": [TEA], "prompt": "The drinks. Take your time." });
    let started = test.try_start(EXTRACT, fields).await.body;
    let is_asked =
        || test.world.requests().iter().any(|request| request.url.starts_with("http://model.test/"));
    until("the model is asked", is_asked).await;
    // It holds the price of a page with data.
    check_free_credits(&test.service, 45).await;
    let (_, second) = test.run(json!({ "urls": [COFFEE] })).await;
    assert_eq!((&second["status"], &second["creditsUsed"]), (&json!("completed"), &json!(5)), "{second}");
    test.service.kill();
    test.service.end();
    test.service = serve(&test.site);
    let status = test.wait_for_end(EXTRACT, &started).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    check_free_credits(&test.service, 45).await;
    let usage = test.service.get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], 55, "{usage}");
}
