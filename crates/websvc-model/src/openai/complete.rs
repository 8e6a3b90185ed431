//! One completion: its prompt in the context of the server, and the changes after which the server accepts it.

use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::{Value, json};

use super::OpenAi;
use super::context::{PromptReading, ResponseTokens};
use super::endpoint::CallFailure;
use super::form::RequestForm;
use super::reasoning::is_cut_in_reasoning;
use super::response::{parse_completion, usage_of};
use super::time_budget::TimeBudget;
use super::too_long::Excess;
use crate::error::ModelError;
use crate::model::{Completion, CompletionRequest};
use crate::prompt::{PromptLimits, PromptMessages, build_messages};
use crate::usage::Usage;

/// The tokens that a response may have in addition if the model reasons before it answers: servers count the reasoning.
const REASONING_TOKENS: u32 = 4_096;

/// A prompt that fits into the context, as far as that is known.
struct Prompt {
    messages: PromptMessages,
    /// The maximum length of the response.
    max_tokens: u32,
    /// The length has space for reasoning.
    has_reasoning_tokens: bool,
}

/// A completion, with what the server has said about it so far.
pub(super) struct CompletionCall<'a> {
    openai: &'a OpenAi,
    /// The name of the model.
    model: &'a str,
    request: &'a CompletionRequest<'a>,
    form: RequestForm,
    rejected: Vec<(RequestForm, String)>,
    /// The tokens of earlier attempts.
    usage_before: Usage,
    /// The tokens of the prompt as a multiple of the estimate, if the server has refused it as too long.
    factor: Option<f64>,
    max_content_chars: usize,
}

impl<'a> CompletionCall<'a> {
    pub(super) fn new(openai: &'a OpenAi, model: &'a str, request: &'a CompletionRequest<'a>) -> Self {
        let form = RequestForm::initial(request.format, openai.reasoning_effort.is_some(), &openai.support);
        Self {
            openai,
            model,
            request,
            form,
            rejected: Vec::new(),
            usage_before: Usage::default(),
            factor: None,
            max_content_chars: usize::MAX,
        }
    }

    /// Checks that the prompt fits, which needs no server.
    ///
    /// # Errors
    /// [`ModelError::TooLarge`]
    pub(super) fn check(&self) -> Result<(), ModelError> {
        self.prompt().map(|_| ())
    }

    /// Sends the request until the server answers.
    ///
    /// # Errors
    /// [`ModelError`]
    pub(super) async fn send(mut self, time: TimeBudget) -> Result<Completion, ModelError> {
        loop {
            let prompt = self.prompt()?;
            let body = self.body(&prompt);
            match self.openai.endpoint.post("chat/completions", &body, Some(self.request.feature), time).await
            {
                Ok(response) => {
                    if let Some(completion) = self.read(&response, &prompt) {
                        return completion;
                    }
                }
                Err(CallFailure::Rejected { error, message }) => {
                    let next = self.form.next(&message).ok_or(error)?;
                    self.rejected.push((self.form, message));
                    self.form = next;
                }
                Err(CallFailure::TooLong(excess)) => self.shorten(&prompt, excess)?,
                Err(CallFailure::Failed(error)) => return Err(error),
            }
        }
    }

    /// Returns the prompt with as much of the content as fits.
    fn prompt(&self) -> Result<Prompt, ModelError> {
        let OpenAi { context, reasons, max_input_chars, .. } = self.openai;
        let has_reasoning_tokens = reasons.load(Ordering::Relaxed);
        let added_tokens = if has_reasoning_tokens { REASONING_TOKENS } else { 0 };
        let wanted = ResponseTokens {
            tokens: self.request.max_tokens.saturating_add(added_tokens),
            is_reasoning: has_reasoning_tokens,
        };
        let max_content_chars = self.max_content_chars;
        let limits = PromptLimits { max_content_chars, ..PromptLimits::of_chars(*max_input_chars) };
        let mut messages = build_messages(self.request, limits)?;
        let factor = self.factor.unwrap_or_else(|| context.factor());
        let plan = context.plan(messages.tokens, factor, wanted, Instant::now());
        if plan.max_prompt_tokens.is_some() {
            messages =
                build_messages(self.request, PromptLimits { max_tokens: plan.max_prompt_tokens, ..limits })?;
        }
        Ok(Prompt { messages, max_tokens: plan.max_tokens, has_reasoning_tokens })
    }

