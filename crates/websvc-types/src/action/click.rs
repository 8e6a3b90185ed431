//! The action `click`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::SELECTOR_MAX_CHARS;
use crate::pattern::NOT_BLANK;

/// Clicks an element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Click {
    /// CSS selector of the element, at most 2000 characters.
    #[schemars(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub selector: String,
    /// True clicks every matching element, and does not fail if there is none. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub all: Option<bool>,
}
