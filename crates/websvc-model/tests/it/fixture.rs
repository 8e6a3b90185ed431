//! A client of an endpoint that follows a script.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_model::{Completion, CompletionRequest, Model, ModelError, OpenAi, OpenAiConfig, ResponseFormat};
use websvc_testkit::{FakeModel, Page, TestWeb};

pub(crate) const BASE: &str = "http://model.test/v1";
pub(crate) const CHAT: &str = "http://model.test/v1/chat/completions";

/// A client of an endpoint that returns scripted responses.
pub(crate) struct Setup {
    pub(crate) web: TestWeb,
    pub(crate) model: OpenAi,
}

impl Setup {
    pub(crate) async fn new(pages: impl IntoIterator<Item = Page>) -> Self {
        Self::with(pages, |_| {}).await
    }

    pub(crate) async fn with(
        pages: impl IntoIterator<Item = Page>,
        change: impl FnOnce(&mut OpenAiConfig),
    ) -> Self {
        Self::with_model(&FakeModel::scripted(pages), change).await
    }

    /// Creates a client of an endpoint.
    pub(crate) async fn with_model(model: &FakeModel, change: impl FnOnce(&mut OpenAiConfig)) -> Self {
        let web = model.serve(TestWeb::builder(), BASE).start().await;
        let mut config = OpenAiConfig::new(web.client(), BASE.parse().unwrap());
        config.api_key = Some("sk-very-secret".to_owned());
        config.model = Some("tiny".to_owned());
        config.rerank_model = Some("tiny-rerank".to_owned());
        change(&mut config);
        Self { web, model: OpenAi::new(config).unwrap() }
    }

    pub(crate) async fn complete(&self, format: ResponseFormat<'_>) -> Result<Completion, ModelError> {
        self.complete_with(format, "a page about tea", Duration::from_secs(20)).await
    }

    pub(crate) async fn complete_with(
        &self,
        format: ResponseFormat<'_>,
        content: &str,
        timeout: Duration,
    ) -> Result<Completion, ModelError> {
        let request = CompletionRequest {
            feature: websvc_model::Feature::Json,
            instructions: "Extract.",
            user_prompt: "the tea",
            content: Some(content),
            format,
            max_tokens: 99,
            deadline: Instant::now() + timeout,
        };
        self.model.complete(&request).await
    }

    /// Returns the bodies of the requests.
    pub(crate) fn sent_bodies(&self) -> Vec<Value> {
        let requests = self.web.requests();
        requests.iter().filter_map(|request| serde_json::from_slice(&request.body).ok()).collect()
    }

    /// Returns the `response_format` of each request.
    pub(crate) fn formats(&self) -> Vec<String> {
        let format = |body: &Value| body["response_format"]["type"].as_str().unwrap_or("none").to_owned();
        self.sent_bodies().iter().map(format).collect()
    }
}

pub(crate) fn tea() -> Page {
    FakeModel::json(&json!({ "tea": "sencha" }))
}
