//! Shape of a body: types, names, required and unknown fields, checked against the published JSON Schema.
//!
//! serde stops at the first error and does not report its path. So the schema, which is generated from the same types,
//! is compiled once into a small tree. A walk along the body with this tree finds every error and removes the invalid
//! values, so that serde can read the rest and the rules can check it. Ranges of integers are checked, too; lengths are left to
//! the rules.

mod client_compat;
mod compile;
mod object;
mod prune;
mod tree;

use std::fmt;

use client_compat::ClientCompat;
pub(crate) use tree::BodyValue;

/// Shape of a value in a body.
#[derive(Debug)]
pub enum Shape {
    /// Any value.
    Any,
    /// Boolean.
    Bool,
    /// String.
    Text,
    /// One of these strings.
    Name(Vec<String>),
    /// Integer in a range that fits the Rust type.
    Integer { min: i128, max: i128 },
    /// Number.
    Number,
    /// Array of items of one shape.
    List(Box<Shape>),
    /// Object with arbitrary keys.
    Map(Box<Shape>),
    /// Object with known fields.
    Object(Object),
    /// Object whose `type` selects its fields.
    Tagged(Vec<(String, Object)>),
    /// One of these shapes, selected by the JSON type of the value.
    Either(Vec<Shape>),
}

/// Object with known fields.
#[derive(Debug)]
pub struct Object {
    /// Fields, ordered by the length of their names, then by name.
    fields: Vec<Field>,
    /// Unknown fields are an error if true; otherwise they are ignored with a warning.
    closed: bool,
    /// Fields and values of official clients that the specification does not have.
    client_compat: ClientCompat,
}

/// Field of an object.
#[derive(Debug)]
struct Field {
    name: String,
    shape: Shape,
    required: bool,
    /// True for another spelling of a known field, which is accepted but not suggested.
    deprecated: bool,
}

impl Shape {
    /// Returns a valid value of this shape that breaks no rule, if there is a simple one.
    fn placeholder(&self) -> Option<BodyValue<'static>> {
        match self {
            Shape::Text => Some(BodyValue::Text("placeholder.test".into())),
            Shape::Name(names) => names.first().map(|name| BodyValue::Text(name.clone().into())),
            Shape::Integer { min, max } => u64::try_from(1.clamp(*min, *max)).ok().map(BodyValue::Unsigned),
            Shape::Bool => Some(BodyValue::Bool(false)),
            Shape::List(_) => Some(BodyValue::List(Vec::new())),
            Shape::Map(_) => Some(BodyValue::Object(Vec::new())),
            Shape::Object(object) => {
                object.fields.iter().all(|field| !field.required).then(|| BodyValue::Object(Vec::new()))
            }
            Shape::Any | Shape::Number | Shape::Tagged(_) | Shape::Either(_) => None,
        }
    }
}

/// Displays the expected value for a message.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Any => f.write_str("any value"),
            Shape::Bool => f.write_str("true or false"),
            Shape::Text => f.write_str("a string"),
            Shape::Name(names) => write!(f, "one of {}", names.join(", ")),
            Shape::Integer { .. } => f.write_str("an integer"),
            Shape::Number => f.write_str("a number"),
            Shape::List(_) => f.write_str("an array"),
            Shape::Map(_) | Shape::Object(_) => f.write_str("an object"),
            Shape::Tagged(_) => f.write_str("an object with a type"),
            Shape::Either(shapes) => {
                for (index, shape) in shapes.iter().enumerate() {
                    let separator = if index == 0 { "" } else { " or " };
                    write!(f, "{separator}{shape}")?;
                }
                Ok(())
            }
        }
    }
}
