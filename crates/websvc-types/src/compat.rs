//! Fields and values that official clients send but the specification does not have, accepted for compatibility.
//!
//! The schemas list them as deprecated alternatives, because they describe everything that is accepted.

#[cfg(feature = "schemars")]
use schemars::Schema;
use serde_json::{Value, json};

use crate::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

/// Name of the tools of other providers, which the original service offers.
pub const ALEXANDRIA: &str = "alexandria";

/// Names of sources that are ignored with a warning.
pub const SOURCES: &[&str] = &[ALEXANDRIA];

/// Names of categories that are ignored with a warning.
pub const CATEGORIES: &[&str] = &["developer", "gov"];

/// Formats that need options, and whose bare names are ignored with a warning. The official Python client sends the bare
/// name, without the options of its caller.
pub const BARE_FORMATS: &[&str] = &["attributes"];

/// Names of formats of other versions of the API, each with the format that has the same fields and does the same work.
pub const REPLACED_FORMATS: &[(&str, &str)] = &[("deterministicJson", "json"), ("extract", "json")];

/// Names of parsers that are ignored with a warning.
pub const PARSERS: &[&str] = &["image"];

/// Older name of the field `pages` of a parser.
pub const PAGE_MARKDOWN: &str = "pageMarkdown";

/// Field of the format `json` that is ignored with a warning.
pub const CHECK_PROMPT_INJECTION: &str = "checkPromptInjection";

/// Older name of the format `question`; the question is in the field `prompt`.
pub const QUERY: &str = "query";

/// Spelling of `ignoreInvalidURLs` that the official Rust client sends.
pub const IGNORE_INVALID_URLS: &str = "ignoreInvalidUrls";

/// Spelling of `strictConstrainToURLs` that the official Rust client sends.
pub const STRICT_CONSTRAIN_TO_URLS: &str = "strictConstrainToUrls";

/// Field in which the official Rust client sends the options of the format `json`, with the bare name in `formats`.
pub const JSON_OPTIONS: &str = "jsonOptions";

/// Fields of a search target of a monitor that older clients send. They have no effect.
pub const MONITOR_SEARCH_OPTIONS: &[&str] = &["alertMode", "depth", "recheckAfter", "scrapeOptions"];

/// Returns the schema of list items with these names, which are ignored.
pub(crate) fn ignored_values_schema(names: &[&str]) -> Value {
    json!({
        "description": "Sent by official clients only. Ignored with a warning.",
        "deprecated": true,
        "anyOf": [
            { "type": "string", "enum": names },
            { "type": "object", "properties": { "type": { "type": "string", "enum": names } }, "required": ["type"] },
        ],
    })
}

/// Adds the bare names of formats that are ignored, and the older name of the format `question`.
#[cfg(feature = "schemars")]
pub(crate) fn add_formats(schema: &mut Schema) {
    let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") else { return };
    alternatives.push(json!({
        "description": "Sent by official clients only. Ignored with a warning: the format needs its options.",
        "deprecated": true,
        "type": "string",
        "enum": BARE_FORMATS,
    }));
    alternatives.push(json!({
        "description": "Older name of the format `question`, sent by official clients; `prompt` is the question.",
        "deprecated": true,
        "type": "object",
        "properties": {
            "type": { "type": "string", "const": QUERY },
            "prompt": {
                "description": "Question about the page, 1 to 10000 characters.",
                "type": "string",
                "minLength": QUESTION_MIN_CHARS,
                "maxLength": QUESTION_MAX_CHARS,
            },
            "mode": { "description": "Has no effect." },
        },
        "required": ["type", "prompt"],
    }));
}

/// Adds the older name of the field `pages` of a parser.
#[cfg(feature = "schemars")]
pub(crate) fn add_parser_options(schema: &mut Schema) {
    let description = "Older name of `pages`, sent by official clients.";
    let older = json!({ "deprecated": true, "description": description, "type": ["boolean", "null"] });
    add_property(schema, PAGE_MARKDOWN, older);
}

/// Adds the field of the format `json` that is ignored.
#[cfg(feature = "schemars")]
pub(crate) fn add_json_options(schema: &mut Schema) {
    let description = "Sent by official clients only. Ignored with a warning.";
    add_property(schema, CHECK_PROMPT_INJECTION, json!({ "deprecated": true, "description": description }));
}

/// Adds a deprecated property to the schema of an object.
#[cfg(feature = "schemars")]
pub(crate) fn add_property(schema: &mut Schema, name: &str, property: Value) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), property);
    }
}
