//! Compiles JSON Schemas of requests, for the check of a request and for that of generated data.
//!
//! Both use the same function: a schema that a request may have can also check data. Its work is bounded by the limits of
//! schemas, and by a limit of the memory of all regular expressions together.

use std::collections::HashSet;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};
use websvc_model::cut;
use websvc_types::limits::{SCHEMA_PATTERN_MAX_BYTES, SCHEMA_PATTERNS_MAX_BYTES};
use websvc_validate::{SchemaCompiler, SchemaError};

/// The maximum length of the message about a part of a schema, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// The maximum length of a value in a message, in characters.
const MAX_VALUE_CHARS: usize = 60;

/// Function that returns whether a schema is valid in a draft.
type IsValid = fn(&Value) -> bool;

/// Compiler of the JSON Schemas of requests. It may take as long as the decoding of a large body.
pub const SCHEMA_COMPILER: SchemaCompiler =
    SchemaCompiler::new(|schema| compile(&Value::Object(schema.clone())).map(drop));

/// Compiles a schema. Without `$schema`, the draft is the newest one in which the schema is valid.
///
/// # Errors
/// The part that cannot be compiled.
pub(super) fn compile(schema: &Value) -> Result<Validator, SchemaError> {
    let max_pattern_bytes = max_pattern_bytes(schema);
    // The patterns are untrusted, so they run on the engine without backtracking.
    let patterns = PatternOptions::regex().size_limit(max_pattern_bytes);
    let mut options = jsonschema::options().with_pattern_options(patterns);
    if schema.get("$schema").is_none()
        && let Some(draft) = draft(schema)
    {
        options = options.with_draft(draft);
    }
    options.build(schema).map_err(|error| schema_error(schema, &error, max_pattern_bytes))
}

/// Returns the newest draft in which a schema is valid.
fn draft(schema: &Value) -> Option<Draft> {
    let is_valid: [(Draft, IsValid); 5] = [
        (Draft::Draft202012, jsonschema::draft202012::meta::is_valid),
        (Draft::Draft201909, jsonschema::draft201909::meta::is_valid),
        (Draft::Draft7, jsonschema::draft7::meta::is_valid),
        (Draft::Draft6, jsonschema::draft6::meta::is_valid),
        (Draft::Draft4, jsonschema::draft4::meta::is_valid),
    ];
    is_valid.into_iter().find(|(_, is_valid)| is_valid(schema)).map(|(draft, _)| draft)
}

/// Returns the maximum size of each compiled regular expression of a schema.
fn max_pattern_bytes(schema: &Value) -> usize {
    let mut patterns = HashSet::new();
    collect_patterns(schema, &mut patterns);
    (SCHEMA_PATTERNS_MAX_BYTES / patterns.len().max(1)).min(SCHEMA_PATTERN_MAX_BYTES)
}

