//! Ranking of given texts by a query, in the format of Jina's rerank API: `POST /v1/rerank`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::{QUERY_RERANK_MAX_CHARS, RERANK_DOCUMENTS_MAX, RERANK_DOCUMENTS_MIN};
use crate::pattern::NOT_BLANK;

/// Request of `POST /v1/rerank`: ranks texts by their relevance to a query.
///
/// # Examples
///
/// ```
/// use websvc_types::rerank::{RerankDocument, RerankRequest};
///
/// let request = RerankRequest {
///     query: "green tea".to_owned(),
///     documents: vec![RerankDocument::Text("Oolong is partly oxidised.".to_owned())],
///     ..RerankRequest::default()
/// };
/// assert_eq!(request.documents[0].text(), "Oolong is partly oxidised.");
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RerankRequest {
    /// Query that the texts are ranked for, 1 to 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = QUERY_RERANK_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub query: String,
    /// Texts to rank, 1 to 1000.
    #[cfg_attr(feature = "schemars", schemars(length(min = RERANK_DOCUMENTS_MIN, max = RERANK_DOCUMENTS_MAX)))]
    pub documents: Vec<RerankDocument>,
    /// Maximum number of results, the most relevant first. Default: all.
    #[cfg_attr(feature = "schemars", schemars(range(min = 1, max = RERANK_DOCUMENTS_MAX)))]
    pub top_n: Option<u32>,
    /// Any name; repeated in the response. There is only one ranking model.
    pub model: Option<String>,
    /// True includes the texts in the response. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub return_documents: Option<bool>,
}

/// Text to rank: a string, or an object with `text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(untagged)]
pub enum RerankDocument {
    /// Plain text.
    Text(String),
    /// Object with the text.
    Object(RerankText),
}

/// Object with a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RerankText {
    /// Text to rank.
    pub text: String,
}

/// Response of `POST /v1/rerank`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RerankResponse {
    /// `model` of the request, or the name of the ranking model.
    pub model: String,
    /// Amount of text that was ranked.
    pub usage: RerankUsage,
    /// Ranked texts, the most relevant first.
    pub results: Vec<RerankResult>,
    /// Ignored fields and other problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Amount of text that was ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RerankUsage {
    /// Number of words of the ranked texts.
    pub total_tokens: u64,
}

/// Ranked text.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RerankResult {
    /// Index of the text in `documents` of the request, from 0.
    pub index: usize,
    /// Relevance to the query, from 0 (none) to below 1.
    pub relevance_score: f64,
    /// Text; absent if `return_documents` is false.
    #[cfg_attr(feature = "schemars", schemars(with = "RerankText"))]
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
