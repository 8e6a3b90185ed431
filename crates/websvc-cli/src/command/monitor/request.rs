//! The requests of `websvc monitor create` and `edit`.

use websvc::types::monitor::{
    CrawlTarget, CreateMonitorRequest, EmailNotification, MonitorNotification, MonitorRequestSchedule,
    MonitorTarget, MonitorWebhook, NotificationChannel, ScrapeTarget, SearchTarget, SlackNotification,
    UpdateMonitorRequest,
};

use crate::args::{CreateMonitor, EditMonitor, MonitorSettings, ScheduleArgs};

/// Returns the request that creates a monitor.
pub(super) fn create_request(arguments: CreateMonitor) -> CreateMonitorRequest {
    let CreateMonitor { name, schedule, urls, crawl, searches, settings } = arguments;
    let MonitorSettings { goal, webhook, emails, email_diffs, slack, channels, retention } = settings;
    let mut targets = Vec::new();
    if !urls.is_empty() {
        targets.push(MonitorTarget::Scrape(ScrapeTarget { urls, ..ScrapeTarget::default() }));
    }
    if let Some(url) = crawl {
        targets.push(MonitorTarget::Crawl(CrawlTarget { url, ..CrawlTarget::default() }));
    }
    if !searches.is_empty() {
        targets.push(MonitorTarget::Search(SearchTarget { queries: searches, ..SearchTarget::default() }));
    }
    CreateMonitorRequest {
        name,
        schedule: schedule_request(schedule),
        targets,
        webhook: webhook.map(MonitorWebhook::Url),
        notification: notification(MonitorNotification {
            email: email(emails, email_diffs),
            slack: slack.map(enabled_slack),
            channels: (!channels.is_empty()).then(|| channel_list(channels)),
        }),
        retention_days: retention,
        goal,
        ..CreateMonitorRequest::default()
    }
}

/// Returns the ID of a monitor, and the request that changes it.
pub(super) fn update_request(arguments: EditMonitor) -> (String, UpdateMonitorRequest) {
    let EditMonitor { id, name, schedule, settings, no_goal, no_webhook, no_email, no_slack, no_notify } =
        arguments;
    let MonitorSettings { goal, webhook, emails, email_diffs, slack, channels, retention } = settings;
    let schedule = schedule_request(schedule);
    let no_emails = EmailNotification { enabled: Some(false), ..EmailNotification::default() };
    let no_messages = SlackNotification { enabled: Some(false), ..SlackNotification::default() };
    let email = email(emails, email_diffs).or(no_email.then_some(no_emails));
    let slack = slack.map(enabled_slack).or(no_slack.then_some(no_messages));
    let channels = (no_notify || !channels.is_empty()).then(|| channel_list(channels));
    let request = UpdateMonitorRequest {
        name,
        schedule: (schedule != MonitorRequestSchedule::default()).then_some(schedule),
        webhook: webhook.map(|url| Some(MonitorWebhook::Url(url))).or(no_webhook.then_some(None)),
        notification: notification(MonitorNotification { email, slack, channels }),
        retention_days: retention,
        goal: goal.map(Some).or(no_goal.then_some(None)),
        ..UpdateMonitorRequest::default()
    };
    (id, request)
}

fn schedule_request(ScheduleArgs { every, cron, timezone }: ScheduleArgs) -> MonitorRequestSchedule {
    MonitorRequestSchedule { cron, text: every, timezone }
}

fn email(recipients: Vec<String>, has_diffs: bool) -> Option<EmailNotification> {
    (!recipients.is_empty()).then(|| EmailNotification {
        enabled: Some(true),
        recipients: Some(recipients),
        include_diffs: has_diffs.then_some(true),
        statuses: None,
    })
}

fn enabled_slack(url: String) -> SlackNotification {
    SlackNotification { enabled: Some(true), webhook_url: Some(url), ..SlackNotification::default() }
}

fn channel_list(urls: Vec<String>) -> Vec<NotificationChannel> {
    urls.into_iter().map(|url| NotificationChannel { url, ..NotificationChannel::default() }).collect()
}

