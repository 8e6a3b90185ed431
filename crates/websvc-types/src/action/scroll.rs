//! The action `scroll`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::SELECTOR_MAX_CHARS;
use crate::pattern::NOT_BLANK;

/// Scrolls the page or an element.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(default)]
pub struct Scroll {
    /// Direction of the scroll. Default: down.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "down")))]
    pub direction: Option<Direction>,
    /// CSS selector of the element to scroll, at most 2000 characters. Default: the page.
    #[cfg_attr(feature = "schemars", schemars(length(max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub selector: Option<String>,
}

/// Scroll directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the top.
    Up,
    /// Towards the bottom.
    Down,
}
