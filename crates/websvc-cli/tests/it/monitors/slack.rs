//! Slack messages about checks.

use serde_json::{Value, json};
use websvc_testkit::until;

use super::{MonitorTest, serve, wait_for_notifications};
use crate::harness::{Service, assert_fields};

/// The webhook. Its path is a credential.
pub(super) const WEBHOOK: &str = "http://slack.test/services/T0/B0/credential-of-slack";

/// A webhook that is busy.
pub(super) const BUSY: &str = "http://slack.test/busy";

async fn metrics_have(service: &Service, sample: &str) -> bool {
    service.text("/metrics").await.contains(sample)
}

fn notification(url: &str) -> Value {
    json!({ "slack": { "enabled": true, "webhookUrl": url } })
}

#[tokio::test(flavor = "multi_thread")]
async fn change_is_posted_to_the_slack_webhook() {
    let mut test = MonitorTest::new().await;
    test.service.end();
    let log = test.site.data_dir().join("service.log");
    let mut command = test.site.serve_command();
    command.env("WEBSVC_LOG", "trace");
    test.service = Service::start_logging(&mut command, &log);
    let monitor = test.create(json!({ "notification": notification(WEBHOOK) })).await;
    test.run(&monitor).await;
    test.shop.set_tea(&["Sencha costs 14 euros.", "Rooibos costs 5 euros."]);
    let check = test.run(&monitor).await;
    let sent =
        wait_for_notifications(&test.service, &monitor, &check, |status| status["slack"]["success"] == true)
            .await;
    assert_eq!(sent["slack"], json!({ "attempted": true, "success": true }));
    let messages = || {
        let requests = test.world.requests().into_iter();
        requests.filter(|request| request.url == WEBHOOK).collect::<Vec<_>>()
    };
    until("both messages have arrived", || messages().len() == 2).await;
    assert_eq!(messages()[0].header("content-type"), Some("application/json"));
    let message: Value = serde_json::from_slice(&messages()[1].body).unwrap();
    assert_eq!(message["text"], "Tea: 1 page changed");
    let blocks = message["blocks"].to_string();
    assert!(blocks.contains("-Sencha costs 12 euros.") && blocks.contains("+Sencha costs 14"), "{blocks}");
    // A check without changes sends nothing, and says so.
    let check = test.run(&monitor).await;
    let quiet = wait_for_notifications(&test.service, &monitor, &check, |status| {
        status["slack"]["error"].is_string()
    })
    .await;
    assert_eq!((&quiet["slack"]["attempted"], messages().len()), (&json!(false), 2), "{quiet}");
    test.service.end();
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.contains("monitor message sent"), "the log has the deliveries");
    assert!(!logged.contains("credential-of-slack"), "the log has no credential");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_slack_message_appears_in_the_notification_status() {
    let settings = [("WEBSVC__WEBHOOKS__ATTEMPTS", "2"), ("WEBSVC__WEBHOOKS__INITIAL_BACKOFF_MS", "10")];
    let mut test = MonitorTest::new().await;
    test.service.end();
    test.service = serve(&test.site, &settings);
    // No other attempt would change a 404.
    for (url, requests, error) in [("http://slack.test/gone", 1, "status 404"), (BUSY, 2, "status 503")] {
        let monitor = test.create(json!({ "notification": notification(url) })).await;
        let check = test.run(&monitor).await;
        let failed = wait_for_notifications(&test.service, &monitor, &check, |status| {
            status["slack"]["error"].is_string()
        })
        .await;
        assert_fields(&failed["slack"], &json!({ "attempted": true, "success": false }));
        assert!(failed["slack"]["error"].as_str().unwrap().contains(error), "{failed}");
        let count = || test.world.requests().into_iter().filter(|request| request.url == url).count();
        until("all attempts are made", || count() == requests).await;
    }
    let failed = "websvc_monitor_messages_total{kind=\"channel\",outcome=\"failed\"} 2";
    tokio::time::timeout(super::TIMEOUT, async { while !metrics_have(&test.service, failed).await {} })
        .await
        .expect("both messages fail");
    // The channel of a Slack application cannot be reached.
    let slack = json!({ "slack": { "enabled": true, "channelId": "C012345" } });
    let created = test.try_create(json!({ "notification": slack })).await;
    assert!(created.body["warning"].as_str().unwrap().contains("webhookUrl"), "{}", created.body);
}
