//! A client of an OpenAI-compatible endpoint: `chat/completions`, `rerank` and `models` below a base URL.

mod complete;
mod context;
mod endpoint;
mod finish;
mod form;
mod response;
mod retry;
mod server_error;
mod time_budget;
mod too_long;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use http::HeaderValue;
use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;
use websvc_transport::Client;

use crate::error::ModelError;
use crate::limited::acquire;
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking};
use crate::prompt;
use complete::CompletionCall;
use context::ContextWindow;
use endpoint::{CallFailure, Endpoint};
use form::ParameterSupport;
use response::{parse_model_names, parse_ranking};
use time_budget::TimeBudget;

/// The length to which texts are truncated before reranking. Reranking models do not read more.
const MAX_RERANK_CHARS: usize = 8_000;

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
    /// The time for one request with its retries, from the time at which it may be sent. The deadline of the request may be
    /// earlier.
    pub timeout: Duration,
    /// The maximum number of concurrent requests. Further requests wait.
    pub concurrency: usize,
    /// The maximum length of a request, in characters.
    pub max_input_chars: usize,
    /// The context of the server for a request and its response, in tokens; `None` if it is not known.
    pub context_tokens: Option<u32>,
    /// An upper bound for the length of any response, in tokens.
    pub max_output_tokens: Option<u32>,
}

impl OpenAiConfig {
    /// Returns the defaults: 120 seconds, 4 concurrent requests, 48,000 characters, which are about 12,000 tokens, and no
    /// limit of tokens.
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
            context_tokens: None,
            max_output_tokens: None,
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
    context: ContextWindow,
    /// The log says that the server left out a part of a prompt.
    has_logged_cut: AtomicBool,
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
            context_tokens,
            max_output_tokens,
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
            context: ContextWindow::new(context_tokens, max_output_tokens),
            has_logged_cut: AtomicBool::new(false),
            timeout,
            permits,
            concurrency,
            max_input_chars,
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

    /// Returns the time of a request that may be sent now.
    fn time_budget(&self, deadline: Instant) -> TimeBudget {
        let started = Instant::now();
        TimeBudget { started, deadline: deadline.min(started + self.timeout) }
    }

    /// Waits for a permit to send a request.
    async fn acquire(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, ModelError> {
        acquire(&self.permits, self.concurrency, deadline).await
    }

    async fn run_completion(&self, request: &CompletionRequest<'_>) -> Result<Completion, ModelError> {
        let model = self.model.as_deref().ok_or(ModelError::NotConfigured)?;
        // Without a permit: a prompt that never fits need not wait for one.
        CompletionCall::new(self, model, request).check()?;
        let _permit = self.acquire(request.deadline).await?;
        CompletionCall::new(self, model, request).send(self.time_budget(request.deadline)).await
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
        let _permit = self.acquire(deadline).await?;
        let response = self.endpoint.post("rerank", &body, self.time_budget(deadline)).await;
        parse_ranking(&response.map_err(CallFailure::into_error)?, texts.len(), max_results)
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
        let max_chars = self.context.max_input_chars(Instant::now());
        max_chars.unwrap_or(usize::MAX).min(self.max_input_chars)
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
