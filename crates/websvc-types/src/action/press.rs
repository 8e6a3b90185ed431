//! The action `press`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Presses a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Press {
    /// Name of the key, such as `Enter`.
    #[schemars(length(min = 1))]
    pub key: String,
}
