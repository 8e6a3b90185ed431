//! Webhook events of monitors.

use serde_json::{Value, json};
use websvc_testkit::until;

use super::{HOOK, MonitorTest, TEA};
use crate::harness::assert_fields;

#[tokio::test(flavor = "multi_thread")]
async fn each_page_has_an_event_and_each_check_one() {
    let test = MonitorTest::new().await;
    let missing = "http://shop.test/one";
    let webhook = json!({ "url": HOOK, "headers": { "X-Mine": "1" }, "metadata": { "for": "tea" } });
    let monitor = test
        .create(json!({ "webhook": webhook, "targets": [{ "type": "scrape", "urls": [TEA, missing] }] }))
        .await;
    let check = test.run(&monitor).await;
    until("all events have arrived", || test.events().len() >= 3).await;
    let events: Vec<Value> =
        test.events().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect();
    assert_eq!(events.len(), 3);
    for event in &events {
        assert_eq!((&event["id"], &event["metadata"]["for"]), (&check["id"], &json!("tea")), "{event}");
    }
    assert!(
        test.events()[0].header("x-firecrawl-signature").is_some_and(|value| value.starts_with("sha256="))
    );
    let page = |url: &str| {
        let found = events.iter().find(|event| event["data"][0]["url"] == url);
        found.unwrap_or_else(|| panic!("an event of {url}")).clone()
    };
    let (new, failed) = (page(TEA), page(missing));
    assert_eq!((&new["type"], &new["success"]), (&json!("monitor.page"), &json!(true)));
    assert_eq!(new["data"][0]["status"], "new");
    for name in [
        "monitorId",
        "checkId",
        "previousScrapeId",
        "currentScrapeId",
        "error",
        "isMeaningful",
        "judgment",
        "diff",
    ] {
        assert!(new["data"][0].get(name).is_some(), "{name} of {new}");
    }
    assert_eq!(
        (&failed["success"], &failed["data"][0]["status"]),
        (&json!(false), &json!("error")),
        "{failed}"
    );
    // The check has an error, so it is partial and not a success.
    let last = events.last().unwrap();
    assert_fields(last, &json!({ "type": "monitor.check.completed", "success": false }));
    assert_fields(&last["data"][0], &json!({ "summary": check["summary"], "status": "partial" }));
    let path = format!("{monitor}/checks/{}", check["id"].as_str().unwrap());
    let webhook =
        wait_until(&test, &path, |check| check["notificationStatus"]["webhook"]["queued"] == 0).await;
    let webhook = &webhook["notificationStatus"]["webhook"];
    assert_eq!((&webhook["delivered"], &webhook["success"]), (&json!(3), &json!(true)), "{webhook}");
}

/// Reads a check until it fulfils a condition.
async fn wait_until(test: &MonitorTest, path: &str, is_expected: impl Fn(&Value) -> bool) -> Value {
    let reading = async {
        loop {
            let check = test.service.get(path).await.body["data"].clone();
            if is_expected(&check) {
                return check;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(super::TIMEOUT, reading).await.expect("the check reaches the expected state")
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_has_the_checks_that_found_something_and_needs_its_token() {
    let test = MonitorTest::new().await;
    let monitor = test.create(json!({})).await;
    let url = test.service.get(&monitor).await.body["data"]["feedUrl"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&test.service.address).unwrap().to_owned();
    assert_eq!(test.service.text(&path).await.matches("<entry>").count(), 0);
    test.run(&monitor).await;
    // A check without changes adds no entry.
    test.run(&monitor).await;
    test.shop.set_tea(&["Sencha costs <b>14</b> euros."]);
    test.run(&monitor).await;
    let (media_type, feed) = test.service.file(&path).await;
    let feed = String::from_utf8(feed).unwrap();
    assert_eq!(media_type, "application/atom+xml; charset=utf-8");
    assert_eq!(feed.matches("<entry>").count(), 2, "{feed}");
    assert!(feed.contains("Sencha costs"), "{feed}");
    assert!(feed.contains(&url.replace('&', "&amp;")), "the feed names itself: {feed}");
    let (without_token, token) = path.split_once("?token=").unwrap();
    let other = test.create(json!({})).await;
    for wrong in [
        without_token.to_owned(),
        format!("{without_token}?token={}", token.replace(|c: char| c.is_ascii_digit(), "a")),
        format!("{other}/feed?token={token}"),
    ] {
        let response = test.service.send(http::Method::GET, &wrong, &[("authorization", "")], "").await;
        assert_eq!(
            (response.status.as_u16(), &response.body["error"]),
            (404, &json!("Feed not found")),
            "{wrong}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_that_are_not_sent_are_reported() {
    let test = MonitorTest::new().await;
    let notification = json!({ "email": { "enabled": true, "recipients": ["anna@tea.test"] } });
    let created = test.try_create(json!({ "notification": notification })).await;
    assert_eq!(created.status, 200, "{}", created.body);
    assert!(created.body["warning"].as_str().unwrap().contains("notification.email"), "{}", created.body);
    let pending = json!([{
        "email": "anna@tea.test", "status": "pending", "source": "opt_in", "confirmationEmailSent": false,
    }]);
    assert_eq!(created.body["data"]["emailRecipientSubscriptions"], pending);
    let check = test.run(&format!("/v2/monitor/{}", created.body["data"]["id"].as_str().unwrap())).await;
    let email = &check["notificationStatus"]["email"];
    assert_eq!((&email["attempted"], &email["success"]), (&json!(false), &json!(false)), "{check}");
    assert!(email["error"].is_string(), "{check}");
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_gets_only_the_events_it_asks_for() {
    let test = MonitorTest::new().await;
    let webhook = json!({ "url": HOOK, "events": ["monitor.check.completed"] });
    let monitor = test.create(json!({ "webhook": webhook })).await;
    test.run(&monitor).await;
    test.shop.set_tea(&["Another text"]);
    test.run(&monitor).await;
    until("the event of each check has arrived", || test.events().len() >= 2).await;
    for request in test.events() {
        let event: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!((&event["type"], &event["success"]), (&json!("monitor.check.completed"), &json!(true)));
    }
}
