//! The format `images`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The images of the page, by absolute URL, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Images {}
