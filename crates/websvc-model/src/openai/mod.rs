//! An OpenAI-compatible endpoint: `chat/completions`, `rerank` and `models` below one address.

mod answer;
mod ask;
mod form;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;
use websvc_transport::Client;

use crate::error::ModelError;
use crate::limited::place;
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking, ResponseFormat};
use crate::prompt::{self, PromptMessages};
use answer::{names, of_completion, of_ranking};
use form::RequestForm;

/// Longer texts are cut before they are ordered: no model of this kind reads more.
const RERANK_TEXT_CHARS: usize = 8_000;

/// Why an endpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenAiError {
    /// The key cannot be sent in a header.
    #[error("the key has characters that no header may have")]
    Key,
    /// The address is not one that paths can be added to. It is not named: it may hold secrets.
    #[error("the address must be http or https, without a user, a query and a fragment")]
    Address,
}

/// Configuration of an endpoint.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// Reaches the address wherever it is: it is the operator's own choice.
    pub client: Client,
    /// Base URL of `chat/completions`; usually it ends in `/v1`.
    pub base_url: Url,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
    /// The model that answers questions.
    pub model: Option<String>,
    /// The model that orders texts.
    pub rerank_model: Option<String>,
    /// The time for one question, the wait for its turn and its repetitions included; shorter where its deadline is.
    pub timeout: Duration,
    /// Questions at one time; others wait.
    pub concurrency: usize,
    /// The longest question, in characters.
    pub max_input_chars: usize,
}

impl OpenAiConfig {
    /// Returns the defaults: 30 seconds, 4 questions at one time, 48,000 characters, which are about 12,000 tokens.
    #[must_use]
    pub fn new(client: Client, base_url: Url) -> Self {
        Self {
            client,
            base_url,
            api_key: None,
            model: None,
            rerank_model: None,
            timeout: Duration::from_secs(30),
            concurrency: 4,
            max_input_chars: 48_000,
        }
    }
}

impl fmt::Debug for OpenAiConfig {
    /// Leaves out the key, and the address, which may hold one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiConfig").field("model", &self.model).finish_non_exhaustive()
    }
}

/// The models behind an endpoint.
pub struct OpenAi {
    client: Client,
    base_url: Url,
    key: Option<HeaderValue>,
    model: Option<String>,
    rerank_model: Option<String>,
    timeout: Duration,
    places: Arc<Semaphore>,
    concurrency: usize,
    max_input_chars: usize,
}

impl OpenAi {
    /// Makes a model of an endpoint. Nothing is asked yet.
    ///
    /// # Errors
    /// [`OpenAiError`]
    pub fn new(config: OpenAiConfig) -> Result<Self, OpenAiError> {
        let OpenAiConfig {
            client,
            base_url,
            api_key,
            model,
            rerank_model,
            timeout,
            concurrency,
            max_input_chars,
        } = config;
        let is_bare = base_url.query().is_none()
            && base_url.fragment().is_none()
            && base_url.username().is_empty()
            && base_url.password().is_none();
        if !is_bare || !matches!(base_url.scheme(), "http" | "https") {
            return Err(OpenAiError::Address);
        }
        let key = api_key.filter(|key| !key.is_empty()).map(|key| secret(&key)).transpose()?;
        let concurrency = concurrency.max(1);
        let places = Arc::new(Semaphore::new(concurrency));
        Ok(Self { client, base_url, key, model, rerank_model, timeout, places, concurrency, max_input_chars })
    }

    /// Returns the names of the models that the endpoint says it has.
    ///
    /// # Errors
    /// [`ModelError`]; [`ModelError::Refused`] with 404 where an endpoint has no such list.
    pub async fn models(&self, deadline: Instant) -> Result<Vec<String>, ModelError> {
        let time = self.time(deadline);
        let answer = ask::get(self, "models", time).await?;
        names(&answer)
    }

    fn time(&self, deadline: Instant) -> AttemptBudget {
        let started = Instant::now();
        AttemptBudget { started, ends: deadline.min(started + self.timeout) }
    }

    /// Waits for a place among the questions that are asked.
    async fn place(&self, time: AttemptBudget) -> Result<SemaphorePermit<'_>, ModelError> {
        place(&self.places, time.started, time.ends).await
    }

    async fn answer(&self, question: &CompletionRequest<'_>) -> Result<Completion, ModelError> {
        let model = self.model.as_deref().ok_or(ModelError::Missing)?;
        let framed = prompt::frame(question, self.max_input_chars)?;
        let time = self.time(question.deadline);
        let _place = self.place(time).await?;
        let mut form = RequestForm::first(question.shape);
        let wants_json = question.shape != ResponseFormat::Text;
        loop {
            let body = body(model, &framed, question, form);
            match ask::post(self, "chat/completions", &body, time).await {
                Ok(answer) => return of_completion(&answer, wants_json, framed.is_content_cut),
                Err(ask::CallFailure::Form { status, said }) => {
                    form = form.next(&said).ok_or(ModelError::Refused { status })?;
                }
                Err(ask::CallFailure::Failed(error)) => return Err(error),
            }
        }
    }

    async fn order(
        &self,
        query: &str,
        texts: &[&str],
        most: usize,
        deadline: Instant,
    ) -> Result<Ranking, ModelError> {
        let model = self.rerank_model.as_deref().ok_or(ModelError::Missing)?;
        let documents: Vec<&str> = texts.iter().map(|text| prompt::cut(text, RERANK_TEXT_CHARS).0).collect();
        let (query, _) = prompt::cut(query, RERANK_TEXT_CHARS);
        let body = json!({
            "model": model, "query": query, "documents": documents, "top_n": most, "return_documents": false,
        });
        let time = self.time(deadline);
        let _place = self.place(time).await?;
        match ask::post(self, "rerank", &body, time).await {
            Ok(answer) => of_ranking(&answer, texts.len(), most),
            Err(ask::CallFailure::Form { status, said: _ }) => Err(ModelError::Refused { status }),
            Err(ask::CallFailure::Failed(error)) => Err(error),
        }
    }
}

fn body(
    model: &str,
    framed: &PromptMessages,
    question: &CompletionRequest<'_>,
    form: RequestForm,
) -> serde_json::Value {
    let mut body = json!({
        "model": model,
        "messages": [
            { "role": "system", "content": framed.system },
            { "role": "user", "content": framed.user },
        ],
        "stream": false,
    });
    form.write(&mut body, question);
    body
}

fn secret(key: &str) -> Result<HeaderValue, OpenAiError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| OpenAiError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The time of a question.
#[derive(Debug, Clone, Copy)]
struct AttemptBudget {
    started: Instant,
    ends: Instant,
}

impl AttemptBudget {
    fn left(self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    fn late(self) -> ModelError {
        ModelError::Late { after: self.ends.saturating_duration_since(self.started) }
    }
}

impl fmt::Debug for OpenAi {
    /// Leaves out the key, and the address, which may hold one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Model for OpenAi {
    fn completes(&self) -> bool {
        self.model.is_some()
    }

    fn reranks(&self) -> bool {
        self.rerank_model.is_some()
    }

    fn places(&self) -> usize {
        self.concurrency
    }

    fn complete<'a>(&'a self, question: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        Box::pin(self.answer(question))
    }

    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [&'a str],
        most: usize,
        deadline: Instant,
    ) -> ModelFuture<'a, Ranking> {
        Box::pin(self.order(query, texts, most, deadline))
    }
}