fn collect_patterns<'s>(value: &'s Value, patterns: &mut HashSet<&'s str>) {
    match value {
        Value::Object(fields) => {
            patterns.extend(fields.get("pattern").and_then(Value::as_str));
            let by_pattern = fields.get("patternProperties").and_then(Value::as_object);
            patterns.extend(by_pattern.into_iter().flat_map(Map::keys).map(String::as_str));
            fields.values().for_each(|value| collect_patterns(value, patterns));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_patterns(value, patterns)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn schema_error(schema: &Value, error: &ValidationError<'_>, max_pattern_bytes: usize) -> SchemaError {
    let pointer = error.instance_path().as_str();
    let pointer = if schema.pointer(pointer).is_some() { pointer } else { "" };
    let message = match (error.kind(), error.instance().as_str()) {
        (ValidationErrorKind::Format { format }, Some(pattern)) if format == "regex" => format!(
            "must be a regular expression without look-around and backreferences that takes at most \
             {max_pattern_bytes} bytes when compiled, not {:?}",
            cut(pattern, MAX_VALUE_CHARS)
        ),
        // The error would repeat the value, which may be the whole schema.
        _ => cut(&format!("cannot be compiled: {}", error.masked()), MAX_MESSAGE_CHARS),
    };
    SchemaError { pointer: pointer.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use websvc_types::agent::AgentRequest;
    use websvc_validate::{Policy, Rejection, read_with_request};

    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: Option<(&str, &str)>) {
        let found = compile(schema).err();
        match (&found, expected) {
            (None, None) => {}
            (Some(SchemaError { pointer, message }), Some((expected_pointer, text))) => {
                assert_eq!(pointer, expected_pointer, "{schema}: {message}");
                assert!(message.contains(text), "{schema}: {message}");
            }
            _ => panic!("{schema}: {found:?}"),
        }
    }

    #[test]
    fn part_that_cannot_be_compiled_is_named() {
        let pattern = "must be a regular expression";
        check(
            &json!({ "properties": { "a": { "pattern": "(" } } }),
            Some(("/properties/a/pattern", pattern)),
        );
        check(&json!({ "pattern": "(?=a)" }), Some(("/pattern", pattern)));
        check(&json!({ "pattern": "(a)\\1" }), Some(("/pattern", pattern)));
        check(&json!({ "patternProperties": { "a/(": {} } }), Some(("/patternProperties/a~1(", pattern)));
        check(&json!({ "pattern": "\\p{L}{3000}" }), Some(("/pattern", "at most 1048576 bytes")));
        // A value is not read as a schema, unless a reference leads to it.
        check(&json!({ "default": { "pattern": "(" } }), None);
        let referenced = json!({ "$ref": "#/default", "default": { "pattern": "(" } });
        check(&referenced, Some(("/default/pattern", pattern)));
        check(&json!({ "$ref": "#/a b", "a b": {} }), Some(("", "Invalid URI reference '#/a b'")));
        check(&json!({ "$ref": "#/title", "title": "x" }), Some(("/title", "value is not of types")));
        let anchor = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$anchor": "1" });
        check(&anchor, Some(("/$anchor", "does not match")));
        let draft_7 =
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "exclusiveMinimum": true });
        check(&draft_7, Some(("/exclusiveMinimum", "value is not of type \"number\"")));
        check(&json!({ "format": "no such format", "$comment": "x", "nullable": true }), None);
    }

    #[test]
    fn draft_of_a_schema_without_one_is_the_newest_in_which_it_is_valid() {
        for schema in [
            json!({ "prefixItems": [{ "type": "string" }] }),
            json!({ "items": [{ "type": "string" }], "additionalItems": false }),
            json!({ "$id": "#root", "properties": { "a": { "$ref": "#root" } } }),
            json!({ "minimum": 1, "exclusiveMinimum": true }),
        ] {
            check(&schema, None);
        }
        let exclusive = compile(&json!({ "minimum": 1, "exclusiveMinimum": true })).unwrap();
        assert!(exclusive.is_valid(&json!(2)) && !exclusive.is_valid(&json!(1)));
    }

    #[test]
    fn regular_expressions_share_the_memory() {
        let schema = |count: usize| {
            let patterns =
                (0..count).map(|number| (format!("p{number}"), json!({ "pattern": format!("{number}") })));
            json!({ "properties": patterns.collect::<Map<_, _>>() })
        };
        assert_eq!(max_pattern_bytes(&schema(0)), SCHEMA_PATTERN_MAX_BYTES);
        assert_eq!(max_pattern_bytes(&schema(16)), SCHEMA_PATTERN_MAX_BYTES);
        assert_eq!(max_pattern_bytes(&schema(100)), SCHEMA_PATTERNS_MAX_BYTES / 100);
    }

    /// Every rejected pattern has the pointer of its place in the request.
    #[test]
    fn request_with_a_schema_that_cannot_be_compiled_is_rejected() {
        let policy = Policy { schema_compiler: SCHEMA_COMPILER, ..Policy::default() };
        let body =
            json!({ "prompt": "x", "schema": { "properties": { "a/b": { "pattern": "(" } } } }).to_string();
        assert!(
            read_with_request::<AgentRequest>(body.as_bytes(), &Policy::default()).is_ok(),
            "a client does not compile it"
        );
        let Err(Rejection::Invalid(violations)) = read_with_request::<AgentRequest>(body.as_bytes(), &policy)
        else {
            panic!("the schema cannot be compiled")
        };
        let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
        assert_eq!(paths, ["/schema", "/schema/properties/a~1b/pattern"], "{violations:?}");
        assert_eq!(violations[0].message, "Invalid JSON schema");
        assert!(violations[1].message.starts_with("pattern must be a regular expression"), "{violations:?}");
    }
}
