//! What official clients send that the specification does not have, and that is accepted for their sake.
//!
//! The schemas carry these as deprecated alternatives, so that they tell the truth about what is accepted.

use schemars::Schema;
use serde_json::{Value, json};

/// Sources that are left out with a warning.
pub const SOURCES: &[&str] = &["alexandria"];

/// Categories that are left out with a warning.
pub const CATEGORIES: &[&str] = &["developer", "gov"];

/// Another spelling of `ignoreInvalidURLs`, of the Rust client.
pub const IGNORE_INVALID_URLS: &str = "ignoreInvalidUrls";

/// Where the Rust client puts the options of the format `json`, beside its bare name.
pub const JSON_OPTIONS: &str = "jsonOptions";

/// Returns the alternative of a list's items that are left out.
pub(crate) fn left_out(names: &[&str]) -> Value {
    json!({
        "description": "Known to official clients only: left out, with a warning.",
        "deprecated": true,
        "anyOf": [
            { "type": "string", "enum": names },
            { "type": "object", "properties": { "type": { "type": "string", "enum": names } }, "required": ["type"] },
        ],
    })
}

/// Adds a deprecated property to the schema of an object.
pub(crate) fn add_property(schema: &mut Schema, name: &str, property: Value) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), property);
    }
}
