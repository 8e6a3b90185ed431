//! Requests to the model, and the tokens and time that they take.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use websvc_model::{Completion, CompletionRequest, Model, ModelError, ResponseFormat, Usage};

use crate::report::RunOutcome;

/// The maximum length of a request, in characters. Small models lose facts in longer ones, whatever they accept.
const MAX_INPUT_CHARS: usize = 20_000;

/// Space for the texts that the model client adds, in characters: the rule about the content, and its delimiters.
const RESERVED_CHARS: usize = 1_200;

/// The minimum space for the content, in characters. A request with less fails in the model client, with a reason.
const MIN_CONTENT_CHARS: usize = 300;

/// A request to the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    /// The instructions of the service.
    pub(crate) instructions: &'a str,
    /// The prompt of the user, and texts of the service.
    pub(crate) prompt: &'a str,
    /// Texts of pages and models.
    pub(crate) content: &'a str,
    pub(crate) format: ResponseFormat<'a>,
    pub(crate) max_tokens: u32,
}

/// Returns the space for the content of a request, in characters.
pub(crate) fn content_chars(
    model: &dyn Model,
    instructions: &str,
    prompt: &str,
    format: ResponseFormat<'_>,
) -> usize {
    let schema_chars = match format {
        ResponseFormat::Schema(schema) | ResponseFormat::SchemaOrText(schema) => {
            schema.to_string().chars().count()
        }
        ResponseFormat::Text | ResponseFormat::Json => 0,
    };
    let used = instructions.chars().count() + prompt.chars().count() + schema_chars + RESERVED_CHARS;
    model.max_input_chars().min(MAX_INPUT_CHARS.max(used * 2)).saturating_sub(used).max(MIN_CONTENT_CHARS)
}

/// The answer of a model: a value, or the reason why it is none.
pub(crate) type ModelAnswer = Result<Value, &'static str>;

/// Asks a model for a value. The tokens are estimated where the model does not report them.
///
/// # Errors
/// The failure of the model.
pub(crate) async fn complete(
    model: &dyn Model,
    request: &CompletionRequest<'_>,
) -> Result<(ModelAnswer, Usage), ModelError> {
    let request_bytes = request_bytes(request);
    match model.complete(request).await {
        Ok(Completion { content, usage, is_content_truncated: _ }) => {
            let value = without_list(content.into_json(), request.format);
            let usage = usage.or_estimate(request_bytes, value.to_string().len());
            Ok((Ok(value), usage))
        }
        Err(ModelError::InvalidResponse { reason, usage }) => {
            Ok((Err(reason), usage.or_estimate(request_bytes, 0)))
        }
        Err(error) => Err(error),
    }
}

/// Returns the only item of a list if the schema is that of an object: some models answer with a list of it.
fn without_list(answer: Value, format: ResponseFormat<'_>) -> Value {
    let ResponseFormat::Schema(schema) = format else { return answer };
    match answer {
        Value::Array(mut items) if items.len() == 1 && items[0].is_object() && schema["type"] == "object" => {
            items.remove(0)
        }
        answer => answer,
    }
}

fn request_bytes(request: &CompletionRequest<'_>) -> usize {
    request.instructions.len() + request.user_prompt.len() + request.content.map_or(0, str::len)
}

/// The model of a run.
pub(crate) struct Requests<'a> {
    pub(crate) model: &'a dyn Model,
    deadline: Instant,
    max_tokens: u64,
    pub(crate) usage: Usage,
    /// The cost of the most expensive request so far, to foresee the last one.
    max_request_tokens: u64,
    longest: Duration,
}

impl<'a> Requests<'a> {
    pub(crate) fn new(model: &'a dyn Model, deadline: Instant, max_tokens: u64) -> Self {
        let usage = Usage::default();
        Self { model, deadline, max_tokens, usage, max_request_tokens: 0, longest: Duration::ZERO }
    }

    /// Returns whether tokens or time will not suffice for more than this number of requests.
    pub(crate) fn is_scarce(&self, requests: u32) -> bool {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        let tokens = self.max_tokens.saturating_sub(self.usage.total());
        remaining < self.longest * requests || tokens < self.max_request_tokens * u64::from(requests)
    }

    /// Asks the model for a value.
    ///
    /// # Errors
    /// The end of the run: the tokens are used up, the time is over, or the model failed.
    pub(crate) async fn ask(&mut self, request: Request<'_>) -> Result<ModelAnswer, RunOutcome> {
        if self.usage.total() >= self.max_tokens {
            return Err(RunOutcome::TokenLimit);
        }
        let Request { instructions, prompt, content, format, max_tokens } = request;
        let started = Instant::now();
        let completion = CompletionRequest {
            instructions,
            user_prompt: prompt,
            content: Some(content),
            format,
            max_tokens,
            deadline: self.deadline.into_std(),
        };
        let result = complete(self.model, &completion).await;
        self.longest = self.longest.max(started.elapsed());
        match result {
            Ok((value, usage)) => {
                self.count(usage);
                Ok(value)
            }
            Err(ModelError::TooLarge { subject: "the response" }) => {
                let usage = Usage { output_tokens: max_tokens.into(), ..Usage::default() };
                self.count(usage.or_estimate(request_bytes(&completion), 0));
                Ok(Err("it is too large"))
            }
            Err(ModelError::Timeout { .. }) if Instant::now() >= self.deadline => Err(RunOutcome::Timeout),
            Err(error) => Err(RunOutcome::Model(error)),
        }
    }

    fn count(&mut self, usage: Usage) {
        self.usage.add(usage);
        self.max_request_tokens = self.max_request_tokens.max(usage.total());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn list_of_one_object_is_the_object_that_the_schema_asks_for() {
        let (object, list) = (json!({ "type": "object" }), json!({ "type": "array" }));
        for (answer, schema, expected) in [
            (json!([{ "a": 1 }]), &object, json!({ "a": 1 })),
            (json!([{ "a": 1 }]), &list, json!([{ "a": 1 }])),
            (json!([{ "a": 1 }, { "a": 2 }]), &object, json!([{ "a": 1 }, { "a": 2 }])),
            (json!([1]), &object, json!([1])),
        ] {
            assert_eq!(without_list(answer, ResponseFormat::Schema(schema)), expected);
        }
        assert_eq!(without_list(json!([{}]), ResponseFormat::Json), json!([{}]));
    }
}
