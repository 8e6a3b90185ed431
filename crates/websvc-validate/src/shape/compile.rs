//! Compilation of a JSON Schema to a shape.
//!
//! The compiler supports the schemas that schemars generates for the request types, and panics on any other, because
//! silently not checking a part of a schema would be worse. The schemas depend only on the types, so a panic would
//! occur for every request of a type or for none. Tests compile the schemas of all request types and check their
//! keywords, so the compiler cannot panic in production.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::client_compat::ClientCompat;
use super::object::by_length;
use super::{Field, Object, Shape};

impl Shape {
    /// Compiles a root schema.
    ///
    /// # Panics
    /// If the schema is not of the supported form, see the module documentation.
    pub(crate) fn compile(schema: &Value) -> Self {
        let no_definitions = Map::new();
        let definitions = schema.get("$defs").and_then(Value::as_object).unwrap_or(&no_definitions);
        Compiler { definitions }.shape(schema)
    }
}

/// Maximum number of fields of an object: `FieldSet` has a bit for each.
const MAX_FIELDS: usize = u64::BITS as usize;

struct Compiler<'a> {
    definitions: &'a Map<String, Value>,
}

/// Properties of the schema of an object, which `$ref` and `allOf` may distribute over several schemas.
#[derive(Default)]
struct Parts<'a> {
    properties: BTreeMap<&'a str, &'a Value>,
    required: Vec<&'a str>,
    closed: bool,
    client_compat: ClientCompat,
}

impl<'a> Compiler<'a> {
    fn shape(&self, schema: &'a Value) -> Shape {
        let Some(keywords) = schema.as_object() else {
            assert_eq!(schema, &Value::Bool(true), "a schema is an object or true");
            return Shape::Any;
        };
        if let Some(alternatives) = alternatives(keywords) {
            return self.either(alternatives);
        }
        if keywords.contains_key("properties") || keywords.contains_key("allOf") {
            return Shape::Object(self.object(schema));
        }
        if let Some((name, target)) = self.target(keywords) {
            let named = |shape| match shape {
                Shape::Object(object) => {
                    Shape::Object(Object { client_compat: ClientCompat::from_definition(name), ..object })
                }
                other => other,
            };
            return match self.shape(target) {
                Shape::Either(shapes) => Shape::Either(shapes.into_iter().map(named).collect()),
                other => named(other),
            };
        }
        if let Some(names) = keywords.get("enum") {
            return Shape::Name(strings(names));
        }
        if let Some(name) = keywords.get("const") {
            return Shape::Name(vec![string(name).to_owned()]);
        }
        self.typed(schema, keywords)
    }

    fn typed(&self, schema: &'a Value, keywords: &'a Map<String, Value>) -> Shape {
        match json_type(keywords) {
            None => Shape::Any,
            Some("boolean") => Shape::Bool,
            Some("string") => Shape::Text,
            Some("number") => Shape::Number,
            Some("integer") => integer(keywords),
            Some("array") => {
                Shape::List(Box::new(keywords.get("items").map_or(Shape::Any, |items| self.shape(items))))
            }
            Some("object") => match keywords.get("additionalProperties") {
                None | Some(Value::Bool(false)) => Shape::Object(self.object(schema)),
                Some(values) => Shape::Map(Box::new(self.shape(values))),
            },
            Some(other) => panic!("no shape for the JSON type {other}"),
        }
    }

    fn either(&self, alternatives: &'a [Value]) -> Shape {
        if alternatives.iter().all(|schema| tag(schema).is_some()) {
            let tagged =
                alternatives.iter().filter_map(|schema| Some((tag(schema)?, self.alternative(schema))));
            return Shape::Tagged(tagged.map(|(tag, object)| (tag.to_owned(), object)).collect());
        }
        let mut shapes: Vec<Shape> = Vec::new();
        // Deprecated alternatives are values of official clients, which `ClientCompat` ignores.
        for alternative in
            alternatives.iter().filter(|schema| schema["type"] != "null" && !is_deprecated(schema))
        {
            match (shapes.last_mut(), self.shape(alternative)) {
                (Some(Shape::Name(names)), Shape::Name(more)) => names.extend(more),
                (_, shape) => shapes.push(shape),
            }
        }
        if shapes.len() == 1 { shapes.remove(0) } else { Shape::Either(shapes) }
    }

    /// Returns the object of an alternative, which tolerates what its definition does.
    fn alternative(&self, schema: &'a Value) -> Object {
        let object = self.object(schema);
        let definition = schema.as_object().and_then(|keywords| self.target(keywords));
        match definition {
            Some((name, _)) => Object { client_compat: ClientCompat::from_definition(name), ..object },
            None => object,
        }
    }

    fn object(&self, schema: &'a Value) -> Object {
        let mut parts = Parts::default();
        self.collect(schema, &mut parts);
        let Parts { properties, required, closed, client_compat } = parts;
        let fields = properties.into_iter().map(|(name, schema)| Field {
            name: name.to_owned(),
            shape: self.shape(schema),
            required: required.contains(&name),
            deprecated: is_deprecated(schema),
        });
        let mut fields: Vec<Field> = fields.collect();
        fields.sort_by(|a, b| by_length(&a.name, &b.name));
        assert!(fields.len() <= MAX_FIELDS, "an object has at most {MAX_FIELDS} fields");
        Object { fields, closed, client_compat }
    }

