//! Request that starts an agent run.

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use serde_with_macros::skip_serializing_none;

use super::webhook::AgentWebhook;
use crate::compat::{self, STRICT_CONSTRAIN_TO_URLS};
use crate::limits::{
    AGENT_CREDITS_DEFAULT, AGENT_CREDITS_MAX, AGENT_CREDITS_MIN, AGENT_MODEL_MAX_CHARS,
    AGENT_PROMPT_MAX_CHARS, AGENT_PROMPT_MIN_CHARS, AGENT_URLS_MAX,
};
use crate::pattern::NOT_BLANK;
use crate::scrape::{AuditMetadata, Location, ThreatProtection};

/// Request of `POST /v2/agent`: starts a run that collects data from the web.
///
/// # Examples
///
/// ```
/// use websvc_types::agent::AgentRequest;
///
/// let request = AgentRequest {
///     urls: Some(vec!["https://shop.example".to_owned()]),
///     ..AgentRequest::new("What does the blue kettle cost?")
/// };
/// let json = r#"{"prompt": "What does the blue kettle cost?", "urls": ["https://shop.example"]}"#;
/// assert_eq!(serde_json::from_str::<AgentRequest>(json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields, transform = add_client_spellings))]
pub struct AgentRequest {
    /// The task in words, 1 to 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = AGENT_PROMPT_MIN_CHARS, max = AGENT_PROMPT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub prompt: String,
    /// URLs to start with, http or https, at most 100, each at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = AGENT_URLS_MAX)))]
    pub urls: Option<Vec<String>>,
    /// JSON Schema of `data`. References must point into the schema itself. Default: a free object.
    pub schema: Option<Map<String, Value>>,
    /// True reads only the pages in `urls`: no search, and no other page of their sites. Default: false.
    #[serde(rename = "strictConstrainToURLs")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub strict_constrain_to_urls: Option<bool>,
    /// Maximum of credits, 1 to 1000000. A run that would need more fails, and costs nothing. Default: 2500.
    #[cfg_attr(feature = "schemars", schemars(range(min = AGENT_CREDITS_MIN, max = AGENT_CREDITS_MAX), extend("default" = AGENT_CREDITS_DEFAULT)))]
    pub max_credits: Option<u64>,
    /// Name of a model of the hosted service, at most 128 characters. It is repeated in the status; the run uses the model
    /// of the installation.
    #[cfg_attr(feature = "schemars", schemars(length(max = AGENT_MODEL_MAX_CHARS)))]
    pub model: Option<String>,
    /// Bound on steps and tokens. Default: medium.
    pub effort: Option<AgentEffort>,
    /// URL that receives the events of the run.
    pub webhook: Option<AgentWebhook>,
    /// ID of the thread to continue. The run knows its earlier turns, and inherits `mode`, `urls` and `schema` if they are
    /// absent. Default: a new thread.
    pub thread_id: Option<String>,
    /// `extract` answers with `data`, `chat` also with a text in `message`. Default: extract.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "extract")))]
    pub mode: Option<AgentMode>,
    /// Paid data providers of the hosted service. Not available, and ignored with a warning.
    pub exchange: Option<Map<String, Value>>,
    /// Location that pages are visited from.
    pub location: Option<Location>,
    /// Must be false: the service stores a run until its result expires. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub zero_data_retention: Option<bool>,
    /// True lets the run use pages in a browser: click, type and submit. Needs a browser, and a key with the scope
    /// `interact`. Default: false, the run only reads.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub allow_interact: Option<bool>,
    /// Changes the threat protection of the team for this run.
    pub threat_protection: Option<ThreatProtection>,
    /// User that the request is made for, recorded in the audit events of the team.
    pub audit_metadata: Option<AuditMetadata>,
    /// Name of the client, which the list of runs repeats.
    pub origin: Option<String>,
    /// Name of the integration, which the list of runs repeats.
    pub integration: Option<String>,
}

/// Adds the spelling of a field that the official Rust client sends.
#[cfg(feature = "schemars")]
fn add_client_spellings(schema: &mut Schema) {
    let property = json!({
        "description": "Sent by the official Rust client: the same as `strictConstrainToURLs`.",
        "deprecated": true,
        "type": ["boolean", "null"],
    });
    compat::add_property(schema, STRICT_CONSTRAIN_TO_URLS, property);
}

impl AgentRequest {
    /// Creates a request with this task, with all other fields absent.
    #[must_use]
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }
}

/// Bound on the steps and tokens of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentEffort {
    /// At most 10 steps and 100000 tokens.
    Low,
    /// At most 25 steps and 300000 tokens.
    #[default]
    Medium,
    /// At most 60 steps and 1000000 tokens.
    High,
}

/// Form of the answer of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// Data.
    #[default]
    Extract,
    /// Data and a text.
    Chat,
}
