//! Tests of JSON Schemas in requests.

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;
use websvc_types::{ScrapeOptions, SearchRequest};
use websvc_validate::{Policy, Rejection, SchemaCompiler, SchemaError, read_request};

use crate::support::{Expected, check_item, violations};

/// Checks a schema in both formats that have one. Expected paths are relative to the schema.
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
fn references_to_other_documents_are_rejected() {
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
fn references_are_checked_in_all_subschemas() {
    let external = json!({ "$ref": "http://x.example" });
    let table = [
        (json!({ "properties": { "a": external } }), "/properties/a/$ref"),
        (json!({ "items": external }), "/items/$ref"),
        (json!({ "prefixItems": [{}, external] }), "/prefixItems/1/$ref"),
        (json!({ "anyOf": [external] }), "/anyOf/0/$ref"),
        (json!({ "not": { "not": external } }), "/not/not/$ref"),
        (json!({ "$defs": { "x": external } }), "/$defs/x/$ref"),
        (json!({ "definitions": { "x": external } }), "/definitions/x/$ref"),
        (json!({ "additionalProperties": external }), "/additionalProperties/$ref"),
    ];
    for (schema, path) in table {
        check(&schema, &[(path, NotSupported)]);
    }
}

#[test]
fn property_names_and_data_are_not_checked_as_keywords() {
    check(&json!({ "properties": { "$ref": { "type": "string" }, "id": { "type": "integer" } } }), &[]);
    check(&json!({ "const": { "$ref": "http://x.example" } }), &[]);
    check(&json!({ "enum": [{ "$ref": "http://x.example" }] }), &[]);
    check(&json!({ "default": { "$id": "http://x.example" } }), &[]);
}

#[test]
fn identifiers_other_than_fragments_and_dialects_are_rejected() {
    check(&json!({ "$schema": "http://json-schema.org/draft-07/schema#" }), &[]);
    check(&json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" }), &[]);
    check(&json!({ "$id": "#root" }), &[]);
    check(&json!({ "$schema": "https://x.example/schema" }), &[("/$schema", NotSupported)]);
    check(&json!({ "$id": "https://x.example/schema" }), &[("/$id", NotSupported)]);
    check(&json!({ "items": { "id": "https://x.example/schema" } }), &[("/items/id", NotSupported)]);
}

#[test]
fn schema_deeper_than_64_levels_is_rejected() {
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
    check(&nested(64), &[]);
    check(&nested(65), &[(&"/not".repeat(65), TooLong)]);
}

#[test]
fn schema_above_256_kib_is_rejected_as_a_whole() {
    // The rest of the schema takes 18 bytes.
    let described = |bytes: usize| json!({ "description": "x".repeat(bytes - 18) });
    check(&described(262_144), &[]);
    check(&described(262_145), &[("", TooLong)]);
    // Its parts are not read: otherwise each of these would be a violation.
    let wrong = vec![json!({ "type": "wrong", "description": "x".repeat(100) }); 3_000];
    check(&json!({ "anyOf": wrong }), &[("", TooLong)]);
}

#[test]
fn message_of_a_schema_with_too_many_bytes_names_the_value_and_the_limit() {
    let schema = json!({ "description": "x".repeat(262_144) });
    let formats = json!([{ "type": "json", "schema": schema }]);
    let found = violations(&json!({ "query": "tea", "scrapeOptions": { "formats": formats } }));
    let text = "must have at most 262144 bytes as JSON, not 262162";
    assert!(found.len() == 1 && found[0].message.ends_with(text), "{found:?}");
}

/// Returns a schema of `length` parts, each with a reference to the next.
fn chain(length: usize, part: impl Fn(Value) -> Value, last: Value) -> Value {
    let next = |number: usize| json!({ "$ref": format!("#/$defs/a{number}") });
    let parts = (0..length).map(|number| (format!("a{number}"), part(next(number + 1))));
    let parts: serde_json::Map<_, _> = parts.chain([(format!("a{length}"), last)]).collect();
    json!({ "$ref": "#/$defs/a0", "$defs": parts })
}

/// Returns `count` definitions, each of which refers to all of them.
fn types(count: usize, hold: impl Fn(Vec<Value>) -> Value) -> Value {
    let all = || (0..count).map(|number| json!({ "$ref": format!("#/$defs/t{number}") })).collect();
    let parts: serde_json::Map<_, _> = (0..count).map(|number| (format!("t{number}"), hold(all()))).collect();
    json!({ "$ref": "#/$defs/t0", "$defs": parts })
}

#[test]
fn multiplying_references_are_rejected() {
    let too_large: Expected<'_> = &[("", TooLong)];
    for key in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        let twice = |next: Value| json!({ key: [next, next] });
        check(&chain(10, twice, json!({})), &[]);
        check(&chain(25, twice, json!({})), too_large);
    }
    let two_fields = |next: Value| json!({ "properties": { "a": next, "b": next } });
    check(&chain(25, two_fields, json!({})), too_large);
    let condition = |next: Value| json!({ "if": next, "then": next, "else": next });
    check(&chain(25, condition, json!({})), too_large);
    let unevaluated = |next: Value| json!({ "allOf": [next], "unevaluatedProperties": false });
    check(&chain(25, unevaluated, json!({})), too_large);
    // A cycle does not avoid the limit: through the last reference, every part leads to the first again.
    let twice = |next: Value| json!({ "allOf": [next, next] });
    check(&chain(25, twice, json!({ "items": { "$ref": "#" } })), too_large);
    // Every definition leads to every other for the same value: as many paths as there are permutations.
    check(&types(12, |all| json!({ "anyOf": all })), too_large);
}

#[test]
fn recursive_schemas_are_accepted() {
    check(&types(40, |all| json!({ "properties": { "of": { "items": { "anyOf": all } } } })), &[]);
    let tree = json!({
        "type": "object",
        "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" }, "more": { "items": { "$ref": "#" } } },
    });
    check(&tree, &[]);
    check(
        &json!({ "anyOf": [{ "items": { "$ref": "#" } }, { "additionalProperties": { "$ref": "#" } }] }),
        &[],
    );
}

