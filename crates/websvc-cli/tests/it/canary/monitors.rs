//! Monitors that might connect to an internal address.

use serde_json::{Value, json};

use crate::batch::poll_until;
use crate::harness::Service;

/// Returns whether an operation on monitors has a body.
pub(super) fn is_monitor_request(operation: &str) -> bool {
    operation.contains(" /v2/monitor") && (operation.starts_with("post") || operation.starts_with("patch"))
}

/// Returns monitors, or changes of monitors, whose checks might connect to `internal`.
pub(super) fn monitor_attacks(operation: &str, internal: &str) -> Vec<Value> {
    if operation.contains(" /v2/monitor/email/") {
        return vec![json!({"token": internal}), json!({"token": "0123456789abcdef", "webhook": internal})];
    }
    // The same address in the form of a channel.
    let channel = internal.replacen("http://", "json://", 1);
    if operation == "post /v2/monitor/notification/test" {
        let gotify = internal.replacen("http://", "gotify://", 1);
        return [internal, &channel, &gotify].map(|url| json!({ "url": url })).to_vec();
    }
    if operation != "post /v2/monitor" {
        let target = json!({"type": "scrape", "urls": [internal]});
        return vec![json!({"webhook": internal, "targets": [target]}), json!({"origin": internal})];
    }
    let monitor = |target: Value| json!({ "name": "bait", "schedule": { "cron": "0 0 1 1 *" }, "judgeEnabled": false, "targets": [target] });
    let mut webhook = monitor(json!({"type": "scrape", "urls": ["http://bait.test/"]}));
    webhook["webhook"] = json!(internal);
    let mut slack = monitor(json!({"type": "scrape", "urls": ["http://bait.test/"]}));
    slack["notification"] = json!({"slack": {"enabled": true, "webhookUrl": internal}});
    let mut channels = monitor(json!({"type": "scrape", "urls": ["http://bait.test/"]}));
    channels["notification"] = json!({"channels": [{"url": internal}, {"url": channel}]});
    vec![
        monitor(
            json!({"type": "scrape", "urls": [internal, "http://bait.test/moved", "http://bait.test/leads"]}),
        ),
        monitor(json!({"type": "crawl", "url": internal})),
        monitor(
            json!({"type": "crawl", "url": "http://bait.test/leads", "crawlOptions": {"allowExternalLinks": true, "limit": 5}}),
        ),
        monitor(json!({"type": "search", "queries": ["inside", format!("site:{internal}")]})),
        webhook,
        slack,
        channels,
    ]
}

/// Runs a check of a monitor, and waits for its end.
pub(super) async fn run_monitor(service: &Service, id: &str) {
    let run = service.post(&format!("/v2/monitor/{id}/run"), "").await;
    let check = format!("/v2/monitor/{id}/checks/{}", run.body["id"].as_str().unwrap());
    poll_until(service, &check, |body| {
        !["queued", "running"].contains(&body["data"]["status"].as_str().unwrap())
    })
    .await;
}
