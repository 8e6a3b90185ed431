//! The format `product`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Product that the page offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Product {}
