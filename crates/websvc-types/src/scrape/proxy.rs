//! Proxy tiers.

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Proxy tier that fetches a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemars", schemars(transform = add_alias))]
pub enum Proxy {
    /// Fast; for sites with no or basic bot protection.
    Basic,
    /// Slower; for sites with strong bot protection. Costs up to 5 credits.
    #[serde(alias = "stealth")]
    Enhanced,
    /// `basic`, and `enhanced` if that fails. Costs 5 credits if `enhanced` was needed, otherwise the regular price.
    Auto,
}

/// Adds the older name of `enhanced`, which official clients still send.
#[cfg(feature = "schemars")]
fn add_alias(schema: &mut Schema) {
    if let Some(Value::Array(names)) = schema.get_mut("oneOf") {
        names.push(
            json!({ "description": "Older name of `enhanced`.", "type": "string", "const": "stealth" }),
        );
    }
}
