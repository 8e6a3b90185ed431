//! Feedback: ratings that clients give to results (clients.md, section 2.14).

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use crate::limits::{
    FEEDBACK_CODES_MAX, FEEDBACK_DESCRIPTION_MAX_CHARS, FEEDBACK_MISSING_MAX, FEEDBACK_NOTE_MAX_CHARS,
    FEEDBACK_PAGES_MAX, FEEDBACK_REASON_MAX_CHARS, FEEDBACK_SOURCES_MAX, FEEDBACK_SUGGESTIONS_MAX_CHARS,
    FEEDBACK_TOPIC_MAX_CHARS, FEEDBACK_TOPIC_MIN_CHARS, SEARCH_FEEDBACK_MISSING_MAX, URL_MAX_CHARS,
};
use crate::pattern::{FEEDBACK_CODE, NOT_BLANK, UUID};

/// Rating of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FeedbackRating {
    /// The result was what the client needed.
    #[default]
    Good,
    /// A part of the result was.
    Partial,
    /// The result was not.
    Bad,
}

/// Operation whose result is rated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FeedbackEndpoint {
    /// A search.
    #[default]
    Search,
    /// A scrape of a page.
    Scrape,
    /// An uploaded file.
    Parse,
    /// A map of a site.
    Map,
}

impl FeedbackEndpoint {
    /// Returns the name of the operation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Scrape => "scrape",
            Self::Parse => "parse",
            Self::Map => "map",
        }
    }
}

/// Source that was useful.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct FeedbackSource {
    /// URL of the source, http or https, at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Reason why it was useful, at most 1000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_REASON_MAX_CHARS)))]
    pub reason: Option<String>,
}

/// Content that was expected and not found.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct MissingContent {
    /// The topic, 1 to 200 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = FEEDBACK_TOPIC_MIN_CHARS, max = FEEDBACK_TOPIC_MAX_CHARS)))]
    pub topic: String,
    /// Details, at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_DESCRIPTION_MAX_CHARS)))]
    pub description: Option<String>,
}

/// Request of `POST /v2/search/{id}/feedback`: rates a search.
///
/// The rating `good` needs `valuableSources`, `partial` needs `valuableSources` or `missingContent`, and `bad` needs
/// `missingContent` or `querySuggestions`.
///
/// # Examples
///
/// ```
/// use websvc_types::feedback::{FeedbackRating, SearchFeedbackRequest};
///
/// let feedback: SearchFeedbackRequest = serde_json::from_str(r#"{
///     "rating": "good",
///     "valuableSources": [{ "url": "https://docs.example/asyncio", "reason": "explains the event loop" }]
/// }"#)?;
/// assert_eq!(feedback.rating, FeedbackRating::Good);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct SearchFeedbackRequest {
    /// The rating.
    pub rating: FeedbackRating,
    /// Results that were useful, at most 50.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_SOURCES_MAX)))]
    pub valuable_sources: Option<Vec<FeedbackSource>>,
    /// Content that was not found, at most 20.
    #[cfg_attr(feature = "schemars", schemars(length(max = SEARCH_FEEDBACK_MISSING_MAX)))]
    pub missing_content: Option<Vec<MissingContent>>,
    /// Queries that would have been better, at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_SUGGESTIONS_MAX_CHARS)))]
    pub query_suggestions: Option<String>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Request of `POST /v2/feedback`: rates the result of a search, scrape, uploaded file or map.
///
/// At least one of `issues`, `tags`, `note`, `valuableSources`, `missingContent`, `querySuggestions`, `pageNumbers` and
/// `metadata` is required. Feedback on a search needs the same fields for its rating as `POST /v2/search/{id}/feedback`.
/// The whole request has at most 65536 bytes.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct FeedbackRequest {
    /// The operation.
    pub endpoint: FeedbackEndpoint,
    /// ID of the result, a UUID: `id` of a search or map, `metadata.scrapeId` of a page or an uploaded file.
    #[cfg_attr(feature = "schemars", schemars(regex(pattern = UUID)))]
    pub job_id: String,
    /// The rating.
    pub rating: FeedbackRating,
    /// Codes of problems, at most 20: 1 to 80 lower-case letters, digits, `_` and `-`, such as `missing_table`.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_CODES_MAX), inner(regex(pattern = FEEDBACK_CODE))))]
    pub issues: Option<Vec<String>>,
    /// Codes of any kind, at most 20, with the form of `issues`.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_CODES_MAX), inner(regex(pattern = FEEDBACK_CODE))))]
    pub tags: Option<Vec<String>>,
    /// Text for people, at most 4000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_NOTE_MAX_CHARS)))]
    pub note: Option<String>,
    /// Sources that were useful, at most 50.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_SOURCES_MAX)))]
    pub valuable_sources: Option<Vec<FeedbackSource>>,
    /// Content that was not found, at most 50.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_MISSING_MAX)))]
    pub missing_content: Option<Vec<MissingContent>>,
    /// Queries that would have been better, at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_SUGGESTIONS_MAX_CHARS)))]
    pub query_suggestions: Option<String>,
    /// URL that the feedback is about, http or https, at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: Option<String>,
    /// Pages of a document that the feedback is about, from 1, at most 100.
    #[cfg_attr(feature = "schemars", schemars(length(max = FEEDBACK_PAGES_MAX), inner(range(min = 1, max = u32::MAX))))]
    pub page_numbers: Option<Vec<u32>>,
    /// Any object, at most 8192 bytes as JSON.
    pub metadata: Option<BTreeMap<String, Value>>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Response of `POST /v2/search/{id}/feedback` and `POST /v2/feedback`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FeedbackResponse {
    /// Always true.
    pub success: bool,
    /// ID of the stored feedback.
    pub feedback_id: String,
    /// Always 0: this service refunds no credits.
    pub credits_refunded: u64,
    /// True if the result was rated before. The earlier feedback remains, and `feedbackId` is its ID. Absent otherwise.
    #[cfg_attr(feature = "schemars", schemars(with = "bool"))]
    pub already_submitted: Option<bool>,
}
