//! The format `images`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Absolute URLs of the images of the page, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Images {}
