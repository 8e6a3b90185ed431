//! Tests of the wire format of monitors (operations.md, sections 0 and 3; clients.md, section 2.12).

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use websvc_types::ErrorBody;
use websvc_types::monitor::{
    CreateMonitorRequest, MonitorCheckEvent, MonitorCheckListResponse, MonitorCheckResponse,
    MonitorListResponse, MonitorPageEvent, MonitorResponse, MonitorTarget, MonitorWebhook,
    RunMonitorResponse, UpdateMonitorRequest,
};

/// Checks that a body is unchanged after reading and writing it, so that the type has all its fields.
#[track_caller]
fn check<T: DeserializeOwned + Serialize>(body: &Value) {
    let value: T = serde_json::from_value(body.clone()).expect("the body is valid for its type");
    assert_eq!(serde_json::to_value(&value).expect("the value is JSON"), *body);
}

fn summary() -> Value {
    json!({ "totalPages": 3, "same": 1, "changed": 1, "new": 1, "removed": 0, "error": 0 })
}

fn monitor() -> Value {
    json!({
        "id": "01990000-0000-7000-8000-000000000001", "name": "Tea", "status": "active",
        "schedule": { "cron": "0 9 * * *", "timezone": "Europe/Berlin" },
        "nextRunAt": "2026-11-26T08:00:00.000Z", "lastRunAt": null, "currentCheckId": null,
        "targets": [
            { "type": "scrape", "id": "01990000-0000-7000-8000-000000000002", "urls": ["https://tea.test/"] },
            { "type": "crawl", "id": "01990000-0000-7000-8000-000000000003", "url": "https://tea.test/",
              "crawlOptions": { "limit": 5, "deduplicateSimilarURLs": false, "regexOnFullURL": true } },
            { "type": "search", "id": "01990000-0000-7000-8000-000000000004", "queries": ["tea"],
              "searchWindow": "24h", "maxResults": 10 },
        ],
        "webhook": { "url": "https://hooks.test/", "events": ["monitor.page", "monitor.check.completed"] },
        "notification": { "email": { "enabled": true, "recipients": [], "includeDiffs": false } },
        "retentionDays": 30, "estimatedCreditsPerMonth": 30, "lastCheckSummary": summary(), "goal": null,
        "judgeEnabled": false, "createdAt": "2026-11-25T12:00:00.000Z", "updatedAt": "2026-11-25T12:00:00.000Z",
        "emailRecipientSubscriptions": [
            { "email": "a@tea.test", "status": "pending", "source": "opt_in", "confirmationEmailSent": true },
        ],
    })
}

fn monitor_check() -> Value {
    json!({
        "id": "01990000-0000-7000-8000-000000000005", "monitorId": "01990000-0000-7000-8000-000000000001",
        "status": "partial", "trigger": "scheduled", "scheduledFor": "2026-11-26T08:00:00.000Z",
        "startedAt": "2026-11-26T08:00:00.000Z", "finishedAt": null, "estimatedCredits": 3, "reservedCredits": 3,
        "actualCredits": null, "billingStatus": "not_applicable", "summary": summary(),
        "targetResults": [
            { "targetId": "01990000-0000-7000-8000-000000000002", "type": "scrape", "expectedJobs": ["j"] },
            { "targetId": "01990000-0000-7000-8000-000000000003", "type": "crawl", "crawlId": "c" },
            { "targetId": "01990000-0000-7000-8000-000000000004", "type": "search", "searchCompleted": true,
              "resultCount": 2, "matches": 1, "summary": "s", "judgeDegraded": true, "degradedReason": "r",
              "searchCredits": 2, "judgeCredits": 0, "resultsJudged": 0 },
        ],
        "notificationStatus": {
            "webhook": { "attempted": true, "success": false, "delivered": 1, "queued": 1, "statusCode": 500, "error": "e" },
            "email": { "attempted": false, "success": false, "recipients": [], "error": "no mail server" },
            "slack": { "attempted": true, "success": true },
        },
        "error": null, "createdAt": "2026-11-26T08:00:00.000Z", "updatedAt": "2026-11-26T08:00:01.000Z",
    })
}

