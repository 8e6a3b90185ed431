//! Monitors and checks as text for people.

use jiff::Timestamp;
use serde_json::Value;
use websvc_notify::webhook::redact_url;
use websvc_schedule::{Schedule, Zone};
use websvc_types::counted;

use crate::output::{Column, Table, column, column_of, one_line, printable, time_of};

/// Number of runs that are shown.
const SHOWN_RUNS: usize = 3;

/// Maximum number of pages and queries of a target that are shown.
const MAX_SHOWN_TARGETS: usize = 10;

/// Maximum length of the reason of a failure in characters.
const MAX_REASON_CHARS: usize = 500;

/// Maximum length of the reason of a judgment in characters.
const MAX_JUDGMENT_CHARS: usize = 500;

/// The columns of a list of monitors.
pub(super) const MONITORS: &[Column] = &[
    column("ID", "id"),
    column("NAME", "name"),
    column("STATUS", "status"),
    column_of("SCHEDULE", schedule_text),
    column_of("NEXT RUN", |monitor| optional_time(&monitor["nextRunAt"], zone(monitor).as_ref())),
    column_of("LAST RESULT", last_result),
];

/// Returns the checks as a table. Their times are those of the monitor, if it is known, and otherwise UTC.
pub(super) fn check_table(checks: &[Value], monitor: Option<&Value>) -> Table {
    let zone = monitor.and_then(zone);
    let mut table = Table::new(&["CHECK", "TRIGGER", "STARTED", "ENDED", "STATUS", "RESULT"]);
    for check in checks {
        table.row(&[
            &text(&check["id"]),
            &text(&check["trigger"]),
            &optional_time(&check["startedAt"], zone.as_ref()),
            &optional_time(&check["finishedAt"], zone.as_ref()),
            &text(&check["status"]),
            &check["error"]
                .as_str()
                .map_or_else(|| summary_text(&check["summary"]), |error| one_line(error, MAX_REASON_CHARS)),
        ]);
    }
    table
}

/// Returns a text of a response in one line, without control characters.
pub(in crate::command) fn text(value: &Value) -> String {
    printable(value.as_str().unwrap_or_default())
}

/// Returns a monitor in a few lines: its ID, its schedule in words, and its next runs.
pub(in crate::command) fn summary_lines(monitor: &Value) -> Vec<String> {
    vec![
        field("ID", &text(&monitor["id"])),
        field("Name", &text(&monitor["name"])),
        field("Status", &text(&monitor["status"])),
        field("Schedule", &schedule_text(monitor)),
        field("Next runs", &next_runs(monitor)),
    ]
}

/// Returns all details of a monitor.
pub(super) fn detail_lines(monitor: &Value) -> Vec<String> {
    let mut lines = summary_lines(monitor);
    lines.push(field("Last run", &optional_time(&monitor["lastRunAt"], zone(monitor).as_ref())));
    lines.push(field("Result", &last_result(monitor)));
    let targets = monitor["targets"].as_array().into_iter().flatten();
    lines.extend(targets.flat_map(target_texts).map(|text| field("Target", &text)));
    if let Some(goal) = monitor["goal"].as_str() {
        let judged = if monitor["judgeEnabled"] == true { "" } else { " (changes are not judged)" };
        lines.push(field("Goal", &format!("{}{judged}", one_line(goal, usize::MAX))));
    }
    if let Some(url) = monitor["webhook"]["url"].as_str() {
        lines.push(field("Webhook", &printable(&redact_url(url))));
    }
    lines.extend(notification_lines(&monitor["notification"]));
    lines.push(field("Retention", &counted(number(&monitor["retentionDays"]), "day", "days")));
    if let Some(credits) = monitor["estimatedCreditsPerMonth"].as_u64() {
        lines.push(field("Credits", &format!("about {credits} in 30 days")));
    }
    lines
}

