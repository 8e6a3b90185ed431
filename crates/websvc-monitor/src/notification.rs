//! The outcome of the notifications of a check (operations.md, section 3.8).

use websvc_store::{CheckDeliveries, CheckRecord};
use websvc_types::monitor::{
    EmailDelivery, MonitorEventKind, MonitorNotification, MonitorNotificationStatus, SlackDelivery,
    WebhookDelivery,
};
use websvc_validate::MonitorDefinition;

use crate::progress::CheckProgress;

const NO_MAIL: &str = "this version of websvc sends no emails";
const NO_SLACK: &str = "this version of websvc sends no messages to Slack";

/// Returns the warnings about notifications that are stored and not sent.
#[must_use]
pub fn notification_warnings(definition: &MonitorDefinition) -> Vec<String> {
    let (email, slack) = requested(definition.notification());
    let warnings = [
        email.then(|| format!("notification.email: {NO_MAIL}")),
        slack.then(|| format!("notification.slack: {NO_SLACK}")),
    ];
    warnings.into_iter().flatten().collect()
}

/// Returns the outcome of the notifications of a check that has ended; `None` if the monitor has none.
pub(crate) fn status(
    record: &CheckRecord,
    definition: &MonitorDefinition,
    progress: &CheckProgress,
    deliveries: &CheckDeliveries,
) -> Option<MonitorNotificationStatus> {
    record.finished_at_ms.filter(|_| !record.status.is_skipped())?;
    let (email, slack) = requested(definition.notification());
    let recipients = || definition.notification()?.email.as_ref()?.recipients.clone();
    let status = MonitorNotificationStatus {
        webhook: definition.webhook().map(|webhook| {
            let events = webhook.events.as_deref().unwrap_or(&MonitorEventKind::ALL);
            webhook_status(events, progress.page_events, deliveries)
        }),
        email: email.then(|| EmailDelivery {
            attempted: false,
            success: false,
            recipients: recipients().unwrap_or_default(),
            error: Some(NO_MAIL.to_owned()),
        }),
        slack: slack.then(|| SlackDelivery {
            attempted: false,
            success: false,
            error: Some(NO_SLACK.to_owned()),
        }),
    };
    (status != MonitorNotificationStatus::default()).then_some(status)
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

/// Returns whether emails and messages in Slack are requested.
fn requested(notification: Option<&MonitorNotification>) -> (bool, bool) {
    let Some(MonitorNotification { email, slack }) = notification else { return (false, false) };
    let is_enabled = |enabled: Option<bool>| enabled.unwrap_or_default();
    (
        email.as_ref().is_some_and(|email| is_enabled(email.enabled)),
        slack.as_ref().is_some_and(|slack| is_enabled(slack.enabled)),
    )
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
}
