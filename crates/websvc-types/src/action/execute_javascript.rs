//! The action `executeJavascript`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs JavaScript in the page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecuteJavascript {
    /// The script.
    pub script: String,
}
