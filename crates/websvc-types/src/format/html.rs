//! The format `html`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Content as cleaned HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Html {}
