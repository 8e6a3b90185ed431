//! The format `highlights`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

/// Passages of the page that match a query, in `highlights` of the result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct Highlights {
    /// Query, 1 to 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = QUESTION_MIN_CHARS, max = QUESTION_MAX_CHARS)))]
    pub query: String,
}

/// Passage of the page that matches the query of the format `highlights`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HighlightPassage {
    /// Text of the passage, verbatim.
    pub text: String,
    /// Position of its first character in the markdown of the page, counted in Unicode scalar values from 0.
    pub start: u64,
    /// Position after its last character.
    pub end: u64,
}
