//! Webhook of a monitor.

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::page_status::MonitorPageStatus;
use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;
#[cfg(feature = "schemars")]
use crate::scrape::add_header_patterns;
use crate::url_or_options::UrlOrOptions;

/// Webhook of a monitor: a URL, or an object with options.
pub type MonitorWebhook = UrlOrOptions<MonitorWebhookOptions>;

/// URL and options of the webhook of a monitor.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct MonitorWebhookOptions {
    /// URL that events are posted to, http or https, at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Headers of every event, at most 65536 bytes. `Content-Type`, connection headers and the signature headers are
    /// not allowed.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns))]
    pub headers: Option<BTreeMap<String, String>>,
    /// Texts that every event repeats, at most 16384 bytes of JSON.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<BTreeMap<String, Option<String>>>"))]
    pub metadata: Option<BTreeMap<String, String>>,
    /// Events to send; at least one. Default: all.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub events: Option<Vec<MonitorEventKind>>,
    /// Statuses of pages for which `monitor.page` is sent, at least one. Default: all.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub statuses: Option<Vec<MonitorPageStatus>>,
}

/// Events of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub enum MonitorEventKind {
    /// A page of a check is done.
    #[serde(rename = "monitor.page")]
    Page,
    /// A check has ended.
    #[serde(rename = "monitor.check.completed")]
    CheckCompleted,
}

impl MonitorEventKind {
    /// All events.
    pub const ALL: [Self; 2] = [Self::Page, Self::CheckCompleted];

    /// Returns the name of the event.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "monitor.page",
            Self::CheckCompleted => "monitor.check.completed",
        }
    }
}
