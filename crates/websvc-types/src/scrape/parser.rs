//! Parsers of files that are not web pages.

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
use crate::limits::{MAX_PAGES_MAX, MAX_PAGES_MIN};

/// Parser of a file type: an object with `type`, or its bare name.
///
/// # Examples
///
/// ```
/// use websvc_types::{Parser, ParserKind, ParserMode};
///
/// let parser: Parser = serde_json::from_str(r#"{"type": "pdf", "mode": "fast", "maxPages": 20}"#)?;
/// assert_eq!(parser, Parser { mode: Some(ParserMode::Fast), max_pages: Some(20), ..Parser::new(ParserKind::Pdf) });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(remote = "Self", rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", schemars(transform = add_names))]
pub struct Parser {
    /// File type.
    #[serde(rename = "type")]
    pub kind: ParserKind,
    /// Method of text extraction. Default: auto.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "auto")))]
    pub mode: Option<ParserMode>,
    /// Maximum number of pages to read, 1 to 10000. Default: all.
    #[cfg_attr(feature = "schemars", schemars(range(min = MAX_PAGES_MIN, max = MAX_PAGES_MAX)))]
    pub max_pages: Option<u32>,
    /// True also returns the markdown of each page, in `pages`. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub pages: Option<bool>,
    /// True separates the pages in the markdown by a line and a comment with the number of the page that follows.
    /// Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub page_markers: Option<bool>,
    /// True also returns the blocks of each page with their places, in `blocks`. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub blocks: Option<bool>,
}

/// File types with a parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ParserKind {
    /// PDF; costs 1 credit per page.
    Pdf,
}

/// Methods of text extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ParserMode {
    /// Reads only the embedded text.
    Fast,
    /// Reads the embedded text, and recognizes characters on pages without it.
    Auto,
    /// Recognizes characters on every page.
    Ocr,
}

impl Parser {
    /// Creates the parser of this file type with its defaults.
    #[must_use]
    pub fn new(kind: ParserKind) -> Self {
        Self { kind, mode: None, max_pages: None, pages: None, page_markers: None, blocks: None }
    }
}

#[cfg(feature = "schemars")]
fn add_names(schema: &mut Schema) {
    compat::add_parser_options(schema);
    with_names(schema, &["pdf"], compat::PARSERS);
}

impl Serialize for Parser {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Parser::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Parser {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bare_name::deserialize(deserializer)
    }
}

impl<'de> BareName<'de> for Parser {
    const EXPECTED: &'static str = "the name of a parser, or an object with its type";

    fn from_name<E: Error>(name: &str) -> Result<Self, E> {
        ParserKind::deserialize(name.into_deserializer()).map(Parser::new)
    }

    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        Parser::deserialize(MapAccessDeserializer::new(map))
    }
}
