//! The way to a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The way to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Proxy {
    /// For sites with no or basic defences; fast.
    Basic,
    /// For sites with advanced defences; slower, up to 5 credits.
    #[serde(alias = "stealth")]
    Enhanced,
    /// Enhanced when basic fails: 5 credits then, the regular cost else.
    Auto,
}
