//! Values that are a URL, or an object with the URL and options: the webhooks of jobs, monitors and runs.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;

/// A URL, or an object with the URL and options `T`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum UrlOrOptions<T> {
    /// URL that receives all events.
    Url(String),
    /// URL with options.
    Options(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for UrlOrOptions<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UrlOrOptionsVisitor(PhantomData))
    }
}

/// Reads the value by its type, so that an error names the invalid option.
struct UrlOrOptionsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for UrlOrOptionsVisitor<T> {
    type Value = UrlOrOptions<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a URL or an object with `url`")
    }

    fn visit_str<E: Error>(self, url: &str) -> Result<UrlOrOptions<T>, E> {
        Ok(UrlOrOptions::Url(url.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<UrlOrOptions<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(UrlOrOptions::Options)
    }
}

/// The name is that of the options without its last word, such as `AgentWebhook`.
#[cfg(feature = "schemars")]
impl<T: JsonSchema> JsonSchema for UrlOrOptions<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name().trim_end_matches("Options").to_owned().into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let options = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [
            { "type": "string", "maxLength": URL_MAX_CHARS, "pattern": NOT_BLANK },
            options,
        ] })
    }
}
