//! The action `click`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::SELECTOR_MAX_CHARS;
use crate::pattern::NOT_BLANK;

/// Clicks an element.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct Click {
    /// CSS selector of the element, at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub selector: String,
    /// True clicks every matching element, and does not fail if there is none. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub all: Option<bool>,
}
