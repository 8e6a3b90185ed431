//! Wire values that are an object with a `type`, and may be written as the bare name of that type.
//!
//! A visitor instead of `#[serde(untagged)]`, so that a wrong value is told by what is wrong with it.

use std::fmt;
use std::marker::PhantomData;

use schemars::Schema;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Value, json};

use crate::compat;

/// A type that is read from an object with a `type`, or from the bare name of that type.
pub(crate) trait BareName<'de>: Sized {
    /// Name of the type in error messages.
    const EXPECTED: &'static str;

    /// Reads the name.
    fn from_name<E: Error>(name: &str) -> Result<Self, E>;

    /// Reads the object.
    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// Reads either form.
pub(crate) fn deserialize<'de, T: BareName<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(ShortFormVisitor(PhantomData))
}

struct ShortFormVisitor<T>(PhantomData<T>);

impl<'de, T: BareName<'de>> Visitor<'de> for ShortFormVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        T::from_name(name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}

/// Adds the bare names to the schema of the objects, and the items of official clients that are left out.
pub(crate) fn with_names(schema: &mut Schema, names: &[&str], left_out: &[&str]) {
    let description = schema.remove("description");
    let object = std::mem::take(schema).to_value();
    let mut both = json!({ "anyOf": [{ "type": "string", "enum": names }, object] });
    if let (Some(Value::Array(alternatives)), false) = (both.get_mut("anyOf"), left_out.is_empty()) {
        alternatives.push(compat::ignored_values_schema(left_out));
    }
    if let (Some(description), Value::Object(both)) = (description, &mut both) {
        both.insert("description".to_owned(), description);
    }
    if let Ok(both) = Schema::try_from(both) {
        *schema = both;
    }
}
