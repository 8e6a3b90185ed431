//! From a JSON Schema, as schemars writes it, to a shape.
//!
//! Only what schemars writes for our types is understood. Anything else stops the program at its first request, and
//! the tests before that: a part of the schema that is silently not checked would be worse.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::client_compat::ClientCompat;
use super::object::by_length;
use super::{Field, Object, Shape};

impl Shape {
    /// Compiles a root schema.
    ///
    /// # Panics
    /// When the schema has what schemars does not write for our types.
    pub(crate) fn of(schema: &Value) -> Self {
        let none = Map::new();
        let definitions = schema.get("$defs").and_then(Value::as_object).unwrap_or(&none);
        Compiler { definitions }.shape(schema)
    }
}

/// Most fields of one object.
const MAX_FIELDS: usize = u64::BITS as usize;

struct Compiler<'a> {
    definitions: &'a Map<String, Value>,
}

/// The parts of an object's schema, which `$ref` and `allOf` may spread over several.
#[derive(Default)]
struct Parts<'a> {
    properties: BTreeMap<&'a str, &'a Value>,
    required: Vec<&'a str>,
    closed: bool,
    foreign: ClientCompat,
}

impl<'a> Compiler<'a> {
    fn shape(&self, schema: &'a Value) -> Shape {
        let Some(keywords) = schema.as_object() else {
            assert_eq!(schema, &Value::Bool(true), "only the schema that allows anything is no object");
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
                Shape::Object(object) => Shape::Object(Object { foreign: ClientCompat::of(name), ..object }),
                other => other,
            };
            return match self.shape(target) {
                Shape::Either(shapes) => Shape::Either(shapes.into_iter().map(named).collect()),
                other => named(other),
            };
        }
        if let Some(names) = keywords.get("enum") {
            return Shape::Name(texts(names));
        }
        if let Some(name) = keywords.get("const") {
            return Shape::Name(vec![text(name).to_owned()]);
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
            let tagged = alternatives.iter().filter_map(|schema| Some((tag(schema)?, self.object(schema))));
            return Shape::Tagged(tagged.map(|(tag, object)| (tag.to_owned(), object)).collect());
        }
        let mut shapes: Vec<Shape> = Vec::new();
        // What is deprecated here is what official clients send and `ClientCompat` leaves out.
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

    fn object(&self, schema: &'a Value) -> Object {
        let mut parts = Parts::default();
        self.collect(schema, &mut parts);
        let Parts { properties, required, closed, foreign } = parts;
        let fields = properties.into_iter().map(|(name, schema)| Field {
            name: name.to_owned(),
            shape: self.shape(schema),
            required: required.contains(&name),
            deprecated: is_deprecated(schema),
        });
        let mut fields: Vec<Field> = fields.collect();
        fields.sort_by(|a, b| by_length(&a.name, &b.name));
        assert!(fields.len() <= MAX_FIELDS, "the walk notes the fields it saw in the bits of a word");
        Object { fields, closed, foreign }
    }

    fn collect(&self, schema: &'a Value, parts: &mut Parts<'a>) {
        let Some(keywords) = schema.as_object() else { panic!("{schema} is no schema of an object") };
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
            .extend(keywords.get("required").and_then(Value::as_array).into_iter().flatten().map(text));
        let closes = |keyword| keywords.get(keyword) == Some(&Value::Bool(false));
        parts.closed |= closes("additionalProperties") || closes("unevaluatedProperties");
        if let Some(title) = keywords.get("title").and_then(Value::as_str) {
            parts.foreign = ClientCompat::of(title);
        }
    }

    /// Returns the definition that `$ref` names, and its name.
    fn target(&self, keywords: &'a Map<String, Value>) -> Option<(&'a str, &'a Value)> {
        let name = keywords.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some((name, self.definitions.get(name)?))
    }
}

/// Returns the alternatives of a value. Those that only demand one field or another are rules, not shapes.
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

/// Returns the value of `type` by which an alternative is chosen.
fn tag(schema: &Value) -> Option<&str> {
    schema.get("properties")?.get("type")?.get("const")?.as_str()
}

fn json_type(keywords: &Map<String, Value>) -> Option<&str> {
    match keywords.get("type")? {
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        name => name.as_str(),
    }
}

/// Returns the numbers that both the schema and the Rust type allow.
fn integer(keywords: &Map<String, Value>) -> Shape {
    let (least, most) = match keywords.get("format").and_then(Value::as_str) {
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
        min: bound("minimum").map_or(least, |min| min.max(least)),
        max: bound("maximum").map_or(most, |max| max.min(most)),
    }
}

fn texts(names: &Value) -> Vec<String> {
    names.as_array().into_iter().flatten().map(|name| text(name).to_owned()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("schemars names fields and values by strings")
}
