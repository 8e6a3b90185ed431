//! Body as a tree that borrows from its bytes.
//!
//! `serde_json::Value` copies every string and sorts the keys, which makes reading a request several times slower, and
//! it does not preserve duplicate fields.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{CowStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Value in a body.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyValue<'a> {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// Negative integer.
    Signed(i64),
    Float(f64),
    Text(Cow<'a, str>),
    List(Vec<BodyValue<'a>>),
    /// Object, with its fields in the order of the body.
    Object(Fields<'a>),
}

/// Fields of an object. A field may occur several times.
pub(crate) type Fields<'a> = Vec<(Cow<'a, str>, BodyValue<'a>)>;

impl<'a> BodyValue<'a> {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, BodyValue::Null)
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, BodyValue::Object(_))
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, BodyValue::Unsigned(_) | BodyValue::Signed(_) | BodyValue::Float(_))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            BodyValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a field of an object, the last one if it occurs several times.
    pub(crate) fn field(&self, name: &str) -> Option<&BodyValue<'a>> {
        let BodyValue::Object(fields) = self else { return None };
        field(fields, name)
    }
}

/// Returns a field, the last one if it occurs several times.
pub(crate) fn field<'f, 'a>(
    fields: &'f [(Cow<'a, str>, BodyValue<'a>)],
    name: &str,
) -> Option<&'f BodyValue<'a>> {
    fields.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
}

impl<'de: 'a, 'a> Deserialize<'de> for BodyValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BodyValueVisitor)
    }
}

struct BodyValueVisitor;

impl<'de> Visitor<'de> for BodyValueVisitor {
    type Value = BodyValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Signed(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<BodyValue<'de>, E> {
        Ok(BodyValue::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<BodyValue<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(BodyValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<BodyValue<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(Key(key)) = entries.next_key()? {
            fields.push((key, entries.next_value()?));
        }
        Ok(BodyValue::Object(fields))
    }
}

/// Name of a field. `Cow` itself would never borrow when deserialized.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(text.to_owned())))
    }
}

/// Error of deserializing a type from a tree.
type ReadError = serde::de::value::Error;

impl<'de> IntoDeserializer<'de, ReadError> for BodyValue<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for BodyValue<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self {
            BodyValue::Null => visitor.visit_unit(),
            BodyValue::Bool(value) => visitor.visit_bool(value),
            BodyValue::Unsigned(number) => visitor.visit_u64(number),
            BodyValue::Signed(number) => visitor.visit_i64(number),
            BodyValue::Float(number) => visitor.visit_f64(number),
            BodyValue::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            BodyValue::Text(Cow::Owned(text)) => visitor.visit_string(text),
            BodyValue::List(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter())),
            BodyValue::Object(fields) => visitor.visit_map(MapDeserializer::new(fields.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self {
            BodyValue::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self {
            BodyValue::Text(name) => {
                let name: CowStrDeserializer<'_, ReadError> = name.into_deserializer();
                visitor.visit_enum(name)
            }
            _ => Err(ReadError::custom("the name of a variant is expected")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}
