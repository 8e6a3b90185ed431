//! Search sources.

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::bare_name::with_names;
use crate::bare_name::{self, BareName};
use crate::compat;
use crate::pattern::TBS;

/// Search source: an object with `type`, or its bare name.
///
/// # Examples
///
/// ```
/// use websvc_types::{Source, SourceKind};
///
/// let sources: Vec<Source> = serde_json::from_str(r#"["web", {"type": "news", "tbs": "qdr:d"}]"#)?;
/// let recent_news = Source { tbs: Some("qdr:d".to_owned()), ..Source::new(SourceKind::News) };
/// assert_eq!(sources, [Source::new(SourceKind::Web), recent_news]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(remote = "Self")]
#[cfg_attr(feature = "schemars", schemars(transform = add_names))]
pub struct Source {
    /// Kind of the source.
    #[serde(rename = "type")]
    pub kind: SourceKind,
    /// Time filter of this source; replaces `tbs` of the request.
    #[cfg_attr(feature = "schemars", schemars(regex(pattern = TBS)))]
    pub tbs: Option<String>,
    /// Location of the user for this source; replaces `location` of the request.
    pub location: Option<String>,
}

/// Kinds of search sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// Web pages.
    Web,
    /// Images.
    Images,
    /// News.
    News,
}

#[cfg(feature = "schemars")]
fn add_names(schema: &mut Schema) {
    with_names(schema, &["web", "images", "news"], compat::SOURCES);
}

impl Source {
    /// Creates a source of this kind without a time filter and location of its own.
    #[must_use]
    pub fn new(kind: SourceKind) -> Self {
        Self { kind, tbs: None, location: None }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Source::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bare_name::deserialize(deserializer)
    }
}

impl<'de> BareName<'de> for Source {
    const EXPECTED: &'static str = "the name of a source, or an object with its type";

    fn from_name<E: Error>(name: &str) -> Result<Self, E> {
        SourceKind::deserialize(name.into_deserializer()).map(Source::new)
    }

    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Source::deserialize(MapAccessDeserializer::new(map))
    }
}
