//! Deserialization of objects whose `type` selects the variant of an enum.
//!
//! serde's internally tagged enums buffer the whole object before they read `type`. Clients usually write `type` first;
//! this module then reads the fields without a buffer, and buffers only objects with another order.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

/// A type whose variant is selected by `type`.
pub(crate) trait Tagged<'de>: Sized {
    /// Description of the expected value in error messages.
    const EXPECTED: &'static str;

    /// Deserializes the fields of the variant `tag`.
    fn from_tag<D: Deserializer<'de>>(tag: &str, fields: D) -> Result<Self, D::Error>;
}

/// Deserializes an object.
pub(crate) fn deserialize<'de, T: Tagged<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(TaggedVisitor(PhantomData))
}

/// Converts the bare name of a variant, which counts as an object without fields.
pub(crate) fn from_name<'de, T: Tagged<'de>, E: Error>(name: &str) -> Result<T, E> {
    let no_fields: [(&str, &str); 0] = [];
    T::from_tag(name, MapDeserializer::new(no_fields.into_iter()))
}

/// Deserializes the entries of an object.
pub(crate) fn from_map<'de, T: Tagged<'de>, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    match map.next_key()? {
        None => Err(A::Error::missing_field("type")),
        Some(Key::Type) => {
            let Tag(tag) = map.next_value()?;
            T::from_tag(&tag, MapAccessDeserializer::new(map))
        }
        Some(Key::Other(key)) => {
            let mut fields = Map::from_iter([(key, map.next_value()?)]);
            while let Some((key, value)) = map.next_entry::<String, Value>()? {
                fields.insert(key, value);
            }
            match fields.shift_remove("type") {
                None => Err(A::Error::missing_field("type")),
                Some(Value::String(tag)) => T::from_tag(&tag, fields).map_err(A::Error::custom),
                Some(other) => Err(A::Error::custom(format_args!("type must be a string, not {other}"))),
            }
        }
    }
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        from_map(map)
    }
}

/// First key of an object.
enum Key {
    Type,
    Other(String),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
                Ok(if key == "type" { Key::Type } else { Key::Other(key.to_owned()) })
            }
        }

        deserializer.deserialize_identifier(KeyVisitor)
    }
}

/// Value of `type`, borrowed if possible.
struct Tag<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Tag<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TagVisitor;

        impl<'de> Visitor<'de> for TagVisitor {
            type Value = Tag<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a type")
            }

            fn visit_borrowed_str<E: Error>(self, tag: &'de str) -> Result<Tag<'de>, E> {
                Ok(Tag(Cow::Borrowed(tag)))
            }

            fn visit_str<E: Error>(self, tag: &str) -> Result<Tag<'de>, E> {
                Ok(Tag(Cow::Owned(tag.to_owned())))
            }
        }

        deserializer.deserialize_str(TagVisitor)
    }
}
