//! Requests to a language model, and its responses.

use std::fmt;
use std::time::Instant;

use serde_json::Value;
use websvc_transport::BoxFuture;

use crate::error::ModelError;

/// Pending response of a model.
pub type ModelFuture<'a, T> = BoxFuture<'a, Result<T, ModelError>>;

/// A language model.
pub trait Model: fmt::Debug + Send + Sync {
    /// Tells whether it answers questions.
    fn completes(&self) -> bool;

    /// Tells whether it orders texts.
    fn reranks(&self) -> bool;

    /// Returns how many questions it is asked at one time; others wait.
    fn places(&self) -> usize;

    /// Answers a question.
    ///
    /// The future fails with [`ModelError`].
    fn complete<'a>(&'a self, question: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion>;

    /// Orders texts by how well they answer a query; at most `most` are given back.
    ///
    /// The future fails with [`ModelError`].
    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [&'a str],
        most: usize,
        deadline: Instant,
    ) -> ModelFuture<'a, Ranking>;
}

/// Request to a model. Instructions and user prompt are never truncated: a request whose content does not fit
/// fails.
#[derive(Debug, Clone, Copy)]
pub struct CompletionRequest<'a> {
    /// Instructions of the service; they contain no text from callers or pages.
    pub instructions: &'a str,
    /// Prompt of the caller.
    pub wish: &'a str,
    /// Data for the prompt; truncated at its end to the rest of the model's budget.
    pub content: Option<&'a str>,
    /// The form of the answer.
    pub shape: ResponseFormat<'a>,
    /// The longest answer, in tokens of the model.
    pub max_tokens: u32,
    /// When nobody waits for it any more.
    pub deadline: Instant,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResponseFormat<'a> {
    /// Any text.
    Text,
    /// A JSON object.
    Json,
    /// A JSON value that keeps to a JSON Schema, which the model may still get wrong.
    Schema(&'a Value),
}

/// Response of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// In the form that was asked for.
    pub answer: CompletionContent,
    /// Token usage of the response.
    pub usage: Usage,
    /// The end of the content was left out.
    pub is_content_cut: bool,
}

/// An answer: a text for [`ResponseFormat::Text`], else a value.
#[derive(Debug, Clone, PartialEq)]
pub enum CompletionContent {
    /// A text, without space around it, not empty.
    Text(String),
    /// A JSON value.
    Json(Value),
}

impl CompletionContent {
    /// Returns the text; a value as JSON.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Json(value) => value.to_string(),
        }
    }

    /// Returns the value; a text as a JSON string.
    #[must_use]
    pub fn into_json(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text),
            Self::Json(value) => value,
        }
    }
}

/// The tokens of a question, as the model counts them; 0 where it does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the question.
    pub input_tokens: u64,
    /// Of the answer.
    pub output_tokens: u64,
}

/// The order of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The texts, the best first, each at most once.
    pub texts: Vec<RankedText>,
    /// Number of tokens, if the model reports it.
    pub total_tokens: Option<u64>,
}

/// A text with what it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedText {
    /// Index of the text in the request, from 0.
    pub index: usize,
    /// A finite number; which range it has is the model's own.
    pub score: f64,
}
