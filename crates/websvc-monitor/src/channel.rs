//! The channels of a monitor, and the outcome of their messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;
use websvc_notify::channel_key;
use websvc_types::monitor::{ChannelDelivery, MonitorPageStatus, SlackDelivery, SlackNotification};
use websvc_validate::{Channel, MonitorDefinition};

/// The key of the channel of `notification.slack`.
pub(crate) const SLACK: &str = "slack";

/// The statuses of pages that people are notified of by default.
pub(crate) const REPORTED: [MonitorPageStatus; 4] = [
    MonitorPageStatus::Changed,
    MonitorPageStatus::New,
    MonitorPageStatus::Removed,
    MonitorPageStatus::Error,
];

/// A channel that gets a message about each check that finds something.
pub(crate) struct MonitorChannel {
    /// Name of the channel in the store.
    pub(crate) key: String,
    pub(crate) channel: Channel,
    pub(crate) template: Option<Map<String, Value>>,
    /// Statuses of pages that it reports.
    pub(crate) statuses: Vec<MonitorPageStatus>,
}

/// Returns the channels of a monitor to which messages can be sent.
pub(crate) fn channels(definition: &MonitorDefinition) -> Vec<MonitorChannel> {
    let slack = enabled_slack(definition).and_then(|slack| {
        let url = Url::parse(slack.webhook_url.as_deref()?).ok()?;
        let statuses = slack.statuses.clone().unwrap_or_else(|| REPORTED.to_vec());
        Some(MonitorChannel { key: SLACK.to_owned(), channel: Channel::slack(url), template: None, statuses })
    });
    let listed =
        definition.notification.iter().flat_map(|notification| notification.channels.iter().flatten());
    let listed = listed.filter_map(|channel| {
        Some(MonitorChannel {
            key: channel_key(&channel.url),
            channel: Channel::parse(&channel.url).ok()?,
            template: channel.template.clone(),
            statuses: channel.statuses.clone().unwrap_or_else(|| REPORTED.to_vec()),
        })
    });
    slack.into_iter().chain(listed).collect()
}

/// Returns the Slack messages of a monitor, if they are enabled.
pub(crate) fn enabled_slack(definition: &MonitorDefinition) -> Option<&SlackNotification> {
    let slack = &definition.notification.as_ref()?.slack;
    slack.as_ref().filter(|slack| slack.enabled.unwrap_or_default())
}

/// Delivery of the message of a check to one channel, as the store keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ChannelOutcome {
    pub(crate) is_attempted: bool,
    pub(crate) is_sent: bool,
    /// Reason of the last failure, or why there is no message.
    pub(crate) error: Option<String>,
}

impl ChannelOutcome {
    pub(crate) fn slack(self) -> SlackDelivery {
        let Self { is_attempted, is_sent, error } = self;
        SlackDelivery { attempted: is_attempted, success: is_sent, error }
    }

    pub(crate) fn of_service(self, service: &str) -> ChannelDelivery {
        let Self { is_attempted, is_sent, error } = self;
        ChannelDelivery { service: service.to_owned(), attempted: is_attempted, success: is_sent, error }
    }
}
