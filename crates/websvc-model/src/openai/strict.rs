//! The strict mode of `json_schema`, in which a server follows a schema exactly, and refuses a schema outside of a subset of
//! JSON Schema.
//!
//! The subset is that of OpenAI: every object lists all of its properties as required and allows no others, every value has a
//! type, and `minItems`, `maxItems`, `pattern`, some formats and the bounds of numbers are supported since 2025. The lengths of
//! texts are not, but the grammars of local servers need them to end a repetition. So they are sent, and left out once a
//! server refuses them.

use serde_json::{Map, Value};

/// The keywords that a server may refuse in strict mode although the rest of the schema is permitted.
pub(super) const LENGTHS: [&str; 2] = ["minLength", "maxLength"];

/// The length of a text from which llama.cpp makes no grammar of a schema, and then refuses the request.
pub(super) const UNSUPPORTED_LENGTH: u64 = 2_000;

/// The keywords with schemas by name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// The keywords without a schema below them whose values do not matter.
const FREE_KEYWORDS: [&str; 12] = [
    "$schema",
    "title",
    "description",
    "type",
    "required",
    "additionalProperties",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
];

/// The keywords of which every value has at least one.
const TYPES: [&str; 5] = ["type", "$ref", "anyOf", "enum", "const"];

/// The values of `format`.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The beginnings of groups that look around in a pattern, which are not supported.
const LOOK_AROUND: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];

/// The maximum number of levels of objects, and of properties and values of enumerations in all.
const MAX_LEVELS: usize = 10;
const MAX_PROPERTIES: usize = 5_000;
const MAX_ENUM_VALUES: usize = 1_000;

/// Returns whether strict mode permits a schema, apart from the [lengths](LENGTHS) of texts.
pub(super) fn is_strict(schema: &Value) -> bool {
    let Some(root) = schema.as_object() else { return false };
    let is_object = root.get("type").is_some_and(|name| name == "object") && !root.contains_key("anyOf");
    let mut check = Check { properties: 0, enum_values: 0 };
    is_object && check.permits(schema, MAX_LEVELS)
}

/// Returns a schema without the [lengths](LENGTHS) of texts that are at least `min`.
pub(super) fn without_lengths(schema: &Value, min: u64) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let below = |schema: &Value| without_lengths(schema, min);
    let mut kept = Map::new();
    for (keyword, value) in fields {
        let value = match (keyword.as_str(), value) {
            (keyword, length)
                if LENGTHS.contains(&keyword)
                    && length.as_f64().is_none_or(|length| length >= min as f64) =>
            {
                continue;
            }
            // A property may have the name of a keyword.
            (keyword, Value::Object(named)) if NAMED.contains(&keyword) => {
                named.iter().map(|(name, schema)| (name.clone(), below(schema))).collect()
            }
            ("items" | "additionalProperties", schema) => below(schema),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter().map(below).collect()
            }
            (_, value) => value.clone(),
        };
        kept.insert(keyword.clone(), value);
    }
    Value::Object(kept)
}

/// The numbers of what a schema has so far.
struct Check {
    properties: usize,
    enum_values: usize,
}

impl Check {
    /// Returns whether strict mode permits a schema with at most this many levels of objects.
    fn permits(&mut self, schema: &Value, levels: usize) -> bool {
        let Some(fields) = schema.as_object() else { return false };
        if let Some(target) = fields.get("$ref") {
            return fields.len() == 1 && target.as_str().is_some_and(|target| target.starts_with('#'));
        }
        let is_type = |name: &str| match fields.get("type") {
            Some(Value::Array(names)) => names.iter().any(|other| other == name),
            Some(other) => other == name,
            None => false,
        };
        TYPES.iter().any(|keyword| fields.contains_key(*keyword))
            && (!is_type("array") || fields.contains_key("items"))
            && (!is_type("object") || is_closed(fields))
            && fields.iter().all(|(keyword, value)| self.permits_keyword(keyword, value, levels))
    }

    fn permits_keyword(&mut self, keyword: &str, value: &Value, levels: usize) -> bool {
        match (keyword, value) {
            ("properties", Value::Object(named)) => {
                self.properties += named.len();
                levels > 0
                    && self.properties <= MAX_PROPERTIES
                    && named.values().all(|schema| self.permits(schema, levels - 1))
            }
            ("$defs" | "definitions", Value::Object(named)) => {
                named.values().all(|schema| self.permits(schema, levels))
            }
            ("items", item) => self.permits(item, levels),
            ("anyOf", Value::Array(options)) => options.iter().all(|schema| self.permits(schema, levels)),
            ("enum", Value::Array(values)) => {
                self.enum_values += values.len();
                self.enum_values <= MAX_ENUM_VALUES
            }
            ("pattern", Value::String(pattern)) => !LOOK_AROUND.iter().any(|group| pattern.contains(group)),
            ("format", Value::String(format)) => FORMATS.contains(&format.as_str()),
            ("const" | "maxItems", _) => true,
            (keyword, _) => FREE_KEYWORDS.contains(&keyword) || LENGTHS.contains(&keyword),
        }
    }
}

