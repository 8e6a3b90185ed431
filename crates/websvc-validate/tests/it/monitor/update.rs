//! Changes of a monitor.

use serde_json::{Value, json};
use websvc_types::ViolationCode::{
    Conflict, InvalidType, Missing, TooLong, TooShort, TooSmall, UnknownField, UnknownValue,
};
use websvc_types::monitor::MonitorStateRequest;
use websvc_validate::{MonitorDefinition, MonitorUpdate};

use super::{ID, UPDATE, accepted, body, rejected, update};
use crate::support::Expected;

fn current() -> MonitorDefinition {
    accepted(&body(&json!({
        "schedule": { "cron": "0 9 * * *", "timezone": "Europe/Berlin" },
        "webhook": "https://hooks.test/",
        "notification": {
            "email": { "enabled": true, "recipients": ["a@tea.test"] },
            "slack": { "enabled": true, "channelId": "C1" },
        },
        "goal": "prices",
        "retentionDays": 7,
    })))
}

#[track_caller]
fn changed(changes: &Value) -> MonitorUpdate {
    assert!(UPDATE.is_valid(changes), "the schema rejects {changes}");
    match update(&current(), changes) {
        Ok(checked) => checked.plan,
        Err(error) => panic!("{changes} is rejected: {error}"),
    }
}

#[track_caller]
fn reject(changes: &Value, expected: Expected<'_>) -> Vec<String> {
    rejected(update(&current(), changes), expected)
}

#[test]
fn absent_fields_stay() {
    let MonitorUpdate { definition, status, has_new_schedule } = changed(&json!({ "name": "Oolong" }));
    assert_eq!(definition.name, "Oolong");
    assert_eq!((status, has_new_schedule), (None, false));
    let mut expected = serde_json::to_value(current()).unwrap();
    expected["name"] = json!("Oolong");
    assert_eq!(serde_json::to_value(&definition).unwrap(), expected);
}

#[test]
fn body_without_a_change_is_rejected() {
    for changes in [json!({}), json!({ "origin": "js-sdk@4.42.0" }), json!({ "name": null })] {
        let messages = reject(&changes, &[("", TooShort)]);
        assert!(messages[0].contains("a field to change: name, status, schedule"), "{messages:?}");
    }
    reject(&json!({ "id": ID }), &[("/id", UnknownField)]);
    reject(&json!({ "name": 5 }), &[("/name", InvalidType)]);
}

#[test]
fn null_clears_goal_and_webhook() {
    assert_eq!(changed(&json!({ "goal": null })).definition.goal.as_deref(), None);
    assert_eq!(changed(&json!({ "goal": " " })).definition.goal.as_deref(), None);
    assert_eq!(changed(&json!({ "webhook": null })).definition.webhook.as_ref(), None);
    let both = changed(&json!({ "webhook": null, "goal": null, "origin": "x" })).definition;
    assert_eq!((both.goal.as_deref(), both.webhook.as_ref(), both.judge_enabled()), (None, None, false));
    // Null of other fields counts as absent.
    assert_eq!(changed(&json!({ "goal": null, "retentionDays": null })).definition.retention_days, 7);
}

#[test]
fn status_is_returned() {
    assert_eq!(changed(&json!({ "status": "paused" })).status, Some(MonitorStateRequest::Paused));
    assert_eq!(changed(&json!({ "status": "active" })).status, Some(MonitorStateRequest::Active));
    reject(&json!({ "status": "deleted" }), &[("/status", UnknownValue)]);
}

#[test]
fn absent_parts_of_the_schedule_stay() {
    for (schedule, cron, zone, is_new) in [
        (json!({ "timezone": "Asia/Tokyo" }), "0 9 * * *", "Asia/Tokyo", true),
        (json!({ "timezone": "Europe/Berlin" }), "0 9 * * *", "Europe/Berlin", false),
        (json!({ "cron": "0 8 * * *" }), "0 8 * * *", "Europe/Berlin", true),
        (json!({ "text": "hourly", "timezone": "UTC" }), "0 * * * *", "UTC", true),
    ] {
        let update = changed(&json!({ "schedule": schedule }));
        let found = update.definition.wire_schedule();
        assert_eq!((found.cron.as_str(), found.timezone.as_str()), (cron, zone), "{schedule}");
        assert_eq!(update.has_new_schedule, is_new, "{schedule}");
    }
    reject(&json!({ "schedule": {} }), &[("/schedule", Missing)]);
    reject(&json!({ "schedule": { "cron": "* * * * *", "text": "daily" } }), &[("/schedule/text", Conflict)]);
    reject(&json!({ "schedule": { "cron": "* * * * *" } }), &[("/schedule", TooSmall)]);
}

#[test]
fn channels_of_notifications_are_replaced_one_by_one() {
    let notification = |notification: Value| {
        let update = changed(&json!({ "notification": notification }));
        serde_json::to_value(update.definition.notification.as_ref()).unwrap()
    };
    let email = json!({ "enabled": true, "recipients": ["a@tea.test"], "includeDiffs": false });
    let slack = json!({ "enabled": true, "channelId": "C1" });
    assert_eq!(notification(json!({})), json!({ "email": email, "slack": slack }));
    assert_eq!(
        notification(json!({ "email": { "enabled": false } })),
        json!({ "email": { "enabled": false, "recipients": [], "includeDiffs": false }, "slack": slack })
    );
    assert_eq!(
        notification(json!({ "slack": {} })),
        json!({ "email": email, "slack": { "enabled": false } })
    );
}

#[test]
fn targets_are_replaced_and_keep_their_ids() {
    let targets = json!([
        { "type": "scrape", "id": ID, "urls": ["https://tea.test/"] },
        { "type": "crawl", "url": "https://tea.test/" },
    ]);
    let definition = changed(&json!({ "targets": targets })).definition;
    let ids: Vec<_> = definition.targets.iter().map(|target| target.id().unwrap()).collect();
    assert_eq!(ids, [ID, "00000000-0000-7000-8000-000000000001"]);
    reject(&json!({ "targets": [] }), &[("/targets", TooShort)]);
}

#[test]
fn goal_of_search_targets_is_checked_on_the_changed_monitor() {
    let targets = json!([{ "type": "search", "queries": ["tea"] }]);
    let search = changed(&json!({ "targets": targets })).definition;
    assert_eq!(search.judges(), Some("prices"));
    rejected(update(&search, &json!({ "goal": null })), &[("/goal", Missing)]);
    rejected(update(&search, &json!({ "goal": null, "judgeEnabled": true })), &[("/goal", Missing)]);
    update(&search, &json!({ "goal": null, "judgeEnabled": false })).unwrap();
    rejected(update(&search, &json!({ "goal": "g".repeat(2001) })), &[("/goal", TooLong)]);
    reject(&json!({ "goal": null, "targets": targets }), &[("/goal", Missing)]);
    // A monitor that is not judged stays so when it gets a goal.
    let silent = update(&search, &json!({ "judgeEnabled": false })).unwrap().plan.definition;
    let with_goal = update(&silent, &json!({ "goal": "new teas" })).unwrap().plan.definition;
    assert_eq!(with_goal.judges(), None);
}
