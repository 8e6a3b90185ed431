//! The shape of a body: types, names, required and unknown fields, checked against the published JSON Schema.
//!
//! serde stops at the first mistake and tells no path. So the schema, which is made from the same types, is compiled
//! once into a small tree that is walked beside the body: it finds every mistake, and takes out of the body what is
//! mistaken, so that serde can read the rest and the rules can be checked on it. What the schema says about ranges and
//! lengths is left to the rules, except where a number would not fit its Rust type.

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
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// True or false.
    Bool,
    /// A text.
    Text,
    /// A text out of these.
    Name(Vec<String>),
    /// A whole number between these, which fit its type.
    Integer { min: i128, max: i128 },
    /// A number.
    Number,
    /// A list of items of one shape.
    List(Box<Shape>),
    /// An object with keys of the caller's own.
    Map(Box<Shape>),
    /// An object with known fields.
    Object(Object),
    /// An object whose `type` says which fields it has.
    Tagged(Vec<(String, Object)>),
    /// One of these, told apart by the JSON type of the value.
    Either(Vec<Shape>),
}

/// An object with known fields.
#[derive(Debug)]
pub(crate) struct Object {
    /// By the length of their names, then by name.
    fields: Vec<Field>,
    /// Unknown fields are an error if true; otherwise they are ignored with a warning.
    closed: bool,
    /// Keys of official clients that are not in the specification.
    foreign: ClientCompat,
}

/// A field of an object.
#[derive(Debug)]
struct Field {
    name: String,
    shape: Shape,
    required: bool,
    /// Another spelling or place of a known field, which is accepted and not suggested.
    deprecated: bool,
}

impl Shape {
    /// Returns a value of this shape that breaks no rule, if there is a simple one.
    fn stand_in(&self) -> Option<BodyValue<'static>> {
        match self {
            Shape::Text => Some(BodyValue::Text("stand-in.test".into())),
            Shape::Name(names) => names.first().map(|name| BodyValue::Text(name.clone().into())),
            Shape::Integer { min, max } => u64::try_from(1.clamp(*min, *max)).ok().map(BodyValue::Unsigned),
            Shape::Bool => Some(BodyValue::Bool(false)),
            Shape::List(_) => Some(BodyValue::List(Vec::new())),
            Shape::Map(_) => Some(BodyValue::Object(Vec::new())),
            Shape::Any | Shape::Number | Shape::Object(_) | Shape::Tagged(_) | Shape::Either(_) => None,
        }
    }
}

/// Prints what the shape expects, as a sentence says it.
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
                for (position, shape) in shapes.iter().enumerate() {
                    let separator = if position == 0 { "" } else { " or " };
                    write!(f, "{separator}{shape}")?;
                }
                Ok(())
            }
        }
    }
}
