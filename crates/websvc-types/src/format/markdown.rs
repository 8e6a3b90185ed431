//! The format `markdown`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Content as markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Markdown {}
