//! JSON Schemas that callers bring: they may refer only to themselves.
//!
//! A schema goes to a validator and to a language model. One that refers to another document would make either fetch
//! it, around the address guard; one that takes another identity would change what `#` means.

use serde_json::{Map, Value};
use websvc_types::ViolationCode;

use crate::path::Path;
use crate::report::{Report, quoted};

/// The well-known dialects.
const DIALECTS: &[&str] = &[
    "http://json-schema.org/schema",
    "https://json-schema.org/schema",
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-04/schema",
    "https://json-schema.org/draft-06/schema",
    "https://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Deeper schemas are refused: whoever walks them by recursion has a stack.
const MAX_DEPTH: usize = 64;

/// What stands at a place of a schema.
#[derive(Clone, Copy)]
enum Role {
    /// A schema, or a list of schemas, or a value that is neither.
    Schema,
    /// An object whose keys are the caller's own and whose values are schemas.
    Named,
}

/// Checks a schema.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, schema: &Map<String, Value>) {
    object(report, path, schema, Role::Schema, 0);
}

fn object(report: &mut Report, path: &Path<'_>, map: &Map<String, Value>, role: Role, depth: usize) {
    if depth > MAX_DEPTH {
        report.violation(path, ViolationCode::TooLong, |_| {
            format!("the schema must not be nested deeper than {MAX_DEPTH} levels")
        });
        return;
    }
    for (key, inner) in map {
        let path = path.key(key);
        match role {
            Role::Named => value(report, &path, inner, Role::Schema, depth),
            Role::Schema => keyword(report, &path, key, inner, depth),
        }
    }
}

fn keyword(report: &mut Report, path: &Path<'_>, key: &str, inner: &Value, depth: usize) {
    match key {
        "$ref" | "$dynamicRef" | "$recursiveRef" => refer(report, path, inner, is_fragment),
        "$id" | "id" | "$schema" => {
            // `id` is the keyword of draft 4 only where it is a text; elsewhere it is somebody's property.
            if key != "id" || inner.is_string() {
                refer(report, path, inner, |text| is_fragment(text) || is_dialect(text));
            }
        }
        // Data, whatever it looks like.
        "const" | "enum" | "default" | "examples" | "example" => {}
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => {
            value(report, path, inner, Role::Named, depth);
        }
        _ => value(report, path, inner, Role::Schema, depth),
    }
}

fn value(report: &mut Report, path: &Path<'_>, inner: &Value, role: Role, depth: usize) {
    match inner {
        Value::Object(map) => object(report, path, map, role, depth + 1),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                value(report, &path.index(index), item, Role::Schema, depth + 1);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn refer(report: &mut Report, path: &Path<'_>, target: &Value, allowed: impl Fn(&str) -> bool) {
    match target.as_str() {
        Some(text) if allowed(text) => {}
        Some(text) => report.violation(path, ViolationCode::NotSupported, |name| {
            format!("{name} may only point inside the schema (#...), not to {}", quoted(text))
        }),
        None => report.violation(path, ViolationCode::InvalidType, |name| format!("{name} must be a string")),
    }
}

fn is_fragment(text: &str) -> bool {
    text.starts_with('#')
}

fn is_dialect(text: &str) -> bool {
    DIALECTS.contains(&text.strip_suffix('#').unwrap_or(text))
}
