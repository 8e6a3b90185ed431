//! The ordering of given texts by a query, in the shape of Jina's rerank interface.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUERY_RERANK_MAX_CHARS, RERANK_DOCUMENTS_MAX, RERANK_DOCUMENTS_MIN};
use crate::pattern::NOT_BLANK;

/// Texts to be ordered by how well they answer a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RerankRequest {
    /// Query that the texts are ranked for.
    #[schemars(length(min = 1, max = QUERY_RERANK_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub query: String,
    /// The texts.
    #[schemars(length(min = RERANK_DOCUMENTS_MIN, max = RERANK_DOCUMENTS_MAX))]
    pub documents: Vec<RerankDocument>,
    /// How many of them are returned, the best ones. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = RERANK_DOCUMENTS_MAX))]
    pub top_n: Option<u32>,
    /// Any name; it is repeated in the answer. There is one way of ordering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Includes the texts in the response. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub return_documents: Option<bool>,
}

/// A text, alone or in an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RerankDocument {
    /// The text.
    Text(String),
    /// An object with the text.
    Object(RerankText),
}

/// An object with a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerankText {
    /// The text.
    pub text: String,
}

/// The texts in their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RerankResponse {
    /// The name that was given, or that of the one way of ordering.
    pub model: String,
    /// Amount of text that was ranked.
    pub usage: RerankUsage,
    /// The texts, the best first.
    pub results: Vec<RerankResult>,
    /// Values that were ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}

/// Amount of text that was ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerankUsage {
    /// How many words.
    pub total_tokens: u64,
}

/// A text with its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RerankResult {
    /// Index of the text in the request, from 0.
    pub index: usize,
    /// How well it answers, from 0 for not at all to below 1.
    pub relevance_score: f64,
    /// The text, unless it is not wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RerankText")]
    pub document: Option<RerankText>,
}

impl Default for RerankDocument {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl RerankDocument {
    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Object(RerankText { text }) => text,
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Object(RerankText { text }) => text,
        }
    }
}
