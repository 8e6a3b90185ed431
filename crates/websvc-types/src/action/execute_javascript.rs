//! The action `executeJavascript`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::NOT_BLANK;

/// Runs JavaScript in the page. `actions.javascriptReturns` of the response has its return value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ExecuteJavascript {
    /// Source code of the script.
    #[cfg_attr(feature = "schemars", schemars(regex(pattern = NOT_BLANK)))]
    pub script: String,
}
