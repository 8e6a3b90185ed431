//! The format `branding`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Colors, fonts and logos of the site.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Branding {}
