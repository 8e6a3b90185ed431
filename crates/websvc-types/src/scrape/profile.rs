//! Persistent browser storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{PROFILE_NAME_MAX_CHARS, PROFILE_NAME_MIN_CHARS};

/// Persistent browser storage: requests with the same name share cookies and local storage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// Name of the profile, 1 to 128 characters.
    #[schemars(length(min = PROFILE_NAME_MIN_CHARS, max = PROFILE_NAME_MAX_CHARS))]
    pub name: String,
    /// True saves the state when the request ends, which only one request at a time can do; false only loads it.
    /// Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub save_changes: Option<bool>,
}
