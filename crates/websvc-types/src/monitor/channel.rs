//! Channels of notifications, and the outcome of their messages.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use super::page_status::MonitorPageStatus;
#[cfg(feature = "schemars")]
use crate::limits::URL_MAX_CHARS;
#[cfg(feature = "schemars")]
use crate::pattern::NOT_BLANK;

/// Channel of a messaging service: ntfy, Gotify, Discord, Telegram, Slack, Mattermost, Microsoft Teams, Matrix, Pushover,
/// or any receiver of JSON.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct NotificationChannel {
    /// URL in the form of Apprise, such as `ntfy://topic` or `tgram://token/chat`, or the address of a webhook, at most
    /// 8192 characters. It is the credential of the channel.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Statuses of pages that the channel reports, at least one. Default: `changed`, `new`, `removed` and `error`.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub statuses: Option<Vec<MonitorPageStatus>>,
    /// Body of the message for a receiver of JSON, at most 16384 bytes. Its texts may contain `{{title}}`,
    /// `{{message}}` and other names in double braces. Default: `title`, `message`, `type` and `version`.
    pub template: Option<Map<String, Value>>,
}

/// Outcome of the message of a check to a channel.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ChannelDelivery {
    /// Name of the service, such as `ntfy`.
    pub service: String,
    /// True if a message was to be sent.
    pub attempted: bool,
    /// True if the message was sent.
    pub success: bool,
    /// Reason why the message was not sent.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub error: Option<String>,
}

/// Response of `POST /v2/monitor/notification/test`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ChannelTestResponse {
    /// True if the service accepted the message.
    pub success: bool,
    /// Name of the service, such as `ntfy`.
    pub service: String,
    /// Reason why the message was not sent.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub error: Option<String>,
}
