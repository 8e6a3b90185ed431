//! The way to a page.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The way to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = add_alias)]
pub enum Proxy {
    /// For sites with no or basic defences; fast.
    Basic,
    /// For sites with advanced defences; slower, up to 5 credits.
    #[serde(alias = "stealth")]
    Enhanced,
    /// Enhanced when basic fails: 5 credits then, the regular cost else.
    Auto,
}

/// Adds the older name of the enhanced way, which official clients still send.
fn add_alias(schema: &mut Schema) {
    if let Some(Value::Array(names)) = schema.get_mut("oneOf") {
        names.push(
            json!({ "description": "The older name of enhanced.", "type": "string", "const": "stealth" }),
        );
    }
}
