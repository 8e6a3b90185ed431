//! The format `question`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUESTION_MAX_CHARS, QUESTION_MIN_CHARS};

/// Answer to a question about the page, in `answer` of the result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Question, 1 to 10000 characters.
    #[schemars(length(min = QUESTION_MIN_CHARS, max = QUESTION_MAX_CHARS))]
    pub question: String,
}
