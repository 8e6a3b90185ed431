//! The action `wait`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{WAIT_MIN_MS, WAIT_TOTAL_MAX_MS};

/// Waits for a time or for an element: exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("oneOf" = [{"required": ["milliseconds"]}, {"required": ["selector"]}]))]
pub struct Wait {
    /// How long, in milliseconds, 1 to 60000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = WAIT_MIN_MS, max = WAIT_TOTAL_MAX_MS))]
    pub milliseconds: Option<u64>,
    /// A CSS selector of the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub selector: Option<String>,
}
