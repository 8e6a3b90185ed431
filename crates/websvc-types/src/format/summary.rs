//! The format `summary`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Summary of the content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {}
