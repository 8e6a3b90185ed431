//! A client of an OpenAI-compatible endpoint: `chat/completions`, `rerank`, `embeddings` and `models` below a base URL.

mod complete;
mod config;
mod context;
mod embeddings;
mod endpoint;
mod failure_log;
mod finish;
mod form;
mod parameters;
mod reasoning;
mod response;
mod retry;
mod server_error;
mod strict;
mod time_budget;
mod too_long;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::ModelError;
use crate::feature::Feature;
use crate::limited::acquire;
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking};
use crate::prompt;
use complete::CompletionCall;
use context::ContextWindow;
use endpoint::{CallFailure, Endpoint, MAX_BODY_BYTES};
use form::ParameterSupport;
use parameters::Parameters;
use response::{parse_model_names, parse_ranking};
use time_budget::TimeBudget;

pub use config::{OpenAiConfig, OpenAiError};
pub use embeddings::Embeddings;
pub(crate) use endpoint::EndpointRole;
pub use form::AcceptedForm;

/// The length to which texts are truncated before reranking. Reranking models do not read more.
const MAX_RERANK_CHARS: usize = 8_000;

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
    context: ContextWindow,
    /// The log says that the server left out a part of a prompt.
    has_logged_cut: AtomicBool,
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
            context_tokens,
            max_output_tokens,
            combine,
        } = config;
        let concurrency = concurrency.max(1);
        Ok(Self {
            parameters: Parameters::new(temperature, seed, extra_body)?,
            endpoint: Arc::new(Endpoint { client, base_url, headers, role, max_body_bytes: MAX_BODY_BYTES }),
            model,
            rerank_model,
            reasoning_effort,
            reasons: AtomicBool::new(false),
            support: ParameterSupport::default(),
            context: ContextWindow::new(context_tokens, max_output_tokens),
            has_logged_cut: AtomicBool::new(false),
            timeout,
            permits: Arc::new(Semaphore::new(concurrency)),
            concurrency,
            max_input_chars,
            combine,
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
            context: self.context.unlearned(),
            has_logged_cut: AtomicBool::new(false),
            timeout: self.timeout,
            permits: Arc::clone(&self.permits),
            concurrency: self.concurrency,
            max_input_chars: self.max_input_chars,
            combine: self.combine,
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
        let time = self.time_budget(deadline);
        let response = self.endpoint.post("rerank", &body, Some(Feature::Rerank), time).await;
        parse_ranking(&response.map_err(CallFailure::into_error)?, texts.len(), max_results)
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
        let max_chars = self.context.max_input_chars(Instant::now());
        max_chars.unwrap_or(usize::MAX).min(self.max_input_chars)
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
