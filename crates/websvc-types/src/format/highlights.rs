//! The format `highlights`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

/// The text of the page that a query is about, in the result's `highlights`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Highlights {
    /// The query, 1 to 10000 characters.
    #[schemars(length(min = QUESTION_MIN_CHARS, max = QUESTION_MAX_CHARS))]
    pub query: String,
}
