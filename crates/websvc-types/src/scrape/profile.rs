//! Persistent browser storage.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::{PROFILE_NAME_MAX_CHARS, PROFILE_NAME_MIN_CHARS};

/// Persistent browser storage: requests with the same name share cookies and local storage.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// Name of the profile, 1 to 128 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = PROFILE_NAME_MIN_CHARS, max = PROFILE_NAME_MAX_CHARS)))]
    pub name: String,
    /// True saves the state when the request ends, which only one request at a time can do; false only loads it.
    /// Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub save_changes: Option<bool>,
}
