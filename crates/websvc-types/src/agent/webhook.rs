//! Webhooks of agent runs and extractions, and the data of the events of agent runs.

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;
#[cfg(feature = "schemars")]
use crate::scrape::add_header_patterns;
use crate::url_or_options::UrlOrOptions;

/// Webhook of an agent run: a URL, or an object with options.
pub type AgentWebhook = UrlOrOptions<AgentWebhookOptions>;

/// URL and options of the webhook of an agent run.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct AgentWebhookOptions {
    /// URL that events are posted to, http or https, at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Headers of every event, at most 65536 bytes. `Content-Type`, connection headers and the signature headers are
    /// not allowed.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns))]
    pub headers: Option<BTreeMap<String, String>>,
    /// Object that every event repeats, at most 16384 bytes of JSON.
    pub metadata: Option<Map<String, Value>>,
    /// Events to send, by short or full name; at least one. Default: all.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub events: Option<Vec<AgentWebhookEvent>>,
}

/// Names of the events of an agent run, for the selection of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub enum AgentWebhookEvent {
    /// The run has started to work.
    #[serde(rename = "started")]
    Started,
    /// The run calls a tool.
    #[serde(rename = "action")]
    Action,
    /// The run has its data.
    #[serde(rename = "completed")]
    Completed,
    /// The run failed.
    #[serde(rename = "failed")]
    Failed,
    /// The run was cancelled.
    #[serde(rename = "cancelled")]
    Cancelled,
    /// `started`.
    #[serde(rename = "agent.started")]
    AgentStarted,
    /// `action`.
    #[serde(rename = "agent.action")]
    AgentAction,
    /// `completed`.
    #[serde(rename = "agent.completed")]
    AgentCompleted,
    /// `failed`.
    #[serde(rename = "agent.failed")]
    AgentFailed,
    /// `cancelled`.
    #[serde(rename = "agent.cancelled")]
    AgentCancelled,
}

/// Webhook of an extraction: a URL, or an object with options.
pub type ExtractWebhook = UrlOrOptions<ExtractWebhookOptions>;

/// URL and options of the webhook of an extraction.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ExtractWebhookOptions {
    /// URL that events are posted to, http or https, at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Headers of every event, at most 65536 bytes. `Content-Type`, connection headers and the signature headers are
    /// not allowed.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns))]
    pub headers: Option<BTreeMap<String, String>>,
    /// Object that every event repeats, at most 16384 bytes of JSON.
    pub metadata: Option<Map<String, Value>>,
    /// Events to send, by short or full name; at least one. Default: all.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub events: Option<Vec<ExtractWebhookEvent>>,
}

/// Names of the events of an extraction, for the selection of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub enum ExtractWebhookEvent {
    /// The extraction has started to work.
    #[serde(rename = "started")]
    Started,
    /// The extraction has its data.
    #[serde(rename = "completed")]
    Completed,
    /// The extraction failed.
    #[serde(rename = "failed")]
    Failed,
    /// `started`.
    #[serde(rename = "extract.started")]
    ExtractStarted,
    /// `completed`.
    #[serde(rename = "extract.completed")]
    ExtractCompleted,
    /// `failed`.
    #[serde(rename = "extract.failed")]
    ExtractFailed,
}

/// Kinds of events of agent runs and extractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunEventKind {
    /// The run has started to work.
    Started,
    /// The run calls a tool.
    Action,
    /// The run has its data.
    Completed,
    /// The run failed.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

impl RunEventKind {
    /// All kinds of an agent run, in the order in which they may happen.
    pub const OF_AGENT: [Self; 5] =
        [Self::Started, Self::Action, Self::Completed, Self::Failed, Self::Cancelled];

    /// All kinds of an extraction, in the order in which they may happen.
    pub const OF_EXTRACTION: [Self; 3] = [Self::Started, Self::Completed, Self::Failed];
}

impl AgentWebhookEvent {
    /// Returns the kind of the event.
    ///
    /// ```
    /// use websvc_types::agent::{AgentWebhookEvent, RunEventKind};
    ///
    /// assert_eq!(AgentWebhookEvent::AgentAction.event_kind(), RunEventKind::Action);
    /// ```
    #[must_use]
    pub fn event_kind(self) -> RunEventKind {
        match self {
            Self::Started | Self::AgentStarted => RunEventKind::Started,
            Self::Action | Self::AgentAction => RunEventKind::Action,
            Self::Completed | Self::AgentCompleted => RunEventKind::Completed,
            Self::Failed | Self::AgentFailed => RunEventKind::Failed,
            Self::Cancelled | Self::AgentCancelled => RunEventKind::Cancelled,
        }
    }
}

impl ExtractWebhookEvent {
    /// Returns the kind of the event.
    ///
    /// ```
    /// use websvc_types::agent::{ExtractWebhookEvent, RunEventKind};
    ///
    /// assert_eq!(ExtractWebhookEvent::ExtractFailed.event_kind(), RunEventKind::Failed);
    /// ```
    #[must_use]
    pub fn event_kind(self) -> RunEventKind {
        match self {
            Self::Started | Self::ExtractStarted => RunEventKind::Started,
            Self::Completed | Self::ExtractCompleted => RunEventKind::Completed,
            Self::Failed | Self::ExtractFailed => RunEventKind::Failed,
        }
    }
}

/// Item of `data` of the event `agent.action`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentActionEvent {
    /// Credits that the run has counted before the action.
    pub credits_used: u64,
    /// Name of the tool: `search`, `map`, `scrape`, `crawl` or `interact`.
    pub action: String,
    /// Parameters of the tool.
    pub input: Value,
}

/// Item of `data` of the event `agent.completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCompletedEvent {
    /// Credits that the run was charged.
    pub credits_used: u64,
    /// The collected data.
    pub data: Value,
}

/// Item of `data` of the events `agent.failed` and `agent.cancelled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentEndEvent {
    /// Always 0: only runs with data are charged.
    pub credits_used: u64,
}
