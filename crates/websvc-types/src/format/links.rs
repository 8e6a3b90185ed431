//! The format `links`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Absolute URLs of the links in the content, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Links {}
