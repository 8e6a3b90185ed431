//! The format `json`.

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::compat;
use crate::limits::PROMPT_MAX_CHARS;

/// Data extracted by a language model, as JSON.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(transform = add_client_options))]
pub struct Json {
    /// JSON Schema of the data. References must point into the schema itself.
    pub schema: Option<Map<String, Value>>,
    /// Description of the data to extract, at most 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = PROMPT_MAX_CHARS)))]
    pub prompt: Option<String>,
}

#[cfg(feature = "schemars")]
fn add_client_options(schema: &mut Schema) {
    compat::add_json_options(schema);
}
