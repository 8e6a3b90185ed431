//! The action `wait`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::WAIT_MIN_MS;

/// Waits for a time or for an element: exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wait {
    /// How long, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = WAIT_MIN_MS))]
    pub milliseconds: Option<u64>,
    /// A CSS selector of the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub selector: Option<String>,
}
