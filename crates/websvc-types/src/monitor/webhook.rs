//! Webhook of a monitor.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;
use crate::scrape::add_header_patterns;

/// Webhook of a monitor: a URL, or an object with options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MonitorWebhook {
    /// URL that receives all events.
    Url(String),
    /// URL with options.
    Options(MonitorWebhookOptions),
}

/// URL and options of the webhook of a monitor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MonitorWebhookOptions {
    /// URL that events are posted to, http or https, at most 8192 characters.
    #[schemars(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Headers of every event, at most 65536 bytes. `Content-Type`, connection headers and the signature headers are
    /// not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Texts that every event repeats, at most 16384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, Option<String>>>")]
    pub metadata: Option<BTreeMap<String, String>>,
    /// Events to send; at least one. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub events: Option<Vec<MonitorEventKind>>,
}

/// Events of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum MonitorEventKind {
    /// A page of a check is done.
    #[serde(rename = "monitor.page")]
    Page,
    /// A check has ended.
    #[serde(rename = "monitor.check.completed")]
    CheckCompleted,
}

impl MonitorEventKind {
    /// All events.
    pub const ALL: [Self; 2] = [Self::Page, Self::CheckCompleted];

    /// Returns the name of the event.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "monitor.page",
            Self::CheckCompleted => "monitor.check.completed",
        }
    }
}

impl Serialize for MonitorWebhook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Url(url) => serializer.serialize_str(url),
            Self::Options(options) => options.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for MonitorWebhook {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MonitorWebhookVisitor)
    }
}

struct MonitorWebhookVisitor;

impl<'de> Visitor<'de> for MonitorWebhookVisitor {
    type Value = MonitorWebhook;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a URL or an object with `url`")
    }

    fn visit_str<E: Error>(self, url: &str) -> Result<MonitorWebhook, E> {
        Ok(MonitorWebhook::Url(url.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MonitorWebhook, A::Error> {
        MonitorWebhookOptions::deserialize(MapAccessDeserializer::new(map)).map(MonitorWebhook::Options)
    }
}

impl JsonSchema for MonitorWebhook {
    fn schema_name() -> Cow<'static, str> {
        "MonitorWebhook".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let options = generator.subschema_for::<MonitorWebhookOptions>();
        json_schema!({ "anyOf": [
            { "type": "string", "maxLength": URL_MAX_CHARS, "pattern": NOT_BLANK },
            options,
        ] })
    }
}
