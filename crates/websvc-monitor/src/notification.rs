//! The outcome of the notifications of a check (operations.md, section 3.8).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use websvc_store::{CheckDeliveries, CheckRecord};
use websvc_types::monitor::{
    ChannelDelivery, EmailDelivery, EmailNotification, MonitorEventKind, MonitorNotificationStatus,
    MonitorPageStatus, SlackNotification, WebhookDelivery,
};
use websvc_validate::MonitorDefinition;

use crate::channel::{ChannelOutcome, SLACK, channels, enabled_slack};
use crate::monitors::Monitors;
use crate::progress::CheckProgress;

const NO_MAIL: &str =
    "this installation sends no emails: it has no mail server ([mail] in its configuration)";
const NO_RECIPIENTS: &str =
    "no emails are sent without recipients: the members of a team have no addresses in websvc";
const NO_WEBHOOK_URL: &str =
    "messages are sent with webhookUrl only: websvc is not an application of Slack, which channelId needs";

/// Deliveries of the messages of a check, as the store keeps them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Deliveries {
    pub(crate) email: EmailDeliveries,
    /// By the key of the channel.
    pub(crate) channels: BTreeMap<String, ChannelOutcome>,
    /// Statuses of pages that the check found and that people are notified of; `None` until it ends, and for a check
    /// that could not be worked on.
    pub(crate) found: Option<Vec<MonitorPageStatus>>,
}

/// Deliveries of the emails of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct EmailDeliveries {
    pub(crate) recipients: Vec<String>,
    pub(crate) pending: u64,
    pub(crate) failed: u64,
    /// Reason of the last failure, or why there are no emails.
    pub(crate) error: Option<String>,
}

impl Deliveries {
    pub(crate) fn decode(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers can be serialized")
    }
}

/// The messages of a check when it ends.
#[derive(Debug, Default)]
pub(crate) struct EndMessages {
    pub(crate) deliveries: Deliveries,
    /// True if messages are to be sent.
    pub(crate) has_messages: bool,
}

/// Returns the messages of a check that ends: those that the monitor has, or the reasons why there are none.
pub(crate) fn end_messages(definition: &MonitorDefinition, has_mail: bool) -> EndMessages {
    let email = enabled_email(definition).map(|email| email_obstacle(email, has_mail));
    let slack = enabled_slack(definition).and_then(slack_obstacle);
    let no_slack = slack.map(|error| {
        (SLACK.to_owned(), ChannelOutcome { error: Some(error.to_owned()), ..ChannelOutcome::default() })
    });
    EndMessages {
        has_messages: email == Some(None) || !channels(definition).is_empty(),
        deliveries: Deliveries {
            email: EmailDeliveries {
                error: email.flatten().map(str::to_owned),
                ..EmailDeliveries::default()
            },
            channels: no_slack.into_iter().collect(),
            found: None,
        },
    }
}

impl Monitors {
    /// Returns the warnings about notifications that are stored and not sent.
    #[must_use]
    pub fn notification_warnings(&self, definition: &MonitorDefinition) -> Vec<String> {
        let has_mail = self.config().mail.is_some();
        let email = enabled_email(definition).and_then(|email| email_obstacle(email, has_mail));
        let slack = enabled_slack(definition).and_then(slack_obstacle);
        let warnings = [
            email.map(|text| format!("notification.email: {text}")),
            slack.map(|text| format!("notification.slack: {text}")),
        ];
        warnings.into_iter().flatten().collect()
    }
}

/// Returns the outcome of the notifications of a check that has ended; `None` if the monitor has none.
pub(crate) fn status(
    record: &CheckRecord,
    definition: &MonitorDefinition,
    progress: &CheckProgress,
    deliveries: &CheckDeliveries,
) -> Option<MonitorNotificationStatus> {
    record.finished_at_ms.filter(|_| !record.status.is_skipped())?;
    let Deliveries { email, mut channels, found: _ } = Deliveries::decode(&record.notifications);
    let status = MonitorNotificationStatus {
        webhook: definition.webhook.as_ref().map(|webhook| {
            let events = webhook.events.as_deref().unwrap_or(&MonitorEventKind::ALL);
            webhook_status(events, progress.page_events, deliveries)
        }),
        email: enabled_email(definition).map(|_| email_status(email)),
        slack: enabled_slack(definition).map(|_| channels.remove(SLACK).unwrap_or_default().slack()),
        channels: channel_status(definition, channels),
    };
    (status != MonitorNotificationStatus::default()).then_some(status)
}

