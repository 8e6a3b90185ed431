//! The format `rawHtml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The page as received, decoded to text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawHtml {}
