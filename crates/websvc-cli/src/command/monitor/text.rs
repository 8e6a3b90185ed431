//! Monitors and checks as text for people.

use jiff::Timestamp;
use websvc::types::monitor::{
    CrawlTarget, Monitor, MonitorCheck, MonitorCheckPage, MonitorCheckSummary, MonitorNotification,
    MonitorSchedule, MonitorTarget, MonitorTrigger, ScrapeTarget, SearchTarget, SlackNotification,
};
use websvc_notify::webhook::redact_url;
use websvc_schedule::{Schedule, Zone};
use websvc_types::counted;

use super::diff::judgment_text;
use super::names::{check_status_name, page_status_name, search_status_name, status_name};
use crate::output::{Table, printable};

/// Number of runs that are shown.
const SHOWN_RUNS: usize = 3;

/// Maximum number of pages and queries of a target that are shown.
const MAX_SHOWN_TARGETS: usize = 10;

/// Maximum length of the reason of a failure in characters.
const MAX_REASON_CHARS: usize = 500;

/// Returns the monitors as a table.
pub(super) fn monitor_table(monitors: &[Monitor]) -> Table<6> {
    let mut table = Table::new(["ID", "NAME", "STATUS", "SCHEDULE", "NEXT RUN", "LAST RESULT"]);
    for monitor in monitors {
        table.row([
            &printable(&monitor.id),
            &printable(&monitor.name),
            status_name(monitor.status),
            &schedule_text(&monitor.schedule),
            &optional_time(monitor.next_run_at.as_deref(), zone(monitor).as_ref()),
            &last_result(monitor),
        ]);
    }
    table
}

/// Returns the checks as a table. Their times are those of the monitor, if it is known, and otherwise UTC.
pub(super) fn check_table(checks: &[MonitorCheck], monitor: Option<&Monitor>) -> Table<6> {
    let zone = monitor.and_then(zone);
    let mut table = Table::new(["CHECK", "TRIGGER", "STARTED", "ENDED", "STATUS", "RESULT"]);
    for check in checks {
        let trigger = match check.trigger {
            MonitorTrigger::Scheduled => "scheduled",
            MonitorTrigger::Manual => "manual",
        };
        table.row([
            &printable(&check.id),
            trigger,
            &optional_time(check.started_at.as_deref(), zone.as_ref()),
            &optional_time(check.finished_at.as_deref(), zone.as_ref()),
            check_status_name(check.status),
            &result_text(check),
        ]);
    }
    table
}

/// Returns a monitor in a few lines: its ID, its schedule in words, and its next runs.
pub(in crate::command) fn summary_lines(monitor: &Monitor) -> Vec<String> {
    vec![
        field("ID", &printable(&monitor.id)),
        field("Name", &printable(&monitor.name)),
        field("Status", status_name(monitor.status)),
        field("Schedule", &schedule_text(&monitor.schedule)),
        field("Next runs", &next_runs(monitor)),
    ]
}

/// Returns all details of a monitor.
pub(super) fn detail_lines(monitor: &Monitor) -> Vec<String> {
    let mut lines = summary_lines(monitor);
    lines.push(field("Last run", &optional_time(monitor.last_run_at.as_deref(), zone(monitor).as_ref())));
    lines.push(field("Result", &last_result(monitor)));
    lines.extend(monitor.targets.iter().flat_map(target_texts).map(|text| field("Target", &text)));
    if let Some(goal) = &monitor.goal {
        let judged = if monitor.judge_enabled { "" } else { " (changes are not judged)" };
        lines.push(field("Goal", &format!("{}{judged}", one_line(goal, usize::MAX))));
    }
    if let Some(webhook) = &monitor.webhook {
        lines.push(field("Webhook", &printable(&redact_url(&webhook.url))));
    }
    if let Some(notification) = &monitor.notification {
        lines.extend(notification_texts(notification).map(|(name, text)| field(name, &text)));
    }
    lines.push(field("Retention", &counted(monitor.retention_days, "day", "days")));
    if let Some(credits) = monitor.estimated_credits_per_month {
        lines.push(field("Credits", &format!("about {credits} in 30 days")));
    }
    lines
}

/// Returns the notifications that are enabled.
fn notification_texts(notification: &MonitorNotification) -> impl Iterator<Item = (&'static str, String)> {
    let MonitorNotification { email, slack } = notification;
    let email = email.as_ref().filter(|email| email.enabled == Some(true)).map(|email| {
        let recipients = email.recipients.as_deref().unwrap_or_default();
        let recipients: Vec<String> = recipients.iter().map(|address| printable(address)).collect();
        if recipients.is_empty() {
            "no recipients, nothing is sent".to_owned()
        } else {
            recipients.join(", ")
        }
    });
    let slack = slack.as_ref().filter(|slack| slack.enabled == Some(true)).map(|slack| {
        let SlackNotification { enabled: _, channel_id, channel_name, webhook_url } = slack;
        let channel = channel_name.as_deref().or(channel_id.as_deref()).unwrap_or_default();
        webhook_url.as_deref().map_or_else(|| printable(channel), |url| printable(&redact_url(url)))
    });
    email.map(|text| ("Email", text)).into_iter().chain(slack.map(|text| ("Slack", text)))
}

fn field(name: &str, value: &str) -> String {
    format!("{name:<11}{value}")
}

fn target_texts(target: &MonitorTarget) -> Vec<String> {
    match target {
        MonitorTarget::Scrape(ScrapeTarget { urls, .. }) => some("page", urls),
        MonitorTarget::Crawl(CrawlTarget { url, .. }) => some("site", std::slice::from_ref(url)),
        MonitorTarget::Search(SearchTarget { queries, .. }) => some("search", queries),
    }
}

