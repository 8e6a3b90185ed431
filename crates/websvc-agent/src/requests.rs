//! Requests to the model, and the tokens and time that they take.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use websvc_model::{Completion, CompletionRequest, Feature, Model, ModelError, ResponseFormat, Usage};

use crate::normalize::unwrap;
use crate::report::RunOutcome;

/// The maximum length of a request, in characters. Small models lose facts in longer ones, whatever they accept.
const MAX_INPUT_CHARS: usize = 20_000;

/// The number of requests for which time remains after the work: the answer, and its correction.
const ANSWER_REQUESTS: u32 = 2;

/// The part of the whole time that remains for the answer at least: one tenth.
const ANSWER_TIME_DIVISOR: u32 = 10;

/// Space for the texts that the model client adds, in characters: the rule about the content, and its delimiters.
const RESERVED_CHARS: usize = 800;

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
        Ok(Completion { content, usage, is_content_truncated: _, is_cut_by_server: _ }) => {
            let value = match request.format {
                ResponseFormat::Schema(schema) => unwrap(content.into_json(), schema),
                ResponseFormat::SchemaOrText(_) | ResponseFormat::Text | ResponseFormat::Json => {
                    content.into_json()
                }
            };
            let usage = usage.or_estimate(request_bytes, value.to_string().len());
            Ok((Ok(value), usage))
        }
        Err(ModelError::InvalidResponse { reason, usage }) => {
            Ok((Err(reason), usage.or_estimate(request_bytes, 0)))
        }
        Err(ModelError::Refused { text: _, usage }) => {
            Ok((Err("the model refused to answer"), usage.or_estimate(request_bytes, 0)))
        }
        Err(error) => Err(error),
    }
}

fn request_bytes(request: &CompletionRequest<'_>) -> usize {
    request.instructions.len() + request.user_prompt.len() + request.content.map_or(0, str::len)
}

/// The model of a run.
pub(crate) struct Requests<'a> {
    pub(crate) model: &'a dyn Model,
    deadline: Instant,
    /// The time of the whole run.
    time: Duration,
    max_tokens: u64,
    pub(crate) usage: Usage,
    /// The cost of the most expensive request so far, to foresee the last one.
    max_request_tokens: u64,
    longest: Duration,
}

impl<'a> Requests<'a> {
    pub(crate) fn new(model: &'a dyn Model, deadline: Instant, max_tokens: u64) -> Self {
        let usage = Usage::default();
        let time = deadline.saturating_duration_since(Instant::now());
        Self { model, deadline, time, max_tokens, usage, max_request_tokens: 0, longest: Duration::ZERO }
    }

    /// Returns what will not suffice for this number of requests, as the end of the run: its time or its tokens.
    pub(crate) fn scarcity(&self, requests: u32) -> Option<RunOutcome> {
        if self.remaining() < self.longest * requests {
            return Some(RunOutcome::Timeout);
        }
        let tokens = self.max_tokens.saturating_sub(self.usage.total());
        (tokens < self.max_request_tokens * u64::from(requests)).then_some(RunOutcome::TokenLimit)
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the end of work that begins now, so that time for the answer remains. At least half of what remains of the run
    /// is for the work.
    pub(crate) fn work_deadline(&self) -> Instant {
        let reserve = (self.longest * ANSWER_REQUESTS).max(self.time / ANSWER_TIME_DIVISOR);
        self.deadline - reserve.min(self.remaining() / 2)
    }

    /// Asks the model for a value until the end of the run.
    ///
    /// # Errors
    /// The end of the run: the tokens are used up, the time is over, or the model failed.
    pub(crate) async fn ask(&mut self, request: Request<'_>) -> Result<ModelAnswer, RunOutcome> {
        self.ask_until(request, self.deadline).await
    }

    /// Asks the model for a value until a deadline.
    ///
    /// # Errors
    /// The end of the run: the tokens are used up, the time is over, or the model failed.
    pub(crate) async fn ask_until(
        &mut self,
        request: Request<'_>,
        deadline: Instant,
    ) -> Result<ModelAnswer, RunOutcome> {
        if self.usage.total() >= self.max_tokens {
            return Err(RunOutcome::TokenLimit);
        }
        let Request { instructions, prompt, content, format, max_tokens } = request;
        let started = Instant::now();
        let completion = CompletionRequest {
            feature: Feature::Agent,
            instructions,
            user_prompt: prompt,
            content: Some(content),
            format,
            max_tokens,
            deadline: deadline.into_std(),
        };
        let result = timeout_at(deadline, complete(self.model, &completion)).await;
        self.longest = self.longest.max(started.elapsed());
        let Ok(result) = result else { return Err(RunOutcome::Timeout) };
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
            Err(error) if error.is_late() && Instant::now() >= deadline => Err(RunOutcome::Timeout),
            Err(error) => Err(RunOutcome::Model(error)),
        }
    }

    fn count(&mut self, usage: Usage) {
        self.usage.add(usage);
        self.max_request_tokens = self.max_request_tokens.max(usage.total());
    }
}
