//! Removal of personal data from markdown (specification, section 2.2.3).

use std::fmt;

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

/// Removal of personal data from the markdown: a boolean, or an object with options.
///
/// # Examples
///
/// ```
/// use websvc_types::{RedactEntity, RedactOptions, RedactPii};
///
/// let redact = RedactPii::On(RedactOptions { entities: Some(vec![RedactEntity::Email]), ..RedactOptions::default() });
/// assert_eq!(serde_json::to_string(&redact)?, r#"{"entities":["EMAIL"]}"#);
/// assert_eq!(serde_json::from_str::<RedactPii>("true")?, RedactPii::On(RedactOptions::default()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RedactPii {
    /// Personal data stays.
    #[default]
    Off,
    /// Personal data is removed.
    On(RedactOptions),
}

/// Options of the removal of personal data.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RedactOptions {
    /// Method of detection. Default: accurate.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "accurate")))]
    pub mode: Option<RedactMode>,
    /// Kinds of personal data to remove; an empty list means all. Default: all.
    pub entities: Option<Vec<RedactEntity>>,
    /// Replacement of removed data. Default: tag.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "tag")))]
    pub replace_style: Option<ReplaceStyle>,
}

/// Methods of detecting personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RedactMode {
    /// Uses a model, for precision.
    Accurate,
    /// Uses a model and rules, for recall.
    Aggressive,
    /// Uses rules only.
    Fast,
}

/// Kinds of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum RedactEntity {
    /// Names of people.
    Person,
    /// Email addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Postal addresses and places.
    Location,
    /// Card and account numbers, amounts of money.
    Financial,
    /// Passwords, keys, tokens.
    Secret,
}

/// Replacements of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReplaceStyle {
    /// A placeholder such as `<EMAIL>`.
    Tag,
    /// As many `*` as there were characters.
    Mask,
    /// Nothing: the data is removed.
    Remove,
}

impl Serialize for RedactPii {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RedactPii::Off => serializer.serialize_bool(false),
            RedactPii::On(options) => options.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RedactPii {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RedactVisitor)
    }
}

struct RedactVisitor;

impl<'de> Visitor<'de> for RedactVisitor {
    type Value = RedactPii;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or an object with redaction options")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<RedactPii, E> {
        Ok(if on { RedactPii::On(RedactOptions::default()) } else { RedactPii::Off })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RedactPii, A::Error> {
        RedactOptions::deserialize(MapAccessDeserializer::new(map)).map(RedactPii::On)
    }
}

#[cfg(feature = "schemars")]
impl JsonSchema for RedactPii {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RedactPii".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let options = generator.subschema_for::<RedactOptions>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, options] })
    }
}
