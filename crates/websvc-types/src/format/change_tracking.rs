//! The format `changeTracking`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::limits::{CHANGE_TAG_MAX_CHARS, PROMPT_MAX_CHARS};

/// Changes of the page since its last scrape. Needs the format `markdown` in the same list. The page is fetched again,
/// whatever `maxAge` says.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChangeTracking {
    /// Representations of the changes.
    pub modes: Option<Vec<ChangeMode>>,
    /// For mode `json`: JSON Schema of the fields to compare. References must point into the schema itself.
    pub schema: Option<Map<String, Value>>,
    /// For mode `json`: description of the data to compare, at most 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = PROMPT_MAX_CHARS)))]
    pub prompt: Option<String>,
    /// Name of a separate history, at most 256 characters: only scrapes with the same tag are compared. Scrapes without a
    /// tag have a history of their own.
    #[cfg_attr(feature = "schemars", schemars(length(max = CHANGE_TAG_MAX_CHARS)))]
    pub tag: Option<String>,
}

/// Representations of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChangeMode {
    /// Unified diff of the markdown.
    GitDiff,
    /// Changed fields, with their values before and after.
    Json,
}
