//! A client of an OpenAI-compatible endpoint: `chat/completions`, `rerank` and `models` below a base URL.

mod config;
mod endpoint;
mod failure_log;
mod form;
mod parameters;
mod response;
mod time_budget;
mod too_long;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::ModelError;
use crate::feature::Feature;
use crate::limited::acquire;
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking, Usage};
use crate::prompt::{self, PromptMessages};
use endpoint::{CallFailure, Endpoint};
use form::{ParameterSupport, RequestForm};
use parameters::Parameters;
use response::{is_cut_in_reasoning, parse_completion, parse_model_names, parse_ranking};
use time_budget::TimeBudget;

pub use config::{OpenAiConfig, OpenAiError};
pub(crate) use endpoint::EndpointRole;
pub use form::AcceptedForm;

/// The length to which texts are truncated before reranking. Reranking models do not read more.
const MAX_RERANK_CHARS: usize = 8_000;

/// The tokens that a response may have in addition if the model reasons before it answers: servers count the reasoning.
const REASONING_TOKENS: u32 = 4_096;

/// The models of an endpoint.
pub struct OpenAi {
    endpoint: Arc<Endpoint>,
    model: Option<String>,
    rerank_model: Option<String>,
    reasoning_effort: Option<String>,
    parameters: Parameters,
    /// The model has reasoned until the maximum length of a response before.
    reasons: AtomicBool,
    support: ParameterSupport,
    timeout: Duration,
    permits: Arc<Semaphore>,
    concurrency: usize,
    max_input_chars: usize,
}

impl OpenAi {
    /// Creates a client. Sends no request yet.
    ///
    /// # Errors
    /// [`OpenAiError`] if the configuration is invalid.
    pub fn new(config: OpenAiConfig) -> Result<Self, OpenAiError> {
        Self::with_role(config, EndpointRole::default())
    }

    /// Creates a client of an endpoint with this role among others.
    pub(crate) fn with_role(config: OpenAiConfig, role: EndpointRole) -> Result<Self, OpenAiError> {
        let headers = config.request_headers()?;
        let OpenAiConfig {
            client,
            base_url,
            api_key: _,
            headers: _,
            model,
            rerank_model,
            reasoning_effort,
            temperature,
            seed,
            extra_body,
            timeout,
            concurrency,
            max_input_chars,
        } = config;
        let concurrency = concurrency.max(1);
        Ok(Self {
            parameters: Parameters::new(temperature, seed, extra_body)?,
            endpoint: Arc::new(Endpoint { client, base_url, headers, role }),
            model,
            rerank_model,
            reasoning_effort,
            reasons: AtomicBool::new(false),
            support: ParameterSupport::default(),
            timeout,
            permits: Arc::new(Semaphore::new(concurrency)),
            concurrency,
            max_input_chars,
        })
    }

    /// Returns a client of another model of the same endpoint, which shares the connections and the concurrency limit. What
    /// the server supports is learned for each model.
    pub(crate) fn for_model(&self, model: &str) -> Self {
        Self {
            endpoint: Arc::clone(&self.endpoint),
            model: Some(model.to_owned()),
            rerank_model: None,
            reasoning_effort: self.reasoning_effort.clone(),
            parameters: self.parameters.clone(),
            reasons: AtomicBool::new(false),
            support: ParameterSupport::default(),
            timeout: self.timeout,
            permits: Arc::clone(&self.permits),
            concurrency: self.concurrency,
            max_input_chars: self.max_input_chars,
        }
    }

    /// Returns the name of the model for completions.
    #[must_use]
    pub fn model_name(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the name of the model for reranking.
    #[must_use]
    pub fn rerank_model_name(&self) -> Option<&str> {
        self.rerank_model.as_deref()
    }

    /// Returns the form of the last completion that the server has accepted, if any.
    #[must_use]
    pub fn accepted_form(&self) -> Option<AcceptedForm> {
        self.support.accepted_form(self.reasoning_effort.is_some())
    }

    /// Returns the names of the models that the endpoint lists.
    ///
    /// # Errors
    /// [`ModelError`]. It is [`ModelError::Status`] with 404 if the endpoint has no list of models.
    pub async fn models(&self, deadline: Instant) -> Result<Vec<String>, ModelError> {
        let response = self.endpoint.get("models", None, self.time_budget(deadline)).await?;
        parse_model_names(&response)
    }

    fn time_budget(&self, deadline: Instant) -> TimeBudget {
        let started = Instant::now();
        TimeBudget { started, deadline: deadline.min(started + self.timeout) }
    }

    /// Waits for a permit to send a request.
    async fn acquire(&self, time: TimeBudget) -> Result<SemaphorePermit<'_>, ModelError> {
        acquire(&self.permits, time.started, time.deadline).await
    }

