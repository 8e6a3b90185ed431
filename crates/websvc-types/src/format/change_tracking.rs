//! The format `changeTracking`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::PROMPT_MAX_CHARS;

/// Changes of the page since its previous scrape.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ChangeTracking {
    /// How changes are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<ChangeMode>>,
    /// For mode `json`: a JSON Schema of what is compared. References may only point inside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// For mode `json`: what is compared, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = PROMPT_MAX_CHARS))]
    pub prompt: Option<String>,
    /// A branch of the history of its own: only scrapes of the same tag are compared. Default: null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// How changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeMode {
    /// A unified diff of the markdown.
    GitDiff,
    /// The fields that changed, before and after.
    Json,
}
