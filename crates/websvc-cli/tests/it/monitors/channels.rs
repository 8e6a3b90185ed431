//! Messages about checks to channels of messaging services, and their tests.

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::until;

use super::{HOOK, MonitorTest, wait_for_notifications};
use crate::harness::Response;

/// A server of ntfy, and a receiver of JSON.
const NTFY: &str = "ntfy://tk_credential@push.test/tea";
const JSON: &str = "json://hook.test/json";
pub(super) const NTFY_SERVER: &str = "http://push.test/";
pub(super) const JSON_RECEIVER: &str = "http://hook.test/json";
const TEST: &str = "/v2/monitor/notification/test";

fn bodies(test: &MonitorTest, url: &str) -> Vec<Value> {
    let requests = test.world.requests().into_iter().filter(|request| request.url == url);
    requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_channel_gets_the_statuses_that_it_reports() {
    let test = MonitorTest::new().await;
    let monitor = test
        .create(json!({
            "notification": { "channels": [
                { "url": NTFY },
                {
                    "url": JSON, "statuses": ["removed"],
                    "template": { "text": "{{title}}", "gone": "{{removed}}" },
                },
            ] },
            "webhook": { "url": HOOK, "statuses": ["removed"] },
        }))
        .await;
    let first = test.run(&monitor).await;
    let sent = wait_for_notifications(&test.service, &monitor, &first, |status| {
        status["channels"][0]["success"] == true
    })
    .await;
    assert_eq!(sent["channels"][0], json!({ "service": "ntfy", "attempted": true, "success": true }));
    assert_eq!(sent["channels"][1]["attempted"], false, "the page is new: {sent}");
    test.shop.respond(None);
    let gone = test.run(&monitor).await;
    wait_for_notifications(&test.service, &monitor, &gone, |status| status["channels"][1]["success"] == true)
        .await;
    until("both messages have arrived", || bodies(&test, NTFY_SERVER).len() == 2).await;
    let titles: Vec<Value> = bodies(&test, NTFY_SERVER).iter().map(|body| body["title"].clone()).collect();
    assert_eq!(titles, ["Tea: 1 page new", "Tea: 1 page removed"]);
    let authorization = test.world.requests().into_iter().find(|request| request.url == NTFY_SERVER).unwrap();
    assert_eq!(authorization.header("authorization"), Some("Bearer tk_credential"));
    assert_eq!(bodies(&test, JSON_RECEIVER), [json!({ "text": "Tea: 1 page removed", "gone": "1" })]);
    let pages = || {
        let events =
            test.events().into_iter().map(|event| serde_json::from_slice::<Value>(&event.body).unwrap());
        events.filter(|event| event["type"] == "monitor.page").collect::<Vec<_>>()
    };
    until("the event of the removed page has arrived", || !pages().is_empty()).await;
    assert_eq!(pages()[0]["data"][0]["status"], "removed");
    assert_eq!(pages().len(), 1, "pages of other statuses are not sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn test_message_shows_whether_a_channel_works() {
    let test = MonitorTest::new().await;
    let send = async |body: Value| test.service.post(TEST, body.to_string()).await;
    let sent = send(json!({ "url": NTFY })).await;
    assert_eq!((sent.status, &sent.body), (StatusCode::OK, &json!({ "success": true, "service": "ntfy" })));
    assert_eq!(bodies(&test, NTFY_SERVER)[0]["title"], "Test of websvc: 1 page changed");
    let refused = send(json!({ "url": "json://slack.test/gone" })).await;
    assert_eq!(refused.body["error"], "the channel: responded with status 404", "{}", refused.body);
    for (body, path) in [
        (json!({ "url": "ftp://push.test/" }), "/url"),
        (json!({ "url": "json://10.0.0.1/" }), "/url"),
        (json!({ "url": NTFY, "template": {} }), "/template"),
        (json!({ "url": NTFY, "name": "tea" }), "/name"),
    ] {
        let Response { status, body: response, .. } = send(body).await;
        assert_eq!(
            (status, &response["details"][0]["path"]),
            (StatusCode::BAD_REQUEST, &json!(path)),
            "{response}"
        );
        assert!(!response.to_string().contains("tk_credential"), "{response}");
    }
}