fn check_detail() -> Value {
    let judgment = json!({
        "meaningful": true, "confidence": "high", "reason": "r", "fields": [],
        "meaningfulChanges": [{ "type": "added", "before": null, "after": "oolong", "reason": "r" }],
    });
    let mut detail = monitor_check();
    detail["next"] = json!("https://websvc.test/v2/monitor/m/checks/c?skip=1&limit=1");
    detail["pages"] = json!([{
        "id": "p", "targetId": "t", "url": "https://tea.test/", "status": "changed", "previousScrapeId": "a",
        "currentScrapeId": "b", "statusCode": 200, "error": null,
        "metadata": { "title": "Tea", "contentType": "text/html", "proxyUsed": "basic", "creditsUsed": 1 },
        "diff": { "text": "-a\n+b", "json": { "files": [] } }, "snapshot": { "json": { "value": 1 } },
        "judgment": judgment, "createdAt": "2026-11-26T08:00:01.000Z",
    }]);
    detail
}

#[test]
fn responses_have_exactly_the_fields_of_the_interface() {
    check::<MonitorResponse>(&json!({ "success": true, "data": monitor() }));
    let mut listed = monitor();
    listed.as_object_mut().unwrap().shift_remove("emailRecipientSubscriptions");
    check::<MonitorListResponse>(&json!({ "success": true, "data": [listed] }));
    check::<MonitorListResponse>(&json!({ "success": true, "data": [] }));
    check::<RunMonitorResponse>(&json!({ "success": true, "id": "c", "data": monitor_check() }));
    check::<MonitorCheckListResponse>(&json!({ "success": true, "data": [monitor_check()] }));
    let detail = check_detail();
    check::<MonitorCheckResponse>(&json!({ "success": true, "next": detail["next"], "data": detail }));
}

#[test]
fn events_have_exactly_the_fields_of_the_interface() {
    let page = json!({
        "monitorId": "m", "checkId": "c", "url": "https://tea.test/", "status": "error", "previousScrapeId": null,
        "currentScrapeId": null, "error": "e", "isMeaningful": null, "judgment": null, "diff": null,
    });
    check::<MonitorPageEvent>(&page);
    assert!(!serde_json::from_value::<MonitorPageEvent>(page).unwrap().is_success());
    let completed = json!({ "monitorId": "m", "checkId": "c", "status": "completed", "summary": summary() });
    check::<MonitorCheckEvent>(&completed);
    assert!(serde_json::from_value::<MonitorCheckEvent>(completed).unwrap().is_success());
}

#[test]
fn absent_and_null_fields_of_a_change_differ() {
    let read = |body: Value| serde_json::from_value::<UpdateMonitorRequest>(body).unwrap();
    let absent = read(json!({ "name": "Tea" }));
    assert_eq!((&absent.goal, &absent.webhook), (&None, &None));
    let null = read(json!({ "goal": null, "webhook": null }));
    assert_eq!((&null.goal, &null.webhook), (&Some(None), &Some(None)));
    assert_eq!(serde_json::to_value(&null).unwrap(), json!({ "goal": null, "webhook": null }));
    let set = read(json!({ "goal": "g", "webhook": "https://hooks.test/" }));
    assert_eq!(set.goal, Some(Some("g".to_owned())));
    assert_eq!(set.webhook, Some(Some(MonitorWebhook::Url("https://hooks.test/".to_owned()))));
}

#[test]
fn targets_are_selected_by_their_type() {
    let target = |body: Value| serde_json::from_value::<MonitorTarget>(body);
    assert!(matches!(target(json!({ "urls": ["a"], "type": "scrape" })), Ok(MonitorTarget::Scrape(_))));
    // Fields of older clients have no effect.
    assert!(matches!(
        target(json!({ "type": "search", "queries": ["a"], "depth": 1, "scrapeOptions": {} })),
        Ok(MonitorTarget::Search(_))
    ));
    assert!(target(json!({ "type": "page", "urls": ["a"] })).unwrap_err().to_string().contains("page"));
    check::<CreateMonitorRequest>(&json!({
        "name": "Tea", "schedule": { "text": "daily", "timezone": "UTC" }, "webhook": "https://hooks.test/",
        "targets": [{ "type": "scrape", "urls": ["a"], "scrapeOptions": { "maxAge": 0 } }], "origin": "x",
    }));
}

#[test]
fn error_about_a_running_check_has_its_id() {
    check::<ErrorBody>(&json!({
        "success": false, "error": "A check is already running", "code": "MONITOR_CHECK_RUNNING", "checkId": "c",
    }));
}
