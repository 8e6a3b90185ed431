//! Tests of monitors: methods, paths and queries of the requests, their number, and results.

use serde_json::{Value, json};
use websvc::types::ErrorCode;
use websvc::types::monitor::{
    CreateMonitorRequest, MonitorCheckStatus, MonitorPageStatus, MonitorStateRequest, UpdateMonitorRequest,
};
use websvc::{Client, ListRange, Method};
use websvc_testkit::{Page, TestWeb};

use crate::support;

const MONITOR: &str = "http://127.0.0.1/v2/monitor";
const ID: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";
const CHECK: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f61";

fn monitor() -> Value {
    json!({
        "id": ID, "name": "Tea", "status": "active",
        "schedule": { "cron": "0 9 * * *", "timezone": "UTC" },
        "nextRunAt": "x", "lastRunAt": null, "currentCheckId": null,
        "targets": [{ "type": "scrape", "id": "x", "urls": ["http://tea.test/"] }],
        "webhook": null, "notification": null, "retentionDays": 30, "estimatedCreditsPerMonth": 60,
        "lastCheckSummary": null, "goal": null, "judgeEnabled": false, "createdAt": "x", "updatedAt": "x",
    })
}

fn check() -> Value {
    json!({
        "id": CHECK, "monitorId": ID, "status": "completed", "trigger": "manual", "scheduledFor": null,
        "startedAt": "x", "finishedAt": "x", "estimatedCredits": 1, "reservedCredits": 1, "actualCredits": 1,
        "billingStatus": "confirmed",
        "summary": { "totalPages": 1, "same": 0, "changed": 1, "new": 0, "removed": 0, "error": 0 },
        "targetResults": null, "notificationStatus": null, "error": null, "createdAt": "x", "updatedAt": "x",
    })
}

fn ok(data: &Value) -> Page {
    support::json(200, &json!({ "success": true, "data": data }).to_string())
}

/// Starts a service with a monitor that has one check.
async fn service() -> (TestWeb, Client) {
    let mut detail = check();
    detail["pages"] = json!([]);
    let started = json!({ "success": true, "id": CHECK, "data": check() });
    let world = TestWeb::builder()
        .page(&format!("{MONITOR}/{ID}"), ok(&monitor()))
        .page(&format!("{MONITOR}/{ID}/run"), support::json(200, &started.to_string()))
        .page(&format!("{MONITOR}/{ID}/checks"), ok(&json!([check()])))
        .page(&format!("{MONITOR}/{ID}/checks/{CHECK}"), ok(&detail))
        .page(MONITOR, ok(&json!([monitor()])))
        .start()
        .await;
    let client = support::client(&world);
    (world, client)
}

#[tokio::test]
async fn calls_have_their_methods_paths_and_queries() {
    let (world, client) = service().await;
    let range = ListRange { skip: 2, limit: 3 };
    assert_eq!(client.monitors(range).await.unwrap().data[0].id, ID);
    assert_eq!(client.monitor(ID).await.unwrap().data.name, "Tea");
    let pause =
        UpdateMonitorRequest { status: Some(MonitorStateRequest::Paused), ..UpdateMonitorRequest::default() };
    client.update_monitor(ID, &pause).await.unwrap();
    assert_eq!(client.run_monitor(ID).await.unwrap().id, CHECK);
    let failed = Some(MonitorCheckStatus::Failed);
    assert_eq!(client.monitor_checks(ID, failed, range).await.unwrap().data[0].id, CHECK);
    let changed = Some(MonitorPageStatus::Changed);
    let detail = client.monitor_check(ID, CHECK, changed, ListRange::default()).await.unwrap();
    assert_eq!(detail.data.check.status, MonitorCheckStatus::Completed);
    client.delete_monitor(ID).await.unwrap();
    let path = ["v2", "monitor", ID, "checks"];
    let checks = client.json(Method::GET, &path, Some("limit=1".to_owned()), None).await.unwrap();
    assert_eq!(checks["data"][0]["id"], CHECK);
    let base = format!("{}/v2/monitor", support::base(&world));
    let sent: Vec<(String, String, Value)> = world
        .requests()
        .into_iter()
        .map(|request| {
            let path = request.url.strip_prefix(&base).unwrap_or(&request.url).to_owned();
            (request.method.to_string(), path, serde_json::from_slice(&request.body).unwrap_or_default())
        })
        .collect();
    let expected = [
        ("GET", "?limit=3&skip=2".to_owned(), Value::Null),
        ("GET", format!("/{ID}"), Value::Null),
        ("PATCH", format!("/{ID}"), json!({ "status": "paused" })),
        ("POST", format!("/{ID}/run"), json!({})),
        ("GET", format!("/{ID}/checks?limit=3&skip=2&status=failed"), Value::Null),
        ("GET", format!("/{ID}/checks/{CHECK}?limit=25&skip=0&status=changed"), Value::Null),
        ("DELETE", format!("/{ID}"), Value::Null),
        ("GET", format!("/{ID}/checks?limit=1"), Value::Null),
    ];
    assert_eq!(sent, expected.map(|(method, path, body)| (method.to_owned(), path, body)));
}

#[tokio::test]
async fn creation_and_start_of_a_check_are_not_repeated_after_a_503() {
    let busy = || support::error_response(503);
    let world =
        TestWeb::builder().page(MONITOR, busy()).page(&format!("{MONITOR}/{ID}/run"), busy()).start().await;
    let client = support::client(&world);
    assert!(client.create_monitor(&CreateMonitorRequest::default()).await.is_err());
    assert!(client.run_monitor(ID).await.is_err());
    let path = ["v2", "monitor"];
    assert!(client.json(Method::POST, &path, None, Some(json!({}))).await.is_err());
    assert_eq!(world.requests().len(), 3, "a second request could create a second monitor or check");
}

#[tokio::test]
async fn change_of_a_monitor_is_repeated_after_a_503() {
    let world =
        TestWeb::builder().page(&format!("{MONITOR}/{ID}"), support::error_response(503)).start().await;
    let client = support::client(&world);
    assert!(client.update_monitor(ID, &UpdateMonitorRequest::default()).await.is_err());
    assert_eq!(world.requests().len(), 4);
}

#[tokio::test]
async fn error_of_the_service_has_its_code() {
    let body = json!({ "success": false, "error": "running", "code": "MONITOR_CHECK_RUNNING" }).to_string();
    let world =
        TestWeb::builder().page(&format!("{MONITOR}/{ID}/run"), support::json(409, &body)).start().await;
    let error = support::client(&world).run_monitor(ID).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::MonitorCheckRunning));
    let other_path = support::client(&world).monitor(&format!("{ID}/run")).await.unwrap_err();
    assert_eq!(other_path.code(), None, "an ID with a slash stays one path segment");
    let path = ["v2", "monitor", &format!("{ID}/run")];
    let other_path = support::client(&world).json(Method::GET, &path, None, None).await.unwrap_err();
    assert_eq!(other_path.code(), None, "an ID with a slash stays one path segment");
}
