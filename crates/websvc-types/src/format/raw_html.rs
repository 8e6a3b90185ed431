//! The format `rawHtml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Page as received, decoded to UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawHtml {}
