//! Notifications of people about changes, and the outcome of their deliveries.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::channel::{ChannelDelivery, NotificationChannel};
use super::page_status::MonitorPageStatus;
#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;
use crate::limits::{
    CHANNELS_MAX, EMAIL_MAX_CHARS, EMAIL_RECIPIENTS_MAX, EMAIL_TOKEN_MAX_CHARS, EMAIL_TOKEN_MIN_CHARS,
    SLACK_CHANNEL_ID_MAX_CHARS, SLACK_CHANNEL_NAME_MAX_CHARS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;

/// Notifications of people about changes.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct MonitorNotification {
    /// Notification by email. Default: none.
    pub email: Option<EmailNotification>,
    /// Notification in Slack. Default: none.
    pub slack: Option<SlackNotification>,
    /// Channels of further services, at most 10. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = CHANNELS_MAX)))]
    pub channels: Option<Vec<NotificationChannel>>,
}

/// Notification by email.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct EmailNotification {
    /// True sends emails. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub enabled: Option<bool>,
    /// Addresses, at most 25. Each gets emails when its owner has confirmed it. An empty list counts as absent: then no
    /// emails are sent, because members of teams have no addresses.
    #[cfg_attr(feature = "schemars", schemars(length(max = EMAIL_RECIPIENTS_MAX), inner(length(max = EMAIL_MAX_CHARS))))]
    pub recipients: Option<Vec<String>>,
    /// True adds the diffs of up to five pages. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub include_diffs: Option<bool>,
    /// Statuses of pages that are reported, at least one. Default: `changed`, `new`, `removed` and `error`.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub statuses: Option<Vec<MonitorPageStatus>>,
}

/// Notification in Slack, or in a service with compatible incoming webhooks.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct SlackNotification {
    /// True sends messages. Requires `channelId` or `webhookUrl`. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub enabled: Option<bool>,
    /// ID of the channel, at most 64 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = SLACK_CHANNEL_ID_MAX_CHARS)))]
    pub channel_id: Option<String>,
    /// Name of the channel, at most 128 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = SLACK_CHANNEL_NAME_MAX_CHARS)))]
    pub channel_name: Option<String>,
    /// URL of an incoming webhook, http or https, at most 8192 characters. Messages are sent only with this URL.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub webhook_url: Option<String>,
    /// Statuses of pages that are reported, at least one. Default: `changed`, `new`, `removed` and `error`.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub statuses: Option<Vec<MonitorPageStatus>>,
}

/// Subscription of an email address to a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EmailSubscription {
    /// Address.
    pub email: String,
    /// State of the subscription.
    pub status: EmailSubscriptionStatus,
    /// Reason why the address is a recipient.
    pub source: EmailSubscriptionSource,
    /// True if the message that asks for confirmation was sent.
    pub confirmation_email_sent: bool,
}

/// States of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EmailSubscriptionStatus {
    /// The owner of the address has not confirmed it.
    Pending,
    /// The address gets notifications.
    Confirmed,
    /// The owner of the address does not want notifications.
    Unsubscribed,
}

/// Reasons why an address is a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EmailSubscriptionSource {
    /// It belongs to a member of the team.
    Team,
    /// It is in `recipients` of the monitor.
    OptIn,
    /// It was a recipient before addresses had to be confirmed.
    Legacy,
}

/// Request of `POST /v2/monitor/email/confirm` and `POST /v2/monitor/email/unsubscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorEmailRequest {
    /// Token of the link in the email, 16 to 64 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = EMAIL_TOKEN_MIN_CHARS, max = EMAIL_TOKEN_MAX_CHARS)))]
    pub token: String,
}

/// Response of `POST /v2/monitor/email/confirm` and `POST /v2/monitor/email/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MonitorEmailResponse {
    /// Always true.
    pub success: bool,
    /// State of the subscription.
    pub result: MonitorEmailResult,
    /// Address of the subscription.
    pub email: String,
    /// Name of the monitor.
    pub monitor_name: String,
}

/// States of a subscription after a request of its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MonitorEmailResult {
    /// The address gets notifications.
    Confirmed,
    /// The address gets no notifications.
    Unsubscribed,
}

/// Outcome of the notifications of a check. Absent parts were not configured.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct MonitorNotificationStatus {
    /// Events to the webhook.
    pub webhook: Option<WebhookDelivery>,
    /// Emails.
    pub email: Option<EmailDelivery>,
    /// Messages in Slack.
    pub slack: Option<SlackDelivery>,
    /// Messages to the channels, in their order.
    pub channels: Option<Vec<ChannelDelivery>>,
}

/// Outcome of the events of a check to the webhook.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct WebhookDelivery {
    /// True if an event was to be sent.
    pub attempted: bool,
    /// True if all events sent so far were delivered.
    pub success: bool,
    /// Number of delivered events.
    pub delivered: u64,
    /// Number of events that are not delivered yet.
    pub queued: u64,
    /// Number of events that the webhook did not subscribe to.
    pub skipped: Option<u64>,
    /// HTTP status of the last attempt.
    pub status_code: Option<u16>,
    /// Reason why the last attempt failed.
    pub error: Option<String>,
    /// Time of the last delivery, ISO 8601.
    pub delivered_at: Option<String>,
}

/// Outcome of the emails of a check.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct EmailDelivery {
    /// True if an email was to be sent.
    pub attempted: bool,
    /// True if all emails were sent.
    pub success: bool,
    /// Addresses of the emails.
    pub recipients: Vec<String>,
    /// Reason why an email was not sent.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub error: Option<String>,
}

/// Outcome of the message of a check in Slack.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct SlackDelivery {
    /// True if a message was to be sent.
    pub attempted: bool,
    /// True if the message was sent.
    pub success: bool,
    /// Reason why the message was not sent.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub error: Option<String>,
}
