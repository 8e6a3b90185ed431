//! Deserialization of values that are an object with a `type` or the bare name of that type.
//!
//! A visitor is used instead of `#[serde(untagged)]`, so that the error for an invalid value names the cause.

use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "schemars")]
use schemars::Schema;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Value, json};

use crate::compat;

/// A type that is read from an object with a `type`, or from the bare name of that type.
pub(crate) trait BareName<'de>: Sized {
    /// Description of the expected value in error messages.
    const EXPECTED: &'static str;

    /// Converts the bare name.
    fn from_name<E: Error>(name: &str) -> Result<Self, E>;

    /// Deserializes the object.
    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// Deserializes either form.
pub(crate) fn deserialize<'de, T: BareName<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(BareNameVisitor(PhantomData))
}

struct BareNameVisitor<T>(PhantomData<T>);

impl<'de, T: BareName<'de>> Visitor<'de> for BareNameVisitor<T> {
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

/// Extends the schema of the objects by the bare names, and by the values of official clients that are ignored.
#[cfg(feature = "schemars")]
pub(crate) fn with_names(schema: &mut Schema, names: &[&str], ignored: &[&str]) {
    let description = schema.remove("description");
    let object = std::mem::take(schema).to_value();
    let mut both = json!({ "anyOf": [{ "type": "string", "enum": names }, object] });
    if let (Some(Value::Array(alternatives)), false) = (both.get_mut("anyOf"), ignored.is_empty()) {
        alternatives.push(compat::ignored_values_schema(ignored));
    }
    if let (Some(description), Value::Object(both)) = (description, &mut both) {
        both.insert("description".to_owned(), description);
    }
    if let Ok(both) = Schema::try_from(both) {
        *schema = both;
    }
}