#[test]
fn long_chains_and_many_patterns_and_parts_are_rejected() {
    let too_large: Expected<'_> = &[("", TooLong)];
    let next = |next: Value| next;
    check(&chain(400, next, json!({})), &[]);
    check(&chain(600, next, json!({})), too_large);
    check(&chain(4_900, next, json!({})), too_large);
    let patterns = |count: usize| -> Value {
        let patterns: Vec<Value> =
            (0..count).map(|number| json!({ "pattern": format!("^a{number}") })).collect();
        json!({ "anyOf": patterns })
    };
    check(&patterns(100), &[]);
    check(&patterns(101), too_large);
    // A body with as many parts is not read at all.
    let formats = json!([{ "type": "json", "schema": { "anyOf": vec![json!({}); 60_000] } }]);
    let body = json!({ "query": "tea", "scrapeOptions": { "formats": formats } }).to_string();
    let Err(Rejection::Invalid(found)) = read_request::<SearchRequest>(body.as_bytes(), &Policy::default())
    else {
        panic!("it has too many values")
    };
    assert_eq!((found.len(), &*found[0].path, found[0].code), (1, "", TooLong), "{}", found[0].message);
}

#[test]
fn message_of_a_too_large_schema_names_the_limit() {
    let twice = |next: Value| json!({ "allOf": [next, next] });
    let schema = chain(25, twice, json!({}));
    let formats = json!([{ "type": "json", "schema": schema }]);
    let found = violations(&json!({ "query": "tea", "scrapeOptions": { "formats": formats } }));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "/scrapeOptions/formats/0/schema");
    assert!(
        found[0].message.contains("at most 50000 parts, where a part counts once per reference"),
        "{found:?}"
    );
}

/// A compiler that rejects schemas with a title.
const TITLELESS: SchemaCompiler = SchemaCompiler::new(|schema| match schema.get("title") {
    None => Ok(()),
    Some(_) => Err(SchemaError { pointer: "/a~1b/0".to_owned(), message: "must be else".to_owned() }),
});

#[test]
fn schema_that_breaks_no_other_rule_is_compiled() {
    let policy = Policy { schema_compiler: TITLELESS, ..Policy::default() };
    let check = |schema: Value, expected: &[(&str, &str)]| {
        for kind in ["json", "changeTracking"] {
            let body = json!({ "formats": ["markdown", { "type": kind, "schema": schema }] }).to_string();
            let found = match read_request::<ScrapeOptions>(body.as_bytes(), &policy) {
                Ok(_) => Vec::new(),
                Err(Rejection::Invalid(violations)) => violations,
                Err(other) => panic!("{other:?}"),
            };
            let found: Vec<_> = found.iter().map(|found| (&*found.path, &*found.message)).collect();
            assert_eq!(found, expected);
        }
    };
    check(json!({}), &[]);
    check(json!({ "title": "x" }), &[("/formats/1/schema/a~1b/0", "a/b[0] must be else")]);
    let wrong = json!({ "title": "x", "minLength": -1 });
    check(wrong, &[("/formats/1/schema/minLength", "minLength must be at least 0, not -1")]);
}