    fn body(&self, prompt: &Prompt) -> Value {
        let PromptMessages { system, user, .. } = &prompt.messages;
        let mut body = json!({
            "model": self.model,
            "messages": [{ "role": "system", "content": system }, { "role": "user", "content": user }],
            "stream": false,
        });
        let request = CompletionRequest { max_tokens: prompt.max_tokens, ..*self.request };
        self.form.apply(&mut body, &request, self.openai.reasoning_effort.as_deref());
        self.openai.parameters.apply(&mut body);
        body
    }

    /// Shortens a prompt that the server has refused as too long, once.
    fn shorten(&mut self, refused: &Prompt, excess: Excess) -> Result<(), ModelError> {
        let too_large = ModelError::TooLarge { subject: "the request" };
        if self.factor.is_some() {
            return Err(too_large);
        }
        let context = &self.openai.context;
        self.factor = Some(context.learn_refusal(refused.messages.tokens, excess, Instant::now()));
        let next = self.prompt()?;
        let is_shorter = next.messages.content_chars < refused.messages.content_chars
            || next.max_tokens < refused.max_tokens;
        if is_shorter {
            return Ok(());
        }
        // The server has not said by how much.
        let half = refused.messages.content_chars / 2;
        if half == 0 {
            return Err(too_large);
        }
        self.max_content_chars = half;
        Ok(())
    }

    /// Reads a response; `None` if the model needs more tokens.
    fn read(&mut self, response: &Value, prompt: &Prompt) -> Option<Result<Completion, ModelError>> {
        let OpenAi { support, reasons, .. } = self.openai;
        support.record(&self.rejected, self.form);
        let is_cut_by_server = self.is_cut_by_server(response, prompt);
        let is_truncated = prompt.messages.is_content_truncated || is_cut_by_server;
        match parse_completion(response, self.request.format, is_truncated) {
            Err(ModelError::InvalidResponse { usage, .. })
                if !prompt.has_reasoning_tokens && is_cut_in_reasoning(response) =>
            {
                self.usage_before.add(usage);
                reasons.store(true, Ordering::Relaxed);
                None
            }
            completion => Some(
                with_usage(completion, self.usage_before)
                    .map(|completion| Completion { is_cut_by_server, ..completion }),
            ),
        }
    }

    /// Returns whether the server has read only a part of the prompt, by the tokens that it counts. The log says it once.
    fn is_cut_by_server(&self, response: &Value, prompt: &Prompt) -> bool {
        let tokens = prompt.messages.tokens;
        let counted = usage_of(response).input_tokens;
        let cached = response["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or_default();
        let OpenAi { context, has_logged_cut, .. } = self.openai;
        let is_cut = context.learn_usage(tokens, counted, cached) == PromptReading::Cut;
        if is_cut && !has_logged_cut.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                counted,
                estimated = tokens.likely as u64,
                "the server of the language model probably left out a part of a prompt: set llm.context_tokens to its \
                 context, or give it a longer one (OLLAMA_CONTEXT_LENGTH of Ollama)"
            );
        }
        is_cut
    }
}

/// Adds the tokens of earlier attempts to the usage of a completion.
fn with_usage(completion: Result<Completion, ModelError>, earlier: Usage) -> Result<Completion, ModelError> {
    match completion {
        Ok(mut completion) => {
            completion.usage.add(earlier);
            Ok(completion)
        }
        Err(ModelError::InvalidResponse { reason, mut usage }) => {
            usage.add(earlier);
            Err(ModelError::InvalidResponse { reason, usage })
        }
        Err(ModelError::Refused { text, mut usage }) => {
            usage.add(earlier);
            Err(ModelError::Refused { text, usage })
        }
        Err(error) => Err(error),
    }
}