fn email_status(deliveries: EmailDeliveries) -> EmailDelivery {
    let EmailDeliveries { recipients, pending, failed, error } = deliveries;
    let attempted = !recipients.is_empty();
    EmailDelivery { attempted, success: attempted && pending == 0 && failed == 0, recipients, error }
}

/// Returns the outcomes of all channels; `None` if the monitor has none.
fn channel_status(
    definition: &MonitorDefinition,
    mut outcomes: BTreeMap<String, ChannelOutcome>,
) -> Option<Vec<ChannelDelivery>> {
    let listed = channels(definition).into_iter().filter(|channel| channel.key != SLACK);
    let status = listed.map(|channel| {
        outcomes.remove(&channel.key).unwrap_or_default().of_service(channel.channel.service.as_str())
    });
    Some(status.collect()).filter(|status: &Vec<ChannelDelivery>| !status.is_empty())
}

fn webhook_status(
    events: &[MonitorEventKind],
    page_events: u64,
    deliveries: &CheckDeliveries,
) -> WebhookDelivery {
    let CheckDeliveries { pending, dead_letters, status, error } = deliveries;
    let pages = if events.contains(&MonitorEventKind::Page) { page_events } else { 0 };
    let stored = pages + u64::from(events.contains(&MonitorEventKind::CheckCompleted));
    WebhookDelivery {
        attempted: stored > 0,
        success: *dead_letters == 0 && error.is_none(),
        delivered: stored.saturating_sub(pending + dead_letters),
        queued: *pending,
        skipped: None,
        status_code: *status,
        error: error.clone(),
        delivered_at: None,
    }
}

/// Returns the emails of a monitor, if they are enabled.
pub(crate) fn enabled_email(definition: &MonitorDefinition) -> Option<&EmailNotification> {
    let email = &definition.notification.as_ref()?.email;
    email.as_ref().filter(|email| email.enabled.unwrap_or_default())
}

/// Returns the reason why no emails are sent.
fn email_obstacle(email: &EmailNotification, has_mail: bool) -> Option<&'static str> {
    match email.recipients.as_deref().unwrap_or_default() {
        _ if !has_mail => Some(NO_MAIL),
        [] => Some(NO_RECIPIENTS),
        _ => None,
    }
}

/// Returns the reason why no message is sent to Slack.
fn slack_obstacle(slack: &SlackNotification) -> Option<&'static str> {
    if slack.webhook_url.is_none() { Some(NO_WEBHOOK_URL) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_status_counts_the_events_that_were_stored() {
        let deliveries =
            CheckDeliveries { pending: 1, dead_letters: 1, status: Some(500), error: Some("x".to_owned()) };
        let status = webhook_status(&MonitorEventKind::ALL, 3, &deliveries);
        assert_eq!((status.delivered, status.queued, status.success), (2, 1, false));
        let status = webhook_status(&[MonitorEventKind::CheckCompleted], 3, &CheckDeliveries::default());
        assert_eq!((status.attempted, status.delivered, status.queued, status.success), (true, 1, 0, true));
    }

    #[test]
    fn email_status_is_a_success_when_no_email_waits_or_failed() {
        let check = |recipients: &[&str], pending, failed, expected: (bool, bool)| {
            let recipients = recipients.iter().map(|address| (*address).to_owned()).collect();
            let status = email_status(EmailDeliveries { recipients, pending, failed, error: None });
            assert_eq!((status.attempted, status.success), expected);
        };
        check(&[], 0, 0, (false, false));
        check(&["anna@tea.test"], 1, 0, (true, false));
        check(&["anna@tea.test"], 0, 1, (true, false));
        check(&["anna@tea.test"], 0, 0, (true, true));
    }
}