/// Returns the notifications, if there are any.
fn notification(notification: MonitorNotification) -> Option<MonitorNotification> {
    (notification != MonitorNotification::default()).then_some(notification)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::{Value, json};

    use super::*;
    use crate::args::{Cli, Command, MonitorCommand};

    fn parse(arguments: &[&str]) -> Result<MonitorCommand, clap::Error> {
        let cli = Cli::try_parse_from([&["websvc", "monitor"], arguments].concat())?;
        match cli.command {
            Command::Monitor(monitor) => Ok(monitor.command),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check_edit(options: &[&str], expected: &Value) {
        let MonitorCommand::Edit(edit) = parse(&[&["edit", "7"], options].concat()).unwrap() else {
            panic!()
        };
        let (id, request) = update_request(*edit);
        assert_eq!(
            (id.as_str(), serde_json::to_value(request).unwrap()),
            ("7", expected.clone()),
            "{options:?}"
        );
    }

    #[test]
    fn options_become_the_request() {
        let arguments = [
            "create",
            "--name",
            "Tea",
            "--every",
            "daily",
            "--timezone",
            "Asia/Tokyo",
            "--url",
            "a.test",
            "--url",
            "b.test",
            "--crawl",
            "c.test",
            "--search",
            "tea",
            "--goal",
            "prices",
            "--webhook",
            "http://hook.test",
            "--email",
            "a@a.test",
            "--email",
            "b@a.test",
            "--email-diffs",
            "--slack",
            "http://slack.test",
            "--retention",
            "7",
        ];
        let MonitorCommand::Create(create) = parse(&arguments).unwrap() else { panic!() };
        let expected = json!({
            "name": "Tea",
            "schedule": { "text": "daily", "timezone": "Asia/Tokyo" },
            "targets": [
                { "type": "scrape", "urls": ["a.test", "b.test"] },
                { "type": "crawl", "url": "c.test" },
                { "type": "search", "queries": ["tea"] },
            ],
            "webhook": "http://hook.test",
            "notification": {
                "email": { "enabled": true, "recipients": ["a@a.test", "b@a.test"], "includeDiffs": true },
                "slack": { "enabled": true, "webhookUrl": "http://slack.test" },
            },
            "retentionDays": 7,
            "goal": "prices",
        });
        assert_eq!(serde_json::to_value(create_request(*create)).unwrap(), expected);
    }

    #[test]
    fn monitor_needs_one_schedule_and_a_target() {
        let create = ["create", "--name", "Tea"];
        for (options, is_valid) in [
            (["--every", "daily", "--url", "a.test"].as_slice(), true),
            (&["--cron", "0 0 * * *", "--search", "tea"], true),
            (&["--every", "daily"], false),
            (&["--url", "a.test"], false),
            (&["--every", "daily", "--cron", "0 0 * * *", "--url", "a.test"], false),
        ] {
            assert_eq!(parse(&[&create, options].concat()).is_ok(), is_valid, "{options:?}");
        }
    }

    #[test]
    fn edit_changes_only_what_is_given() {
        check_edit(&["--name", "Tea"], &json!({ "name": "Tea" }));
        check_edit(&["--timezone", "Asia/Tokyo"], &json!({ "schedule": { "timezone": "Asia/Tokyo" } }));
        check_edit(&["--cron", "0 9 * * *"], &json!({ "schedule": { "cron": "0 9 * * *" } }));
        check_edit(&["--every", "daily"], &json!({ "schedule": { "text": "daily" } }));
        check_edit(
            &["--goal", "prices", "--retention", "9"],
            &json!({ "goal": "prices", "retentionDays": 9 }),
        );
        check_edit(&["--webhook", "http://hook.test"], &json!({ "webhook": "http://hook.test" }));
        let email = json!({ "email": { "enabled": true, "recipients": ["a@a.test"] } });
        check_edit(&["--email", "a@a.test"], &json!({ "notification": email }));
    }

    #[test]
    fn edit_removes_what_is_named() {
        check_edit(&["--no-goal", "--no-webhook"], &json!({ "goal": null, "webhook": null }));
        let notification = json!({ "email": { "enabled": false }, "slack": { "enabled": false } });
        check_edit(&["--no-email", "--no-slack"], &json!({ "notification": notification }));
    }

    #[test]
    fn edit_needs_a_change_and_none_that_contradicts_another() {
        for (options, is_valid) in [
            ([].as_slice(), false),
            (&["--name", "Tea"], true),
            (&["--email-diffs"], false),
            (&["--goal", "a", "--no-goal"], false),
            (&["--webhook", "http://a.test", "--no-webhook"], false),
            (&["--email", "a@a.test", "--no-email"], false),
            (&["--slack", "http://a.test", "--no-slack"], false),
            (&["--every", "daily", "--cron", "0 0 * * *"], false),
            (&["--retention", "0"], false),
            (&["--retention", "366"], false),
        ] {
            assert_eq!(parse(&[&["edit", "7"], options].concat()).is_ok(), is_valid, "{options:?}");
            assert_eq!(parse(&[&["update", "7"], options].concat()).is_ok(), is_valid, "{options:?}");
        }
    }
}
