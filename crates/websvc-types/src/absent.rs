//! Schemas of structs whose optional fields are absent, never null.

use schemars::Schema;
use serde_json::Value;

/// Removes null from the values of the optional fields of an object.
pub(crate) fn absent_not_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|names| names.iter().any(|other| other == name));
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
        remove_null(property);
    }
}

/// Removes null from the types of a simple value, or from the alternatives to a definition.
fn remove_null(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            keywords.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = keywords.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative["type"] != "null");
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            keywords.shift_remove("anyOf");
            keywords.extend(only);
        }
    }
}
