//! A client of an OpenAI-compatible endpoint: `chat/completions`, `rerank` and `models` below a base URL.

mod endpoint;
mod form;
mod response;
mod strict;
mod time_budget;
mod too_long;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::HeaderValue;
use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;
use websvc_transport::Client;

use crate::error::ModelError;
use crate::limited::acquire;
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking, Usage};
use crate::prompt::{self, PromptMessages};
use endpoint::{CallFailure, Endpoint};
use form::{ParameterSupport, RequestForm};
use response::{is_cut_in_reasoning, parse_completion, parse_model_names, parse_ranking};
use time_budget::TimeBudget;

/// The length to which texts are truncated before reranking. Reranking models do not read more.
const MAX_RERANK_CHARS: usize = 8_000;

/// The tokens that a response may have in addition if the model reasons before it answers: servers count the reasoning.
const REASONING_TOKENS: u32 = 4_096;

/// The error of an invalid configuration.
#[derive(Debug, thiserror::Error)]
pub enum OpenAiError {
    /// The API key is not a valid header value.
    #[error("the key contains characters that are not allowed in a header")]
    Key,
    /// Paths cannot be appended to the URL. The error does not contain the URL, which may contain secrets.
    #[error("the URL must be http or https, without user, query and fragment")]
    BaseUrl,
}

/// The configuration of an endpoint.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// The client. It must be allowed to connect to the endpoint, which the operator has configured.
    pub client: Client,
    /// The base URL of `chat/completions`, which usually ends with `/v1`.
    pub base_url: Url,
    /// The API key, which is sent as a bearer token.
    pub api_key: Option<String>,
    /// The model for completions.
    pub model: Option<String>,
    /// The model for reranking.
    pub rerank_model: Option<String>,
    /// The `reasoning_effort` of requests, such as `low`. Its values depend on the endpoint.
    pub reasoning_effort: Option<String>,
    /// The time for one request, including the wait for a permit and retries. The deadline of the request may be earlier.
    pub timeout: Duration,
    /// The maximum number of concurrent requests. Further requests wait.
    pub concurrency: usize,
    /// The maximum length of a request, in characters.
    pub max_input_chars: usize,
    /// True if several formats of a page should share one request.
    pub combine: bool,
}

impl OpenAiConfig {
    /// Returns the defaults: 120 seconds, 4 concurrent requests, 48,000 characters, which are about 12,000 tokens.
    #[must_use]
    pub fn new(client: Client, base_url: Url) -> Self {
        Self {
            client,
            base_url,
            api_key: None,
            model: None,
            rerank_model: None,
            reasoning_effort: None,
            timeout: Duration::from_secs(120),
            concurrency: 4,
            max_input_chars: 48_000,
            combine: false,
        }
    }
}

impl fmt::Debug for OpenAiConfig {
    /// Omits the key, and the URL, which may contain one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiConfig").field("model", &self.model).finish_non_exhaustive()
    }
}

/// The models of an endpoint.
pub struct OpenAi {
    endpoint: Endpoint,
    model: Option<String>,
    rerank_model: Option<String>,
    reasoning_effort: Option<String>,
    /// The model has reasoned until the maximum length of a response before.
    reasons: AtomicBool,
    support: ParameterSupport,
    timeout: Duration,
    permits: Arc<Semaphore>,
    concurrency: usize,
    max_input_chars: usize,
    combine: bool,
}

impl OpenAi {
    /// Creates a client. Sends no request yet.
    ///
    /// # Errors
    /// [`OpenAiError`] if the configuration is invalid.
    pub fn new(config: OpenAiConfig) -> Result<Self, OpenAiError> {
        let OpenAiConfig {
            client,
            base_url,
            api_key,
            model,
            rerank_model,
            reasoning_effort,
            timeout,
            concurrency,
            max_input_chars,
            combine,
        } = config;
        let has_path_only = base_url.query().is_none()
            && base_url.fragment().is_none()
            && base_url.username().is_empty()
            && base_url.password().is_none();
        if !has_path_only || !matches!(base_url.scheme(), "http" | "https") {
            return Err(OpenAiError::BaseUrl);
        }
        let authorization = api_key.filter(|key| !key.is_empty()).map(|key| bearer(&key)).transpose()?;
        let concurrency = concurrency.max(1);
        let permits = Arc::new(Semaphore::new(concurrency));
        let endpoint = Endpoint { client, base_url, authorization };
        let reasons = AtomicBool::new(false);
        Ok(Self {
            endpoint,
            model,
            rerank_model,
            reasoning_effort,
            reasons,
            support: ParameterSupport::default(),
            timeout,
            permits,
            concurrency,
            max_input_chars,
            combine,
        })
    }

    /// Returns the names of the models that the endpoint lists.
    ///
    /// # Errors
    /// [`ModelError`]. It is [`ModelError::Status`] with 404 if the endpoint has no list of models.
    pub async fn models(&self, deadline: Instant) -> Result<Vec<String>, ModelError> {
        let response = self.endpoint.get("models", self.time_budget(deadline)).await?;
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
            match self.endpoint.post("chat/completions", &body, time).await {
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
        match self.endpoint.post("rerank", &body, time).await {
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

/// Returns the value of the `Authorization` header for an API key.
fn bearer(key: &str) -> Result<HeaderValue, OpenAiError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| OpenAiError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for OpenAi {
    /// Omits the key, and the URL, which may contain one.
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

    fn combines(&self) -> bool {
        self.combine
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
