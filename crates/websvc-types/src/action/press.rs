//! The action `press`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Presses a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct Press {
    /// Name of the key, such as `Enter`.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub key: String,
}
