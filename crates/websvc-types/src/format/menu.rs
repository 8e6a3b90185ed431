//! The format `menu`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Menu of the restaurant or shop that the page shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Menu {}
