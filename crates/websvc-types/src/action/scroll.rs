//! The action `scroll`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scrolls the page or an element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scroll {
    /// Where to. Default: down.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Direction", extend("default" = "down"))]
    pub direction: Option<Direction>,
    /// A CSS selector of the element; the page when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub selector: Option<String>,
}

/// The direction of a scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards the start.
    Up,
    /// Towards the end.
    Down,
}
