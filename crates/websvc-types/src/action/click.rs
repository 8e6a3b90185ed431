//! The action `click`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Clicks an element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Click {
    /// A CSS selector of the element.
    pub selector: String,
    /// Clicks every match, and is content when there is none. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("default" = false))]
    pub all: Option<bool>,
}
