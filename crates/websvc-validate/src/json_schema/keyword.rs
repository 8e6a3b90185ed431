//! Keywords of JSON Schema, and the forms of their values.

use serde_json::Value;

/// Names of the JSON types.
pub(super) const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// Forms of the value of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Reference to a schema.
    Reference,
    /// Identifier of the schema or of its dialect.
    Identity,
    /// Arbitrary data.
    Data,
    /// Schema.
    Schema,
    /// Non-empty list of schemas.
    Schemas,
    /// Schema, or a list of schemas as in drafts before 2020-12.
    SchemaOrList,
    /// Object with arbitrary keys, whose values are schemas.
    SchemasByName,
    /// Object with arbitrary keys, whose values are schemas or lists of names.
    Dependencies,
    /// Object with arbitrary keys, whose values are lists of names.
    NamesByName,
    /// Name of a type, or a list of them.
    Types,
    /// List of distinct names.
    Names,
    /// List of values.
    Values,
    /// String.
    Text,
    /// Boolean.
    Bool,
    /// Number.
    Number,
    /// Number, or a boolean as in draft 4.
    NumberOrBool,
    /// Number above 0.
    Divisor,
    /// Integer that is not negative.
    Count,
    /// Unknown: not a keyword of any draft.
    Unknown,
}

impl Form {
    /// Returns the form of the value of a keyword.
    pub(super) fn from_key(key: &str, value: &Value) -> Self {
        match key {
            "$ref" | "$dynamicRef" | "$recursiveRef" => Form::Reference,
            "$id" | "$schema" => Form::Identity,
            // `id` is the keyword of draft 4 if its value is a string, otherwise it is unknown.
            "id" if value.is_string() => Form::Identity,
            "const" | "default" | "example" | "examples" | "$vocabulary" => Form::Data,
            "additionalItems"
            | "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Form::Schema,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Form::Schemas,
            "items" => Form::SchemaOrList,
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
                Form::SchemasByName
            }
            "dependencies" => Form::Dependencies,
            "dependentRequired" => Form::NamesByName,
            "type" => Form::Types,
            "required" => Form::Names,
            "enum" => Form::Values,
            "$anchor" | "$comment" | "$dynamicAnchor" | "contentEncoding" | "contentMediaType"
            | "description" | "format" | "pattern" | "title" => Form::Text,
            "$recursiveAnchor" | "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => Form::Bool,
            "maximum" | "minimum" => Form::Number,
            "exclusiveMaximum" | "exclusiveMinimum" => Form::NumberOrBool,
            "multipleOf" => Form::Divisor,
            "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems"
            | "minLength" | "minProperties" => Form::Count,
            _ => Form::Unknown,
        }
    }
}
