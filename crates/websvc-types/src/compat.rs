//! Keys and values of official clients that the specification does not have, accepted for compatibility.
//!
//! The schemas carry these as deprecated alternatives, so that they tell the truth about what is accepted.

use schemars::Schema;
use serde_json::{Value, json};

use crate::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

/// Sources that are left out with a warning.
pub const SOURCES: &[&str] = &["alexandria"];

/// Categories that are left out with a warning.
pub const CATEGORIES: &[&str] = &["developer", "gov"];

/// Formats that are left out with a warning.
pub const FORMATS: &[&str] = &["attributes", "rawBase64"];

/// Options of a parser that are ignored with a warning.
pub const PARSER_OPTIONS: &[&str] = &["blocks", "pageMarkdown", "pageMarkers", "pages"];

/// The older name of the format `question`, which has the question in `prompt`.
pub const QUERY: &str = "query";

/// Another spelling of `ignoreInvalidURLs`, of the Rust client.
pub const IGNORE_INVALID_URLS: &str = "ignoreInvalidUrls";

/// Key in which the Rust client sends the options of the format `json`, beside its bare name.
pub const JSON_OPTIONS: &str = "jsonOptions";

/// Returns the alternative of a list's items that are left out.
pub(crate) fn ignored_values_schema(names: &[&str]) -> Value {
    json!({
        "description": "Known to official clients only: left out, with a warning.",
        "deprecated": true,
        "anyOf": [
            { "type": "string", "enum": names },
            { "type": "object", "properties": { "type": { "type": "string", "enum": names } }, "required": ["type"] },
        ],
    })
}

/// Adds the alternatives of the format that are accepted under other names, and of those that are left out.
pub(crate) fn add_formats(schema: &mut Schema) {
    let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") else { return };
    alternatives.push(ignored_values_schema(FORMATS));
    alternatives.push(json!({
        "description": "Older name of question, of official clients: the prompt is the question.",
        "deprecated": true,
        "type": "object",
        "properties": {
            "type": { "type": "string", "const": QUERY },
            "prompt": {
                "description": "The question, in words.",
                "type": "string",
                "minLength": QUESTION_MIN_CHARS,
                "maxLength": QUESTION_MAX_CHARS,
            },
            "mode": { "description": "Has no effect: the answer is that of question." },
        },
        "required": ["type", "prompt"],
    }));
}

/// Adds the options of a parser that are ignored.
pub(crate) fn add_parser_options(schema: &mut Schema) {
    for name in PARSER_OPTIONS {
        let description = "Known to official clients only: ignored, with a warning.";
        add_property(schema, name, json!({ "deprecated": true, "description": description }));
    }
}

/// Adds a deprecated property to the schema of an object.
pub(crate) fn add_property(schema: &mut Schema, name: &str, property: Value) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), property);
    }
}
