//! External language models: the trait [`Model`], a client of OpenAI-compatible endpoints, and a fake for tests.
//!
//! A request consists of instructions of the service, the prompt of the caller, and content that is only data. The model has
//! no tools, and returns a text or a JSON value. Its responses are not trusted: callers validate them.
//!
//! - [`OpenAi`] uses `chat/completions` and `rerank` over the guarded client, with a deadline, a concurrency limit, and limits
//!   on the sizes of requests and responses.
//! - [`LimitedModel`] limits the concurrency of another model.
//! - [`FakeModel`] computes its responses with a function.
//!
//! No part of a request or response is logged, stored, or contained in the message of an error. Only
//! [`ModelError::explanation`] has the reason in the words of the model if it refuses.

#![deny(missing_docs)]

mod error;
mod fake;
mod limited;
mod model;
mod openai;
mod prompt;
mod text;
mod tokens;

pub use error::{ModelError, RejectionCause};
pub use fake::FakeModel;
pub use limited::LimitedModel;
pub use model::{
    Completion, CompletionContent, CompletionRequest, Model, ModelFuture, RankedText, Ranking,
    ResponseFormat, Usage,
};
pub use openai::{OpenAi, OpenAiConfig, OpenAiError};
pub use text::{cut, one_line};