    async fn run_completion(&self, request: &CompletionRequest<'_>) -> Result<Completion, ModelError> {
        let model = self.model.as_deref().ok_or(ModelError::NotConfigured)?;
        let messages = prompt::build_messages(request, self.max_input_chars)?;
        let time = self.time_budget(request.deadline);
        let _permit = self.acquire(time).await?;
        let has_effort = self.reasoning_effort.is_some();
        let mut form = RequestForm::initial(request.format, has_effort, &self.support);
        let mut rejected: Vec<(RequestForm, String)> = Vec::new();
        let mut usage_before = Usage::default();
        loop {
            let needs_space = self.reasons.load(Ordering::Relaxed);
            let added_tokens = if needs_space { REASONING_TOKENS } else { 0 };
            let max_tokens = request.max_tokens.saturating_add(added_tokens);
            let request = CompletionRequest { max_tokens, ..*request };
            let body = self.completion_body(model, &messages, &request, form);
            match self.endpoint.post("chat/completions", &body, request.feature, time).await {
                Ok(response) => {
                    self.support.record(&rejected, form);
                    let completion =
                        parse_completion(&response, request.format, messages.is_content_truncated);
                    match completion {
                        Err(ModelError::InvalidResponse { usage, .. })
                            if !needs_space && is_cut_in_reasoning(&response) =>
                        {
                            usage_before.add(usage);
                            self.reasons.store(true, Ordering::Relaxed);
                        }
                        completion => return with_usage(completion, usage_before),
                    }
                }
                Err(CallFailure::UnsupportedForm { status, message }) => {
                    let next = form.next(&message).ok_or(ModelError::Status { status })?;
                    rejected.push((form, message));
                    form = next;
                }
                Err(CallFailure::Failed(error)) => return Err(error),
            }
        }
    }

    fn completion_body(
        &self,
        model: &str,
        messages: &PromptMessages,
        request: &CompletionRequest<'_>,
        form: RequestForm,
    ) -> serde_json::Value {
        let mut body = json!({
            "model": model,
            "messages": [
                { "role": "system", "content": messages.system },
                { "role": "user", "content": messages.user },
            ],
            "stream": false,
        });
        form.apply(&mut body, request, self.reasoning_effort.as_deref());
        self.parameters.apply(&mut body);
        body
    }

    async fn run_rerank(
        &self,
        query: &str,
        texts: &[&str],
        max_results: usize,
        deadline: Instant,
    ) -> Result<Ranking, ModelError> {
        let model = self.rerank_model.as_deref().ok_or(ModelError::NotConfigured)?;
        let documents: Vec<&str> =
            texts.iter().map(|text| prompt::truncate(text, MAX_RERANK_CHARS).0).collect();
        let (query, _) = prompt::truncate(query, MAX_RERANK_CHARS);
        let body = json!({
            "model": model, "query": query, "documents": documents, "top_n": max_results, "return_documents": false,
        });
        let time = self.time_budget(deadline);
        let _permit = self.acquire(time).await?;
        match self.endpoint.post("rerank", &body, Feature::Rerank, time).await {
            Ok(response) => parse_ranking(&response, texts.len(), max_results),
            Err(CallFailure::UnsupportedForm { status, message: _ }) => Err(ModelError::Status { status }),
            Err(CallFailure::Failed(error)) => Err(error),
        }
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
        Err(error) => Err(error),
    }
}

impl fmt::Debug for OpenAi {
    /// Omits the headers, the additional parameters, and the URL, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Model for OpenAi {
    fn can_complete(&self) -> bool {
        self.model.is_some()
    }

    fn can_rerank(&self) -> bool {
        self.rerank_model.is_some()
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    fn max_input_chars(&self) -> usize {
        self.max_input_chars
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        Box::pin(self.run_completion(request))
    }

    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [&'a str],
        max_results: usize,
        deadline: Instant,
    ) -> ModelFuture<'a, Ranking> {
        Box::pin(self.run_rerank(query, texts, max_results, deadline))
    }
}