/// Returns whether an object requires all of its properties and allows no others.
fn is_closed(fields: &Map<String, Value>) -> bool {
    let required = fields.get("required").and_then(Value::as_array);
    let is_required =
        |name: &String| required.is_some_and(|required| required.iter().any(|other| other == name));
    fields.get("additionalProperties") == Some(&Value::Bool(false))
        && fields
            .get("properties")
            .and_then(Value::as_object)
            .is_some_and(|named| named.keys().all(is_required))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(properties: Value) -> Value {
        let required: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
        let mut schema = json!({ "type": "object", "required": required, "additionalProperties": false });
        schema["properties"] = properties;
        schema
    }

    #[test]
    fn strict_mode_permits_closed_objects_of_typed_values() {
        let text = json!({ "type": "string" });
        let permitted = [
            text.clone(),
            json!({ "type": ["string", "null"], "maxLength": 9, "description": "x" }),
            json!({ "enum": ["a", "b"] }),
            json!({ "const": 1 }),
            json!({ "type": "array", "items": text, "minItems": 1, "maxItems": 9 }),
            json!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.5 }),
            json!({ "type": "string", "pattern": "^[a-z]+$" }),
            json!({ "type": "string", "format": "date" }),
            json!({ "anyOf": [object(json!({ "a": text })), { "type": "null" }] }),
            json!({ "$ref": "#/$defs/a" }),
            object(json!({})),
        ];
        for schema in permitted {
            assert!(is_strict(&object(json!({ "a": schema }))), "{schema}");
        }
        let with_definitions = json!({
            "$schema": "x", "title": "x", "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } },
            "required": ["a"], "additionalProperties": false, "$defs": { "a": { "type": "string" } },
        });
        assert!(is_strict(&with_definitions));
    }

    #[test]
    fn other_schemas_are_not_strict() {
        let text = json!({ "type": "string" });
        let refused = [
            json!({}),
            json!(true),
            json!({ "description": "x" }),
            json!({ "type": "object" }),
            json!({ "type": "object", "properties": {} }),
            json!({ "type": ["object", "null"], "properties": { "a": text }, "additionalProperties": false }),
            json!({ "type": "object", "properties": { "a": text }, "required": ["a"] }),
            json!({ "type": "array" }),
            json!({ "type": "array", "items": {} }),
            json!({ "type": "array", "items": text, "uniqueItems": true }),
            json!({ "type": "string", "default": "x" }),
            json!({ "type": "string", "format": "uri" }),
            json!({ "type": "string", "pattern": "(?=a)" }),
            json!({ "oneOf": [text] }),
            json!({ "allOf": [text] }),
            json!({ "$ref": "#/$defs/a", "description": "x" }),
            json!({ "$ref": "http://a.test/schema" }),
            json!({ "enum": (0..1_001).collect::<Vec<_>>() }),
        ];
        for schema in refused {
            assert!(!is_strict(&object(json!({ "a": schema }))), "{schema}");
        }
        for root in [text.clone(), json!({ "type": ["object"] }), json!({ "anyOf": [object(json!({}))] })] {
            assert!(!is_strict(&root), "{root}");
        }
        let nested = |levels: usize| (0..levels).fold(text.clone(), |inner, _| object(json!({ "a": inner })));
        assert!(is_strict(&nested(10)) && !is_strict(&nested(11)));
        let wide = (0..5_001).map(|number| (format!("p{number}"), text.clone()));
        assert!(!is_strict(&object(wide.collect())));
    }

    #[test]
    fn lengths_are_removed_and_names_of_properties_stay() {
        let with = |bounds: Value| {
            let mut text = json!({ "type": "string" });
            text.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
            object(json!({
                "maxLength": text, "b": { "anyOf": [text] }, "a": { "type": "array", "items": text, "maxItems": 3 },
            }))
        };
        let found = without_lengths(&with(json!({ "minLength": 1, "maxLength": 9 })), 0);
        assert_eq!(found, with(json!({})));
        let long = with(json!({ "minLength": 1, "maxLength": UNSUPPORTED_LENGTH }));
        assert_eq!(without_lengths(&long, UNSUPPORTED_LENGTH), with(json!({ "minLength": 1 })));
        let names: Vec<&String> = found["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["maxLength", "b", "a"], "in their order");
    }
}
