//! The format `question`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

/// Answer to a question about the page, in `answer` of the result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct Question {
    /// Question, 1 to 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = QUESTION_MIN_CHARS, max = QUESTION_MAX_CHARS)))]
    pub question: String,
}
