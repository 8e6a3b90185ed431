//! Requests to a language model, and its responses.

use std::fmt;
use std::time::Instant;

use serde_json::Value;
use websvc_transport::BoxFuture;

use crate::error::ModelError;
use crate::feature::Feature;
use crate::metrics::ModelMetrics;
use crate::usage::Usage;

/// A future that a model returns.
pub type ModelFuture<'a, T> = BoxFuture<'a, Result<T, ModelError>>;

/// A language model.
pub trait Model: fmt::Debug + Send + Sync {
    /// Returns whether it supports [`Model::complete`].
    fn can_complete(&self) -> bool;

    /// Returns whether it supports [`Model::rerank`].
    fn can_rerank(&self) -> bool;

    /// Returns the maximum number of concurrent requests. Further requests wait.
    fn concurrency(&self) -> usize;

    /// Returns the maximum length of a prompt, in characters. The content of a longer one is truncated. It follows the context
    /// of the server as far as that is known, so it may change.
    fn max_input_chars(&self) -> usize;

    /// Returns whether several formats of a page should share one request.
    fn combines(&self) -> bool {
        false
    }

    /// Completes a request. The future fails with [`ModelError`].
    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion>;

    /// Ranks texts by their relevance for a query, and returns the best `max_results`. The future fails with [`ModelError`].
    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [&'a str],
        max_results: usize,
        deadline: Instant,
    ) -> ModelFuture<'a, Ranking>;

    /// Returns the metrics since the start of the process, if the model has any.
    fn metrics(&self) -> Option<ModelMetrics<'_>> {
        None
    }
}

/// A request to a model. Instructions and user prompt are never truncated. If they leave no space for the content, the
/// request fails.
#[derive(Debug, Clone, Copy)]
pub struct CompletionRequest<'a> {
    /// The feature that the request is for.
    pub feature: Feature,
    /// The instructions of the service. They contain no text of callers or pages.
    pub instructions: &'a str,
    /// The prompt of the caller.
    pub user_prompt: &'a str,
    /// The data for the prompt. Its end is truncated if it exceeds the size limit of the model.
    pub content: Option<&'a str>,
    /// The format of the response.
    pub format: ResponseFormat<'a>,
    /// The maximum length of the response, in tokens of the model. A short context may lower it.
    pub max_tokens: u32,
    /// The deadline of the response, including the wait for a place of the model.
    pub deadline: Instant,
}

/// The maximum length of data that is extracted from a content, in tokens.
pub const MAX_DATA_TOKENS: u32 = 4_096;

/// The length that the data of the shortest content may have, in tokens.
const MIN_DATA_TOKENS: u32 = 256;

/// The format of a response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResponseFormat<'a> {
    /// Any text.
    Text,
    /// A JSON object. The model may still return another value, which the caller may unwrap.
    Json,
    /// A JSON value that follows a JSON Schema. The model may still violate it.
    Schema(&'a Value),
    /// As [`Schema`](Self::Schema), but an answer without an object that has the required fields of the schema is
    /// returned as text.
    SchemaOrText(&'a Value),
}

impl ResponseFormat<'_> {
    /// Returns the maximum length of data of a content, in tokens: what the content states, the words of the schema, and
    /// some more. A model that repeats itself ends there, and not after minutes.
    #[must_use]
    pub fn max_data_tokens(self, content: &str) -> u32 {
        let schema_bytes = match self {
            Self::Schema(schema) | Self::SchemaOrText(schema) => schema.to_string().len(),
            Self::Text | Self::Json => 0,
        };
        // A token has a character or more, but lists repeat the names of the schema.
        let length = content.chars().count().saturating_add(schema_bytes);
        u32::try_from(length).unwrap_or(MAX_DATA_TOKENS).saturating_add(MIN_DATA_TOKENS).min(MAX_DATA_TOKENS)
    }
}

/// The response of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The content, in the requested format.
    pub content: CompletionContent,
    /// The token usage.
    pub usage: Usage,
    /// True if the end of the content of the request was truncated.
    pub is_content_truncated: bool,
    /// True if the server probably left out a part of the request without saying so. Then the content counts as truncated.
    pub is_cut_by_server: bool,
}

/// The content of a response: a text for [`ResponseFormat::Text`], either for [`ResponseFormat::SchemaOrText`],
/// otherwise a value.
#[derive(Debug, Clone, PartialEq)]
pub enum CompletionContent {
    /// A text that is trimmed and not empty.
    Text(String),
    /// A JSON value.
    Json(Value),
}

impl CompletionContent {
    /// Returns the text, or the value as JSON.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Json(value) => value.to_string(),
        }
    }

    /// Returns the value, or the text as a JSON string.
    #[must_use]
    pub fn into_json(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text),
            Self::Json(value) => value,
        }
    }
}

/// The ranking of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The texts, the best first. Each occurs at most once.
    pub texts: Vec<RankedText>,
    /// The number of tokens, if the model reports it.
    pub total_tokens: Option<u64>,
}

/// A text with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedText {
    /// The index of the text in the request.
    pub index: usize,
    /// The score, a finite number. Its range depends on the model.
    pub score: f64,
}
