//! External language models: the trait [`Model`], clients of OpenAI-compatible endpoints, and a fake for tests.
//!
//! A request consists of instructions of the service, the prompt of the caller, and content that is only data. The model has
//! no tools, and returns a text or a JSON value. Its responses are not trusted: callers validate them.
//!
//! - [`OpenAi`] uses `chat/completions` and `rerank` of an endpoint over the guarded client, with a deadline, a concurrency
//!   limit, and limits on the sizes of requests and responses.
//! - [`Embeddings`] uses `embeddings` of an endpoint in the same way: texts become vectors.
//! - [`FailoverModel`] uses a model for each [`Feature`], the next endpoint if one fails, and counts requests.
//! - [`LimitedModel`] limits the concurrency of another model.
//! - [`FakeModel`] computes its responses with a function.
//!
//! No part of a request or response is logged, stored, or contained in the message of an error, except for the names that an
//! endpoint gives as the cause of an error. Only [`ModelError::explanation`] has the reason in the words of the model if it
//! refuses.

#![deny(missing_docs)]

mod error;
mod failover;
mod fake;
mod feature;
mod limited;
mod metrics;
mod model;
mod openai;
mod prompt;
mod text;
mod tokens;
mod usage;

pub use error::{ModelError, RejectionCause};
pub use failover::{EndpointConfig, FailoverError, FailoverModel};
pub use fake::FakeModel;
pub use feature::Feature;
pub use limited::LimitedModel;
pub use metrics::{EndpointMetrics, FeatureMetrics, ModelMetrics};
pub use model::{
    Completion, CompletionContent, CompletionRequest, MAX_DATA_TOKENS, Model, ModelFuture, RankedText,
    Ranking, ResponseFormat,
};
pub use openai::{AcceptedForm, Embeddings, OpenAi, OpenAiConfig, OpenAiError};
pub use text::{cut, one_line};
pub use usage::Usage;
