//! The format `links`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The links of the content, absolute, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Links {}