    fn collect(&self, schema: &'a Value, parts: &mut Parts<'a>) {
        let Some(keywords) = schema.as_object() else { panic!("{schema} is not the schema of an object") };
        if let Some((_, target)) = self.target(keywords) {
            self.collect(target, parts);
        }
        for part in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.collect(part, parts);
        }
        if let Some(properties) = keywords.get("properties").and_then(Value::as_object) {
            parts.properties.extend(properties.iter().map(|(name, schema)| (name.as_str(), schema)));
        }
        parts
            .required
            .extend(keywords.get("required").and_then(Value::as_array).into_iter().flatten().map(string));
        let closes = |keyword| keywords.get(keyword) == Some(&Value::Bool(false));
        parts.closed |= closes("additionalProperties") || closes("unevaluatedProperties");
        if let Some(title) = keywords.get("title").and_then(Value::as_str) {
            parts.client_compat = ClientCompat::from_definition(title);
        }
    }

    /// Returns the definition that `$ref` names, and its name.
    fn target(&self, keywords: &'a Map<String, Value>) -> Option<(&'a str, &'a Value)> {
        let name = keywords.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some((name, self.definitions.get(name)?))
    }
}

/// Returns the alternatives of a value. Alternatives that only require fields are rules, not shapes.
fn alternatives(keywords: &Map<String, Value>) -> Option<&[Value]> {
    let alternatives = keywords.get("anyOf").or_else(|| keywords.get("oneOf"))?.as_array()?;
    let is_rule = |schema: &Value| {
        schema.as_object().is_some_and(|keywords| keywords.keys().all(|key| key == "required"))
    };
    (!alternatives.iter().all(is_rule)).then_some(alternatives)
}

fn is_deprecated(schema: &Value) -> bool {
    schema["deprecated"] == Value::Bool(true)
}

/// Returns the constant value of `type` that selects an alternative.
fn tag(schema: &Value) -> Option<&str> {
    schema.get("properties")?.get("type")?.get("const")?.as_str()
}

fn json_type(keywords: &Map<String, Value>) -> Option<&str> {
    match keywords.get("type")? {
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        name => name.as_str(),
    }
}

/// Returns the range of integers that both the schema and the Rust type allow.
fn integer(keywords: &Map<String, Value>) -> Shape {
    let (type_min, type_max) = match keywords.get("format").and_then(Value::as_str) {
        Some("uint8") => (0, u8::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32") => (0, u32::MAX.into()),
        Some("uint" | "uint64") => (0, u64::MAX.into()),
        Some("int" | "int64") => (i64::MIN.into(), i64::MAX.into()),
        other => panic!("no shape for the integer format {other:?}"),
    };
    let bound = |keyword| {
        let bound = keywords.get(keyword)?;
        bound.as_i64().map(i128::from).or_else(|| bound.as_u64().map(i128::from))
    };
    Shape::Integer {
        min: bound("minimum").map_or(type_min, |min| min.max(type_min)),
        max: bound("maximum").map_or(type_max, |max| max.min(type_max)),
    }
}

fn strings(names: &Value) -> Vec<String> {
    names.as_array().into_iter().flatten().map(|name| string(name).to_owned()).collect()
}

fn string(value: &Value) -> &str {
    value.as_str().expect("names of fields and values are strings")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::request_rules::request_schemas;

    /// Keywords that the compiler reads.
    const READ: &[&str] = &[
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "deprecated",
        "enum",
        "format",
        "items",
        "maximum",
        "minimum",
        "oneOf",
        "properties",
        "required",
        "title",
        "type",
        "unevaluatedProperties",
    ];

    /// Keywords that do not affect the shape: annotations, and rules that the checks of this crate apply.
    const NOT_READ: &[&str] = &[
        "$schema",
        "default",
        "description",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "minItems",
        "minLength",
        "not",
        "pattern",
        "propertyNames",
    ];

    #[test]
    fn request_schemas_compile() {
        for (name, schema) in request_schemas() {
            assert!(matches!(Shape::compile(&schema), Shape::Object(_)), "{name}");
        }
    }

    #[test]
    fn request_schemas_have_only_known_keywords() {
        for (name, schema) in request_schemas() {
            let mut keywords = BTreeSet::new();
            collect_keywords(&schema, &mut keywords);
            let is_known = |keyword: &&&str| READ.contains(keyword) || NOT_READ.contains(keyword);
            let unknown: Vec<&&str> = keywords.iter().filter(|keyword| !is_known(keyword)).collect();
            assert!(
                unknown.is_empty(),
                "{name} has {unknown:?}: teach the compiler, or list them as not read"
            );
        }
    }

    fn collect_keywords<'a>(schema: &'a Value, keywords: &mut BTreeSet<&'a str>) {
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            keywords.insert(keyword);
            match keyword.as_str() {
                "$defs" | "properties" => {
                    value.as_object().into_iter().flatten().for_each(|(_, schema)| {
                        collect_keywords(schema, keywords);
                    });
                }
                "additionalProperties" | "items" => collect_keywords(value, keywords),
                "allOf" | "anyOf" | "oneOf" => {
                    value
                        .as_array()
                        .into_iter()
                        .flatten()
                        .for_each(|schema| collect_keywords(schema, keywords));
                }
                _ => {}
            }
        }
    }
}
