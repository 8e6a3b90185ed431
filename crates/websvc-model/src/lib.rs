//! The seam of language models: a trait, an OpenAI-compatible endpoint behind it, and a fixed one for tests.
//!
//! A model is given instructions of ours, what a caller wants, and content that is data and nothing else; it has no tools
//! and gives back a text or a JSON value. What it says is never trusted: whoever asks validates it.
//!
//! - [`OpenAi`] speaks `chat/completions` and `rerank` over the guarded client, within the deadline of each question, a
//!   bound of questions at one time, and bounds of what goes out and comes in.
//! - [`LimitedModel`] takes a part of the places of another.
//! - [`FakeModel`] answers as it is told.
//!
//! Nothing of a question or an answer is logged, kept, or part of an error.

#![deny(missing_docs)]

mod error;
mod fixed;
mod limited;
mod model;
mod openai;
mod prompt;

pub use error::ModelError;
pub use fixed::FakeModel;
pub use limited::LimitedModel;
pub use model::{
    Completion, CompletionContent, CompletionRequest, Model, ModelFuture, RankedText, Ranking,
    ResponseFormat, Usage,
};
pub use openai::{OpenAi, OpenAiConfig, OpenAiError};
