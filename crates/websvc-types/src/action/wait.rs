//! The action `wait`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::{SELECTOR_MAX_CHARS, WAIT_MIN_MS, WAIT_TOTAL_MAX_MS};
use crate::pattern::NOT_BLANK;

/// Waits for a time or for an element: exactly one of the two.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schemars", schemars(extend("oneOf" = [
    {"required": ["milliseconds"], "properties": {"milliseconds": {"not": {"type": "null"}}}},
    {"required": ["selector"], "properties": {"selector": {"not": {"type": "null"}}}},
])))]
pub struct Wait {
    /// Time to wait, in milliseconds, 1 to 60000.
    #[cfg_attr(feature = "schemars", schemars(range(min = WAIT_MIN_MS, max = WAIT_TOTAL_MAX_MS)))]
    pub milliseconds: Option<u64>,
    /// CSS selector of the element to wait for, at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub selector: Option<String>,
}
