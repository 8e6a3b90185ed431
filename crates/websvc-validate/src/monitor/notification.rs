//! Rules of the notifications of people.

use websvc_types::ViolationCode;
use websvc_types::limits::{
    EMAIL_MAX_CHARS, EMAIL_RECIPIENTS_MAX, SLACK_CHANNEL_ID_MAX_CHARS, SLACK_CHANNEL_NAME_MAX_CHARS,
};
use websvc_types::monitor::{EmailNotification, MonitorNotification, SlackNotification};

use super::{channel, email};
use crate::path::Path;
use crate::report::{Report, quoted};
use crate::{bounds, domain, target};

/// Checks notifications, and returns them with all defaults.
pub(super) fn check(report: &mut Report, notification: MonitorNotification) -> MonitorNotification {
    let path = Path::Root.key("notification");
    let MonitorNotification { email, slack, channels } = notification;
    MonitorNotification {
        email: email.map(|email| check_email(report, &path.key("email"), email)),
        slack: slack.map(|slack| check_slack(report, &path.key("slack"), slack)),
        channels: channels.map(|channels| channel::check_all(report, &path.key("channels"), channels)),
    }
}

/// Returns the notifications after a change: each channel that the change has replaces the present one.
pub(super) fn merge(
    current: Option<MonitorNotification>,
    changes: MonitorNotification,
) -> Option<MonitorNotification> {
    let current = current.unwrap_or_default();
    let merged = MonitorNotification {
        email: changes.email.or(current.email),
        slack: changes.slack.or(current.slack),
        channels: changes.channels.or(current.channels),
    };
    (merged != MonitorNotification::default()).then_some(merged)
}

fn check_email(report: &mut Report, path: &Path<'_>, email: EmailNotification) -> EmailNotification {
    let EmailNotification { enabled, recipients, include_diffs, statuses } = email;
    let recipients = check_recipients(report, &path.key("recipients"), &recipients.unwrap_or_default());
    EmailNotification {
        enabled: Some(enabled.unwrap_or(false)),
        recipients: Some(recipients),
        include_diffs: Some(include_diffs.unwrap_or(false)),
        statuses: channel::check_statuses(report, &path.key("statuses"), statuses),
    }
}

/// Returns the distinct addresses. Without any, no email is sent.
fn check_recipients(report: &mut Report, path: &Path<'_>, texts: &[String]) -> Vec<String> {
    if !bounds::items(report, path, texts.len(), EMAIL_RECIPIENTS_MAX) {
        return Vec::new();
    }
    let mut addresses = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let path = path.index(index);
        if !bounds::chars(report, &path, text, 0, EMAIL_MAX_CHARS) {
            continue;
        }
        match email::canonical(text) {
            Some(address) => addresses.push(address),
            None => report.violation(&path, ViolationCode::InvalidFormat, |name| {
                format!(
                    "{name} must be an email address such as anna@example.com, not {}: before the @ it has ASCII \
                     letters, digits, single dots and other characters that need no quotes, after it a host name",
                    quoted(text)
                )
            }),
        }
    }
    domain::deduplicate(addresses)
}

fn check_slack(report: &mut Report, path: &Path<'_>, slack: SlackNotification) -> SlackNotification {
    let SlackNotification { enabled, channel_id, channel_name, webhook_url, statuses } = slack;
    let statuses = channel::check_statuses(report, &path.key("statuses"), statuses);
    let enabled = enabled.unwrap_or(false);
    if let Some(id) = &channel_id {
        bounds::chars(report, &path.key("channelId"), id, 0, SLACK_CHANNEL_ID_MAX_CHARS);
    }
    if let Some(name) = &channel_name {
        bounds::chars(report, &path.key("channelName"), name, 0, SLACK_CHANNEL_NAME_MAX_CHARS);
    }
    let webhook_url = webhook_url
        .map(|url| target::check(report, &path.key("webhookUrl"), &url).map_or(url, |target| target.text));
    let channel_id = channel_id.filter(|id| !id.trim().is_empty());
    let id_path = path.key("channelId");
    if enabled && channel_id.is_none() && webhook_url.is_none() && !report.has(&id_path) {
        report.violation(&id_path, ViolationCode::Missing, |name| {
            format!("{name} or webhookUrl is required if slack is enabled")
        });
    }
    SlackNotification { enabled: Some(enabled), channel_id, channel_name, webhook_url, statuses }
}
