//! How files that are no web pages are read.

use schemars::{JsonSchema, Schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bare_name::{self, BareName, with_names};
use crate::compat;
use crate::limits::{MAX_PAGES_MAX, MAX_PAGES_MIN};

/// A parser of files: an object with `type`, or the bare name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = add_names)]
pub struct Parser {
    /// The kind of file.
    #[serde(rename = "type")]
    pub kind: ParserKind,
    /// How the text is got. Default: auto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "auto"))]
    pub mode: Option<ParserMode>,
    /// At most this many pages are read, 1 to 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MAX_PAGES_MIN, max = MAX_PAGES_MAX))]
    pub max_pages: Option<u32>,
}

/// The kinds of files with a parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParserKind {
    /// PDF; billed 1 credit per page.
    Pdf,
}

/// How the text of a file is got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParserMode {
    /// The embedded text only.
    Fast,
    /// The embedded text, and character recognition where there is none.
    Auto,
    /// Character recognition on every page.
    Ocr,
}

impl Parser {
    /// Returns the parser of this kind with its defaults.
    #[must_use]
    pub fn new(kind: ParserKind) -> Self {
        Self { kind, mode: None, max_pages: None }
    }
}

fn add_names(schema: &mut Schema) {
    compat::add_parser_options(schema);
    with_names(schema, &["pdf"], &[]);
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
