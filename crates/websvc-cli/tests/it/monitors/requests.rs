//! Requests about monitors: creation, changes, lists and errors.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{HOOK, MONITOR, MonitorTest, TEA};
use crate::harness::{Response, assert_fields};

#[tokio::test(flavor = "multi_thread")]
async fn monitor_has_the_documented_fields() {
    let test = MonitorTest::new().await;
    let created = test
        .try_create(json!({
            "schedule": { "text": "every day at 9:00", "timezone": "Europe/Berlin" },
            "webhook": HOOK,
            "origin": "test",
        }))
        .await;
    assert_eq!(created.status, StatusCode::OK, "{}", created.body);
    let monitor = &created.body["data"];
    assert_eq!(monitor["schedule"], json!({ "cron": "0 9 * * *", "timezone": "Europe/Berlin" }));
    let next: jiff::Timestamp = monitor["nextRunAt"].as_str().unwrap().parse().unwrap();
    assert!(next > jiff::Timestamp::now());
    assert_eq!(monitor["webhook"]["url"], HOOK);
    assert_eq!((&monitor["retentionDays"], &monitor["judgeEnabled"]), (&json!(30), &json!(false)));
    assert_eq!(monitor["estimatedCreditsPerMonth"], 30);
    assert_eq!(monitor["emailRecipientSubscriptions"], json!([]));
    assert!(monitor["targets"][0]["id"].is_string());
    let listed = test.service.get(MONITOR).await.body;
    assert_fields(&listed["data"][0], &json!({ "id": monitor["id"], "emailRecipientSubscriptions": null }));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_monitors_are_rejected_with_field_and_rule() {
    let test = MonitorTest::new().await;
    for (fields, path) in [
        (json!({ "schedule": { "cron": "*/4 * * * *" } }), "/schedule"),
        (json!({ "surprise": 1 }), "/surprise"),
        (json!({ "webhook": "http://127.0.0.1/in" }), "/webhook/url"),
        (
            json!({ "notification": { "slack": { "enabled": true, "webhookUrl": "http://127.0.0.1/in" } } }),
            "/notification/slack/webhookUrl",
        ),
    ] {
        let Response { status, body, .. } = test.try_create(fields.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{fields}: {body}");
        let paths: Vec<&str> = body["details"]
            .as_array()
            .unwrap()
            .iter()
            .map(|detail| detail["path"].as_str().unwrap())
            .collect();
        assert!(paths.iter().any(|found| found.starts_with(path)), "{fields}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn monitors_are_changed_paused_and_deleted() {
    let test = MonitorTest::new().await;
    let monitor = test.create(json!({ "goal": "prices" })).await;
    let empty = test.patch(&monitor, json!({})).await;
    assert_eq!(empty.status, StatusCode::BAD_REQUEST, "{}", empty.body);
    let cleared = test.patch(&monitor, json!({ "goal": null, "name": "Other", "origin": "x" })).await.body;
    assert_eq!((&cleared["data"]["goal"], &cleared["data"]["name"]), (&Value::Null, &json!("Other")));
    let zone = test.patch(&monitor, json!({ "schedule": { "timezone": "Asia/Tokyo" } })).await.body;
    assert_eq!(zone["data"]["schedule"], json!({ "cron": "0 0 1 1 *", "timezone": "Asia/Tokyo" }), "{zone}");
    let paused = test.patch(&monitor, json!({ "status": "paused" })).await.body;
    assert_eq!((&paused["data"]["status"], &paused["data"]["nextRunAt"]), (&json!("paused"), &Value::Null));
    let run = test.service.post(&format!("{monitor}/run"), "{}").await;
    assert_eq!((run.status, &run.body["code"]), (StatusCode::CONFLICT, &json!("MONITOR_PAUSED")));
    let resumed = test.patch(&monitor, json!({ "status": "active" })).await.body;
    assert!(resumed["data"]["nextRunAt"].is_string(), "{resumed}");
    let deleted = test.service.send(Method::DELETE, &monitor, &[], "").await;
    assert_eq!((deleted.status, &deleted.body), (StatusCode::OK, &json!({ "success": true })));
    let gone = test.service.get(&monitor).await;
    assert_eq!((gone.status, &gone.body["error"]), (StatusCode::NOT_FOUND, &json!("Monitor not found")));
    let invalid = test.service.get(&format!("{MONITOR}/7")).await;
    assert_eq!(invalid.status, StatusCode::BAD_REQUEST);
    assert_eq!(test.service.get(MONITOR).await.body["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_and_pages_are_read_in_parts() {
    let test = MonitorTest::new().await;
    test.shop.link(&["one"]);
    let urls = json!([TEA, "http://shop.test/one", "http://shop.test/two"]);
    let monitor = test.create(json!({ "targets": [{ "type": "scrape", "urls": urls }] })).await;
    let check = test.run(&monitor).await;
    test.run(&monitor).await;
    let newest = test.service.get(&format!("{monitor}/checks?limit=1")).await.body;
    assert_eq!(newest["data"].as_array().unwrap().len(), 1);
    assert_ne!(newest["data"][0]["id"], check["id"]);
    let second = test.service.get(&format!("{monitor}/checks?limit=1&offset=1")).await.body;
    assert_eq!(second["data"][0]["id"], check["id"]);
    let path = format!("{monitor}/checks/{}", check["id"].as_str().unwrap());
    let mut next = Some(format!("{path}?limit=1"));
    let mut seen = Vec::new();
    while let Some(path) = next {
        let body = test.service.get(&path).await.body;
        assert_eq!(body["next"], body["data"]["next"]);
        seen.extend(body["data"]["pages"].as_array().unwrap().clone());
        next = body["next"].as_str().map(|url| {
            assert!(url.contains("limit=1"), "{url}");
            url.strip_prefix(&test.service.address).unwrap().to_owned()
        });
    }
    assert_eq!(seen.len(), 3);
    let new = test.service.get(&format!("{path}?status=new")).await.body;
    assert_eq!(new["data"]["pages"].as_array().unwrap().len(), 2, "{new}");
    let unknown = test.service.get(&format!("{path}?status=fresh")).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    let missing = test.service.get(&format!("{monitor}/checks/{}", uuid::Uuid::new_v4())).await;
    assert_eq!((missing.status, &missing.body["error"]), (StatusCode::NOT_FOUND, &json!("Check not found")));
}

#[tokio::test(flavor = "multi_thread")]
async fn monitor_needs_the_credits_of_a_check() {
    let test = MonitorTest::new().await;
    set_credits(&test, 1).await;
    let urls =
        json!({ "targets": [{ "type": "scrape", "urls": ["http://shop.test/a", "http://shop.test/b"] }] });
    let Response { status, body, .. } = test.try_create(urls.clone()).await;
    assert_eq!(
        (status, &body["code"]),
        (StatusCode::PAYMENT_REQUIRED, &json!("INSUFFICIENT_CREDITS")),
        "{body}"
    );
    let error = body["error"].as_str().unwrap();
    assert!(error.contains("may cost 2 credits") && error.contains("has 1 left"), "{error}");
    assert_eq!(test.service.get(MONITOR).await.body["data"], json!([]));
    test.create(json!({})).await;
    set_credits(&test, 2).await;
    test.create(urls).await;
}

/// Sets the credits of the team, and waits until the service has read them.
async fn set_credits(test: &MonitorTest, credits: u64) {
    test.site.succeed(&["teams", "set", "default", "--credits", &credits.to_string()]);
    while test.service.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"] != credits {
        tokio::task::yield_now().await;
    }
}
