//! JSON Schemas that callers bring.

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;

use crate::support::{Expected, check_item};

/// Checks a schema of either format that takes one, by paths below the schema.
#[track_caller]
fn check(schema: &Value, expected: Expected<'_>) {
    for kind in ["json", "changeTracking"] {
        let expected: Vec<_> =
            expected.iter().map(|(path, code)| (format!("/schema{path}"), *code)).collect();
        let expected: Vec<_> = expected.iter().map(|(path, code)| (path.as_str(), *code)).collect();
        check_item("formats", &json!({ "type": kind, "schema": schema }), &expected);
    }
}

#[test]
fn references_stay_inside() {
    check(&json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "string" } } }), &[]);
    check(&json!({ "$ref": "#" }), &[]);
    check(&json!({ "$dynamicRef": "#node", "$defs": { "n": { "$dynamicAnchor": "node" } } }), &[]);
    check(&json!({ "$ref": "http://169.254.169.254/latest" }), &[("/$ref", NotSupported)]);
    check(&json!({ "$ref": "other.json#/a" }), &[("/$ref", NotSupported)]);
    check(&json!({ "$ref": "file:///etc/passwd" }), &[("/$ref", NotSupported)]);
    check(&json!({ "$dynamicRef": "x#node" }), &[("/$dynamicRef", NotSupported)]);
    check(&json!({ "$ref": 1 }), &[("/$ref", InvalidType)]);
}

#[test]
fn references_are_found_wherever_schemas_are() {
    let bad = json!({ "$ref": "http://x.example" });
    let table = [
        (json!({ "properties": { "a": bad } }), "/properties/a/$ref"),
        (json!({ "items": bad }), "/items/$ref"),
        (json!({ "prefixItems": [{}, bad] }), "/prefixItems/1/$ref"),
        (json!({ "anyOf": [bad] }), "/anyOf/0/$ref"),
        (json!({ "not": { "not": bad } }), "/not/not/$ref"),
        (json!({ "$defs": { "x": bad } }), "/$defs/x/$ref"),
        (json!({ "definitions": { "x": bad } }), "/definitions/x/$ref"),
        (json!({ "additionalProperties": bad }), "/additionalProperties/$ref"),
    ];
    for (schema, path) in table {
        check(&schema, &[(path, NotSupported)]);
    }
}

#[test]
fn names_of_properties_and_data_are_no_keywords() {
    check(&json!({ "properties": { "$ref": { "type": "string" }, "id": { "type": "integer" } } }), &[]);
    check(&json!({ "const": { "$ref": "http://x.example" } }), &[]);
    check(&json!({ "enum": [{ "$ref": "http://x.example" }] }), &[]);
    check(&json!({ "default": { "$id": "http://x.example" } }), &[]);
}

#[test]
fn identities_are_fragments_or_dialects() {
    check(&json!({ "$schema": "http://json-schema.org/draft-07/schema#" }), &[]);
    check(&json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" }), &[]);
    check(&json!({ "$id": "#root" }), &[]);
    check(&json!({ "$schema": "https://x.example/schema" }), &[("/$schema", NotSupported)]);
    check(&json!({ "$id": "https://x.example/schema" }), &[("/$id", NotSupported)]);
    check(&json!({ "items": { "id": "https://x.example/schema" } }), &[("/items/id", NotSupported)]);
}

#[test]
fn a_schema_has_a_deepest() {
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
    check(&nested(64), &[]);
    check(&nested(65), &[(&"/not".repeat(65), TooLong)]);
}
