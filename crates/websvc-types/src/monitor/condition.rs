//! Conditions under which a changed page counts as changed.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::limits::CONDITION_TEXT_MAX_CHARS;
#[cfg(feature = "schemars")]
use crate::pattern::NOT_BLANK;

/// Condition for a change of a page. It has exactly one of `contains`, `lacks`, `matches`, `number` and `field`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct MonitorCondition {
    /// Text that must occur, without regard to case, at most 500 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = CONDITION_TEXT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub contains: Option<String>,
    /// Text that must not occur, without regard to case, at most 500 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = CONDITION_TEXT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub lacks: Option<String>,
    /// Regular expression that must match, at most 500 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = CONDITION_TEXT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub matches: Option<String>,
    /// Regular expression whose first match has the number that is compared, at most 500 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = CONDITION_TEXT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub number: Option<String>,
    /// Path of a field of the extracted data that must have changed, as in `diff.json`, such as `plans[0].price`.
    #[cfg_attr(feature = "schemars", schemars(length(max = CONDITION_TEXT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub field: Option<String>,
    /// Text in which `contains`, `lacks` and `matches` look. Default: page.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "page")))]
    pub within: Option<ConditionText>,
    /// The number must be greater. Only with `number` or `field`.
    pub above: Option<f64>,
    /// The number must be less. Only with `number` or `field`.
    pub below: Option<f64>,
    /// The number must differ from that of the previous version by at least this percentage of it. Only with `number` or
    /// `field`.
    pub changed_by_percent: Option<f64>,
}

/// Texts of a changed page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ConditionText {
    /// The whole text of the page.
    #[default]
    Page,
    /// The added lines.
    Added,
    /// The removed lines.
    Removed,
}