/// Returns the first of the pages or queries of a target, and the number of others.
fn some(kind: &str, values: &[String]) -> Vec<String> {
    let shown = values.iter().take(MAX_SHOWN_TARGETS).map(|value| format!("{kind} {}", printable(value)));
    let others = values.len().saturating_sub(MAX_SHOWN_TARGETS);
    shown.chain((others > 0).then(|| format!("and {others} more of this kind"))).collect()
}

/// Returns a schedule in words, such as "Every day at 09:00 (Europe/Berlin)".
fn schedule_text(schedule: &MonitorSchedule) -> String {
    match parse(schedule) {
        Some(schedule) => schedule.to_string(),
        // A later version of the server may know other schedules.
        None => printable(&format!("{} ({})", schedule.cron, schedule.timezone)),
    }
}

fn parse(schedule: &MonitorSchedule) -> Option<Schedule> {
    let MonitorSchedule { cron, timezone } = schedule;
    Some(Schedule::new(cron.parse().ok()?, Zone::from_name(timezone).ok()?))
}

/// Returns the next runs in the time zone of the schedule. The server determines the first one.
fn next_runs(monitor: &Monitor) -> String {
    let Some(first) = &monitor.next_run_at else { return "none".to_owned() };
    let (Some(schedule), Ok(first_run)) = (parse(&monitor.schedule), first.parse::<Timestamp>()) else {
        return time(first, zone(monitor).as_ref());
    };
    let runs = std::iter::once(first_run).chain(schedule.runs_after(first_run)).take(SHOWN_RUNS);
    runs.map(|run| schedule.zone().format(run)).collect::<Vec<_>>().join(", ")
}

/// Returns the time zone of a monitor. A later version of the server may have others.
fn zone(monitor: &Monitor) -> Option<Zone> {
    Zone::from_name(&monitor.schedule.timezone).ok()
}

fn optional_time(time_text: Option<&str>, zone: Option<&Zone>) -> String {
    time_text.map_or_else(|| "-".to_owned(), |text| time(text, zone))
}

/// Returns a time without fractions of a second, as the other commands print it, with the offset of a zone.
fn time(text: &str, zone: Option<&Zone>) -> String {
    match (text.parse::<Timestamp>(), zone) {
        (Ok(at), Some(zone)) => zone.format(at),
        (Ok(at), None) => at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        (Err(_), _) => printable(text),
    }
}

fn last_result(monitor: &Monitor) -> String {
    match (&monitor.current_check_id, &monitor.last_check_summary) {
        (Some(_), _) => "running".to_owned(),
        (None, Some(summary)) => summary_text(summary),
        (None, None) => "-".to_owned(),
    }
}

/// Returns the state, the result and the cost of a check in one line.
pub(in crate::command) fn check_result(check: &MonitorCheck) -> String {
    let credits = check
        .actual_credits
        .map(|credits| format!(", {}", counted(credits, "credit", "credits")))
        .unwrap_or_default();
    format!("{}: {}{credits}", check_status_name(check.status), summary_text(&check.summary))
}

fn result_text(check: &MonitorCheck) -> String {
    match &check.error {
        Some(error) => one_line(error, MAX_REASON_CHARS),
        None => summary_text(&check.summary),
    }
}

/// Returns the numbers of pages that are not zero, the changes first.
fn summary_text(summary: &MonitorCheckSummary) -> String {
    let MonitorCheckSummary { total_pages, same, changed, new, removed, error } = *summary;
    let counts = [("changed", changed), ("new", new), ("removed", removed), ("error", error), ("same", same)];
    let counts = counts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}"));
    let counts: Vec<_> = counts.collect();
    if counts.is_empty() { counted(total_pages, "page", "pages") } else { counts.join(", ") }
}

/// Returns the result of a page in one line.
pub(super) fn page_line(page: &MonitorCheckPage) -> String {
    let mut line = format!("{:<7}  {}", page_status_name(page.status), printable(&page.url));
    if let Some(search) = page.metadata.as_ref().and_then(|metadata| metadata.search_status) {
        line.push_str(&format!("  {}", search_status_name(search)));
    }
    if let Some(error) = &page.error {
        line.push_str(&format!("  {}", one_line(error, MAX_REASON_CHARS)));
    }
    if let Some(judgment) = &page.judgment {
        line.push_str(&format!("  {}", judgment_text(judgment)));
    }
    line
}

/// Returns text in one line of at most `max` characters, without control characters.
pub(in crate::command) fn one_line(text: &str, max: usize) -> String {
    let line = printable(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(max) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns a monitor with these fields; others have values that are valid.
    fn monitor(fields: &Value) -> Monitor {
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
        serde_json::from_value(monitor).unwrap()
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
        let lines = monitor_table(&monitors).lines();
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
        let check: MonitorCheck = serde_json::from_value(json!({
            "id": "1", "monitorId": "0199", "status": "completed", "trigger": "manual",
            "scheduledFor": null, "startedAt": "2026-03-27T08:00:01.500Z", "finishedAt": null,
            "estimatedCredits": 1, "actualCredits": 1, "error": null,
            "summary": { "totalPages": 1, "same": 1, "changed": 0, "new": 0, "removed": 0, "error": 0 },
            "createdAt": "2026-03-27T08:00:01.500Z", "updatedAt": "2026-03-27T08:00:01.500Z",
            "targetResults": [], "billingStatus": "confirmed", "notificationStatus": null,
        }))
        .unwrap();
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
            summary_text(&MonitorCheckSummary { total_pages, same, changed, new, removed, error })
        };
        assert_eq!(summary([15, 1, 2, 3, 4, 5]), "2 changed, 3 new, 4 removed, 5 error, 1 same");
        assert_eq!(summary([0, 0, 0, 0, 0, 0]), "0 pages");
    }
}
