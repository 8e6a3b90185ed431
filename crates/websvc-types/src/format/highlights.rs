//! The format `highlights`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

/// Passages of the page that match a query, in `highlights` of the result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Highlights {
    /// Query, 1 to 10000 characters.
    #[schemars(length(min = QUESTION_MIN_CHARS, max = QUESTION_MAX_CHARS))]
    pub query: String,
}
