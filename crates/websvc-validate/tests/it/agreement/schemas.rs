//! Tests that the validator accepts the JSON Schemas that are valid in a draft, and no others.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{config, violations};

const KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "required",
    "items",
    "anyOf",
    "allOf",
    "not",
    "enum",
    "const",
    "minimum",
    "minLength",
    "maxItems",
    "multipleOf",
    "pattern",
    "title",
    "uniqueItems",
    "dependentRequired",
    "dependentSchemas",
    "additionalProperties",
    "patternProperties",
    "$defs",
    "propertyNames",
    "format",
    "default",
    "examples",
    "prefixItems",
    "contains",
    "minContains",
    "if",
    "then",
    "$comment",
    "readOnly",
    "contentSchema",
    "unevaluatedProperties",
    "a",
];

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(0),
        json!(1),
        json!(1.5),
        json!(2.0),
        json!("string"),
        json!("strin"),
        json!("a"),
        json!([]),
        json!({}),
        json!(["a", "b"]),
        json!(["string", "null"]),
        json!(["a", "a"]),
    ]);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = prop::collection::vec((prop::sample::select(KEYWORDS), inner.clone()), 0..4);
        prop_oneof![
            4 => fields.prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

/// Returns whether a schema is valid in any draft.
fn is_valid_in_a_draft(schema: &Value) -> bool {
    jsonschema::draft202012::meta::is_valid(schema)
        || jsonschema::draft201909::meta::is_valid(schema)
        || jsonschema::draft7::meta::is_valid(schema)
        || jsonschema::draft6::meta::is_valid(schema)
        || jsonschema::draft4::meta::is_valid(schema)
}

proptest! {
    #![proptest_config(config(10_000))]

    #[test]
    fn json_schema_is_accepted_exactly_if_valid_in_a_draft(schema in schema()) {
        let schema = if schema.is_object() { schema } else { json!({ "not": schema }) };
        let format = json!({ "type": "json", "schema": schema });
        let found = violations(&json!({ "query": "q", "scrapeOptions": { "formats": [format] } }));
        if jsonschema::draft202012::meta::is_valid(&schema) {
            prop_assert!(found.is_empty(), "{schema} is rejected: {found:?}");
        }
        prop_assert!(is_valid_in_a_draft(&schema) || !found.is_empty(), "{schema} is accepted");
    }
}