/// Returns the notifications that are enabled.
fn notification_lines(notification: &Value) -> impl Iterator<Item = String> {
    let enabled = |name: &str| Some(&notification[name]).filter(|channel| channel["enabled"] == true);
    let email = enabled("email").map(|email| {
        let recipients = email["recipients"].as_array().into_iter().flatten();
        let recipients = recipients.map(text).collect::<Vec<_>>().join(", ");
        let none = "no recipients, nothing is sent";
        field("Email", if recipients.is_empty() { none } else { &recipients })
    });
    let slack = enabled("slack").map(|slack| {
        let channel = slack["channelName"].as_str().or(slack["channelId"].as_str()).unwrap_or_default();
        let url = slack["webhookUrl"].as_str().map(redact_url);
        field("Slack", &printable(url.as_deref().unwrap_or(channel)))
    });
    let channels = notification["channels"].as_array().into_iter().flatten().map(|channel| {
        // The rest of the URL is a secret.
        let url = channel["url"].as_str().unwrap_or_default();
        field("Channel", &printable(url.split("://").next().unwrap_or_default()))
    });
    email.into_iter().chain(slack).chain(channels)
}

fn field(name: &str, value: &str) -> String {
    format!("{name:<11}{value}")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// Returns the first of the pages or queries of a target, and the number of others.
fn target_texts(target: &Value) -> Vec<String> {
    let (kind, values) = match target["type"].as_str() {
        Some("scrape") => ("page", &target["urls"]),
        Some("search") => ("search", &target["queries"]),
        _ => ("site", &target["url"]),
    };
    let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
    let shown = values.iter().take(MAX_SHOWN_TARGETS).map(|value| format!("{kind} {}", text(value)));
    let others = values.len().saturating_sub(MAX_SHOWN_TARGETS);
    shown.chain((others > 0).then(|| format!("and {others} more of this kind"))).collect()
}

/// Returns the schedule of a monitor in words, such as "Every day at 09:00 (Europe/Berlin)".
fn schedule_text(monitor: &Value) -> String {
    let schedule = &monitor["schedule"];
    match parse(schedule) {
        Some(schedule) => schedule.to_string(),
        // A later version of the server may know other schedules.
        None => format!("{} ({})", text(&schedule["cron"]), text(&schedule["timezone"])),
    }
}

fn parse(schedule: &Value) -> Option<Schedule> {
    let zone = Zone::from_name(schedule["timezone"].as_str()?).ok()?;
    Some(Schedule::new(schedule["cron"].as_str()?.parse().ok()?, zone))
}

/// Returns the next runs in the time zone of the schedule. The server determines the first one.
fn next_runs(monitor: &Value) -> String {
    let Some(first) = monitor["nextRunAt"].as_str() else { return "none".to_owned() };
    let (Some(schedule), Ok(first_run)) = (parse(&monitor["schedule"]), first.parse::<Timestamp>()) else {
        return time(first, zone(monitor).as_ref());
    };
    let runs = std::iter::once(first_run).chain(schedule.runs_after(first_run)).take(SHOWN_RUNS);
    runs.map(|run| schedule.zone().format(run)).collect::<Vec<_>>().join(", ")
}

/// Returns the time zone of a monitor. A later version of the server may have others.
fn zone(monitor: &Value) -> Option<Zone> {
    Zone::from_name(monitor["schedule"]["timezone"].as_str()?).ok()
}

fn optional_time(time_text: &Value, zone: Option<&Zone>) -> String {
    time_text.as_str().map_or_else(|| "-".to_owned(), |text| time(text, zone))
}

/// Returns a time without fractions of a second, as the other commands print it, with the offset of a zone.
fn time(text: &str, zone: Option<&Zone>) -> String {
    match (text.parse::<Timestamp>(), zone) {
        (Ok(at), Some(zone)) => zone.format(at),
        _ => time_of(text),
    }
}

fn last_result(monitor: &Value) -> String {
    match (&monitor["currentCheckId"], &monitor["lastCheckSummary"]) {
        (Value::Null, Value::Null) => "-".to_owned(),
        (Value::Null, summary) => summary_text(summary),
        _ => "running".to_owned(),
    }
}

/// Returns the state, the result and the cost of a check in one line.
pub(in crate::command) fn check_result(check: &Value) -> String {
    let credits = credits_suffix(&check["actualCredits"]);
    format!("{}: {}{credits}", text(&check["status"]), summary_text(&check["summary"]))
}

/// Returns a number of credits after a comma, if it is known.
pub(in crate::command) fn credits_suffix(credits: &Value) -> String {
    credits.as_u64().map_or_else(String::new, |count| format!(", {}", counted(count, "credit", "credits")))
}

/// Returns the numbers of pages that are not zero, the changes first.
fn summary_text(summary: &Value) -> String {
    let counts = ["changed", "new", "removed", "error", "same"].map(|name| (number(&summary[name]), name));
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    let counts: Vec<_> = counts.collect();
    if counts.is_empty() {
        counted(number(&summary["totalPages"]), "page", "pages")
    } else {
        counts.join(", ")
    }
}

/// Returns the result of a page in one line.
pub(super) fn page_line(page: &Value) -> String {
    let mut line = format!("{:<7}  {}", text(&page["status"]), text(&page["url"]));
    let search = page["metadata"]["searchStatus"].as_str().map(printable);
    let error = page["error"].as_str().map(|error| one_line(error, MAX_REASON_CHARS));
    let judgment = page["judgment"].is_object().then(|| judgment_text(&page["judgment"]));
    for part in [search, error, judgment].into_iter().flatten() {
        line.push_str(&format!("  {part}"));
    }
    line
}

/// Returns a judgment in one line.
fn judgment_text(judgment: &Value) -> String {
    let verdict = if judgment["meaningful"] == true { "meaningful" } else { "not meaningful" };
    let reason = one_line(judgment["reason"].as_str().unwrap_or_default(), MAX_JUDGMENT_CHARS);
    format!("{verdict} ({} confidence): {reason}", text(&judgment["confidence"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a monitor with these fields; others have values that are valid.
    fn monitor(fields: &Value) -> Value {
        let mut monitor = json!({
            "id": "0199", "name": "Tea", "status": "active",
            "schedule": { "cron": "0 9 * * *", "timezone": "Europe/Berlin" },
            "nextRunAt": "2026-03-28T08:00:00.000Z", "lastRunAt": null, "currentCheckId": null,
            "targets": [{ "type": "scrape", "urls": ["http://tea.test/"] }], "webhook": null, "notification": null,
            "retentionDays": 30, "estimatedCreditsPerMonth": 60, "lastCheckSummary": null, "goal": null,
            "judgeEnabled": false, "createdAt": "2026-03-01T08:00:00.000Z",
            "updatedAt": "2026-03-01T08:00:00.000Z",
        });
        for (name, value) in fields.as_object().unwrap() {
            monitor[name] = value.clone();
        }
        monitor
    }

    #[test]
    fn table_aligns_monitors_and_removes_control_characters() {
        let summary = json!({ "totalPages": 4, "same": 3, "changed": 1, "new": 0, "removed": 0, "error": 0 });
        let monitors = [
            monitor(&json!({ "name": "A \u{1b}[31mlong name", "lastCheckSummary": summary })),
            monitor(
                &json!({ "status": "paused", "nextRunAt": null, "schedule": { "cron": "new form", "timezone": "UTC" } }),
            ),
            monitor(&json!({ "currentCheckId": "1" })),
        ];
        let expected = [
            "ID    NAME            STATUS  SCHEDULE                            NEXT RUN              LAST RESULT",
            "0199  A [31mlong name  active  Every day at 09:00 (Europe/Berlin)  2026-03-28T09:00:00+01:00  1 changed, 3 same",
            "0199  Tea             paused  new form (UTC)                      -                     -",
            "0199  Tea             active  Every day at 09:00 (Europe/Berlin)  2026-03-28T09:00:00+01:00  running",
        ];
        let lines = Table::of_objects(&monitors, MONITORS).lines();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines.iter().map(|line| words(line)).collect::<Vec<_>>(), expected.map(words));
        let column = |line: &String, word: &str| line.find(word).unwrap();
        assert_eq!(column(&lines[0], "SCHEDULE"), column(&lines[1], "Every"));
        assert_eq!(column(&lines[0], "SCHEDULE"), column(&lines[2], "new form"));
    }

    #[test]
    fn next_runs_are_local_times_also_when_the_clock_changes() {
        let runs = |fields: Value| next_runs(&monitor(&fields));
        // The clock is set forward on March 29; 09:00 stays 09:00.
        assert_eq!(
            runs(json!({})),
            "2026-03-28T09:00:00+01:00, 2026-03-29T09:00:00+02:00, 2026-03-30T09:00:00+02:00"
        );
        assert_eq!(runs(json!({ "nextRunAt": null })), "none");
        let unknown = json!({ "schedule": { "cron": "new form", "timezone": "UTC" } });
        assert_eq!(runs(unknown), "2026-03-28T08:00:00Z");
        let unknown = json!({ "schedule": { "cron": "0 9 * * *", "timezone": "Mars/Base" } });
        assert_eq!(runs(unknown), "2026-03-28T08:00:00Z");
    }

    #[test]
    fn all_times_of_a_monitor_have_one_format() {
        let monitor = monitor(&json!({ "lastRunAt": "2026-03-27T08:00:01.500Z" }));
        let check = json!({
            "id": "1", "monitorId": "0199", "status": "completed", "trigger": "manual",
            "scheduledFor": null, "startedAt": "2026-03-27T08:00:01.500Z", "finishedAt": null,
            "estimatedCredits": 1, "actualCredits": 1, "error": null,
            "summary": { "totalPages": 1, "same": 1, "changed": 0, "new": 0, "removed": 0, "error": 0 },
            "createdAt": "2026-03-27T08:00:01.500Z", "updatedAt": "2026-03-27T08:00:01.500Z",
            "targetResults": [], "billingStatus": "confirmed", "notificationStatus": null,
        });
        let lines = detail_lines(&monitor).join("\n");
        let checks = check_table(std::slice::from_ref(&check), Some(&monitor)).lines().join("\n");
        for text in [&lines, &checks] {
            assert!(text.contains("2026-03-27T09:00:01+01:00"), "{text}");
        }
        let checks = check_table(&[check], None).lines().join("\n");
        assert!(checks.contains("2026-03-27T08:00:01Z"), "{checks}");
    }

    #[test]
    fn details_have_targets_goal_and_webhook_without_secrets() {
        let urls: Vec<String> = (0..12).map(|number| format!("http://tea.test/{number}")).collect();
        let lines = detail_lines(&monitor(&json!({
            "targets": [
                { "type": "scrape", "urls": urls },
                { "type": "crawl", "url": "http://site.test/" },
                { "type": "search", "queries": ["tea\u{7}"] },
            ],
            "goal": "Prices\nrise", "judgeEnabled": true,
            "webhook": { "url": "http://me:secret@hook.test/in?token=secret" },
            "notification": {
                "email": { "enabled": true, "recipients": ["a@a.test", "b\u{7}@a.test"] },
                "slack": { "enabled": true, "webhookUrl": "http://slack.test/services?token=secret" },
            },
        })));
        for expected in [
            "Target     page http://tea.test/9",
            "Target     and 2 more of this kind",
            "Target     site http://site.test/",
            "Target     search tea",
            "Goal       Prices rise",
            "Webhook    http://hook.test/in",
            "Email      a@a.test, b@a.test",
            "Slack      http://slack.test/services",
            "Credits    about 60 in 30 days",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected:?} is not in {lines:#?}");
        }
        let silent = json!({ "notification": { "email": { "enabled": true, "recipients": [] } } });
        let silent = detail_lines(&monitor(&silent));
        assert!(silent.iter().any(|line| line == "Email      no recipients, nothing is sent"), "{silent:#?}");
        assert!(!lines.concat().contains("secret") && !lines.concat().contains("tea.test/10"), "{lines:#?}");
    }

    #[test]
    fn summary_has_changes_first_and_no_zeros() {
        let summary = |fields: [u64; 6]| {
            let [total_pages, same, changed, new, removed, error] = fields;
            summary_text(&json!({
                "totalPages": total_pages, "same": same, "changed": changed, "new": new, "removed": removed,
                "error": error,
            }))
        };
        assert_eq!(summary([15, 1, 2, 3, 4, 5]), "2 changed, 3 new, 4 removed, 5 error, 1 same");
        assert_eq!(summary([0, 0, 0, 0, 0, 0]), "0 pages");
    }
}
