//! The format `summary`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Condensed content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {}
