//! Browser storage that outlives a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{PROFILE_NAME_MAX_CHARS, PROFILE_NAME_MIN_CHARS};

/// Persistent browser storage: sessions of one name share cookies, local storage and sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// The name, 1 to 128 characters.
    #[schemars(length(min = PROFILE_NAME_MIN_CHARS, max = PROFILE_NAME_MAX_CHARS))]
    pub name: String,
    /// Saves the state when the session ends; false loads it only. One session at a time may save. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub save_changes: Option<bool>,
}
