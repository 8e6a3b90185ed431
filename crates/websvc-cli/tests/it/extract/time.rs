//! The time of extractions: pages, models and webhooks that do not respond.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page};

use super::work::received;
use super::{COFFEE, ExtractTest, HOOK, TEA, drinks, reading};
use crate::harness::assert_fields;

/// A page that never responds.
pub(super) const SLOW: &str = "http://shop.test/slow";

/// A webhook that never responds.
pub(super) const SLOW_HOOK: &str = "http://hook.test/slow";

/// The time of an extraction that reads a page, in milliseconds.
const TIME_FOR_A_PAGE_MS: u64 = 10_000;

/// Returns whether a reason says that a page or the model did not respond in time.
fn says_timeout(reason: &str) -> bool {
    ["the time of the extraction is over", "timed out", "no response within"]
        .iter()
        .any(|words| reason.contains(words))
}

/// Reads the drinks of a page, but never those of the tea.
fn hanging_on_tea(body: &Value) -> Page {
    let is_tea = FakeModel::prompt_text(body).contains("A tin of sencha");
    if is_tea { reading(body).delay(Duration::from_secs(600)) } else { reading(body) }
}

/// Checks the end of an extraction whose only page did not respond in time.
async fn check_timeout(test: &ExtractTest, page: &str) {
    let webhook = json!({ "url": HOOK, "events": ["completed", "failed"] });
    let fields = json!({ "urls": [page], "timeout": 1_500, "webhook": webhook, "urlTrace": true });
    let (_, status) = test.run(fields).await;
    assert_fields(&status, &json!({ "success": false, "status": "failed", "creditsUsed": 0, "data": null }));
    let error = status["error"].as_str().unwrap();
    // The time of the page and that of the model end together. The model fails first if it is asked.
    let reason = "the language model failed: the time of the extraction is over";
    let is_model = page == TEA && error == format!("no page has data: {page}: {reason}");
    let is_page = error.starts_with(&format!("no page could be read: {page}: "));
    assert!((is_model || is_page) && says_timeout(error), "{error}");
    let page = &status["urlTrace"][0];
    assert_eq!(page["status"], "error", "{status}");
    assert!(says_timeout(page["error"].as_str().unwrap()), "{status}");
    let event = received(test, 1).await.remove(0);
    let expected = json!({
        "type": "extract.failed", "success": false, "data": [], "error": status["error"],
    });
    assert_fields(&event, &expected);
}

/// Checks the end of an extraction of which one page did not respond in time.
async fn check_partial(test: &ExtractTest, page: &str) {
    let (_, status) = test.run(json!({ "urls": [COFFEE, page], "timeout": TIME_FOR_A_PAGE_MS })).await;
    assert_eq!(
        (&status["status"], &status["data"]["shop"]),
        (&json!("completed"), &json!("Leaf")),
        "{status}"
    );
    // The data of one page, that page, and the other one if it was read before the model hung.
    let credits = status["creditsUsed"].as_u64().unwrap();
    assert!(credits == 5 || credits == 6 && page == TEA, "{status}");
    let warning = status["warning"].as_str().unwrap();
    assert!(warning.contains(page) && says_timeout(warning), "{warning}");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_that_hangs_ends_with_the_time_of_the_extraction() {
    let test = ExtractTest::new().await;
    check_timeout(&test, SLOW).await;
    check_partial(&test, SLOW).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn model_that_hangs_ends_with_the_time_of_the_extraction() {
    let test = ExtractTest::with(hanging_on_tea).await;
    check_timeout(&test, TEA).await;
    check_partial(&test, TEA).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn correction_that_hangs_fails_the_extraction() {
    let test = ExtractTest::with(|body| {
        let wrong = FakeModel::json(&json!({ "drinks": "sencha" }));
        let is_correction = FakeModel::prompt_text(body).contains("it violates the schema");
        if is_correction { wrong.delay(Duration::from_secs(600)) } else { wrong }
    })
    .await;
    let (_, status) = test.run(json!({ "urls": [TEA], "timeout": TIME_FOR_A_PAGE_MS })).await;
    assert_fields(&status, &json!({ "status": "failed", "creditsUsed": 0, "data": null }));
    let error = status["error"].as_str().unwrap();
    assert!(
        error.contains("does not follow the schema") && error.ends_with("time of the extraction is over"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_that_hangs_does_not_delay_an_extraction() {
    let test = ExtractTest::new().await;
    let (_, status) = test.run(json!({ "webhook": SLOW_HOOK })).await;
    assert_eq!((&status["status"], &status["data"]), (&json!("completed"), &drinks()), "{status}");
    test.world.wait_for_request(SLOW_HOOK).await;
    // It does not delay those of other extractions either.
    test.run(json!({ "webhook": { "url": HOOK, "events": ["completed"] } })).await;
    received(&test, 1).await;
}
