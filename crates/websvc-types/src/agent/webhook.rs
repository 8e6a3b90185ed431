//! Webhook of an agent run, and the data of its events.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;
use crate::scrape::add_header_patterns;
use crate::url_or_options::{self, UrlOrOptions};

/// Webhook of an agent run or an extraction: a URL, or an object with options.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgentWebhook {
    /// URL that receives all events.
    Url(String),
    /// URL with options.
    Options(AgentWebhookOptions),
}

/// URL and options of the webhook of an agent run or an extraction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentWebhookOptions {
    /// URL that events are posted to, http or https, at most 8192 characters.
    #[schemars(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Headers of every event, at most 65536 bytes. `Content-Type`, connection headers and the signature headers are
    /// not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Object that every event repeats, at most 16384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Events to send; at least one. Default: all. An extraction has no event `action` or `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub events: Option<Vec<AgentWebhookEvent>>,
}

/// Events of an agent run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
}

impl AgentWebhookEvent {
    /// All events, in the order in which they may happen.
    pub const ALL: [Self; 5] = [Self::Started, Self::Action, Self::Completed, Self::Failed, Self::Cancelled];
}

/// Item of `data` of the event `agent.action`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCompletedEvent {
    /// Credits that the run was charged.
    pub credits_used: u64,
    /// The collected data.
    pub data: Value,
}

/// Item of `data` of the events `agent.failed` and `agent.cancelled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentEndEvent {
    /// Always 0: only runs with data are charged.
    pub credits_used: u64,
}

impl<'de> Deserialize<'de> for AgentWebhook {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match UrlOrOptions::deserialize(deserializer)? {
            UrlOrOptions::Url(url) => Self::Url(url),
            UrlOrOptions::Options(options) => Self::Options(options),
        })
    }
}

impl JsonSchema for AgentWebhook {
    fn schema_name() -> Cow<'static, str> {
        "AgentWebhook".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        url_or_options::schema::<AgentWebhookOptions>(generator)
    }
}
