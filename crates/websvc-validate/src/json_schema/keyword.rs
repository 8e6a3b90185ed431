//! The keywords of JSON Schema, and the forms of their values.

use serde_json::Value;

/// The names of types.
pub(super) const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// The form of a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Points to a schema.
    Reference,
    /// Names the schema or its dialect.
    Identity,
    /// Data of the caller's own, whatever it looks like.
    Data,
    /// A schema.
    Schema,
    /// A list of at least one schema.
    Schemas,
    /// A schema, or a list of schemas as drafts before 2020-12 have it.
    SchemaOrList,
    /// An object whose keys are the caller's own and whose values are schemas.
    Named,
    /// An object whose keys are the caller's own and whose values are schemas or lists of names.
    Dependencies,
    /// An object whose keys are the caller's own and whose values are lists of names.
    NamesByName,
    /// The name of a type, or a list of them.
    Types,
    /// A list of names, each once.
    Names,
    /// A list of values.
    Values,
    /// A text.
    Text,
    /// True or false.
    Switch,
    /// A number.
    Number,
    /// A number, or as in draft 4 true or false.
    NumberOrSwitch,
    /// A number above 0.
    Divisor,
    /// A whole number from 0.
    Count,
    /// No keyword of any draft.
    Unknown,
}

impl Form {
    /// Returns the form that a keyword gives its value.
    pub(super) fn of(key: &str, value: &Value) -> Self {
        match key {
            "$ref" | "$dynamicRef" | "$recursiveRef" => Form::Reference,
            "$id" | "$schema" => Form::Identity,
            // The keyword of draft 4 only where it is a text.
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
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => Form::Named,
            "dependencies" => Form::Dependencies,
            "dependentRequired" => Form::NamesByName,
            "type" => Form::Types,
            "required" => Form::Names,
            "enum" => Form::Values,
            "$anchor" | "$comment" | "$dynamicAnchor" | "contentEncoding" | "contentMediaType"
            | "description" | "format" | "pattern" | "title" => Form::Text,
            "$recursiveAnchor" | "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => Form::Switch,
            "maximum" | "minimum" => Form::Number,
            "exclusiveMaximum" | "exclusiveMinimum" => Form::NumberOrSwitch,
            "multipleOf" => Form::Divisor,
            "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems"
            | "minLength" | "minProperties" => Form::Count,
            _ => Form::Unknown,
        }
    }
}
