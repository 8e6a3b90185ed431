//! The models of several endpoints: a model for each feature, and other endpoints for those that fail.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use websvc_transport::{BreakerHealth, CircuitBreaker};

use crate::error::ModelError;
use crate::feature::Feature;
use crate::metrics::{EndpointMetrics, FeaturesMetrics, ModelMetrics, usage_of};
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking};
use crate::openai::{EndpointRole, OpenAi, OpenAiConfig, OpenAiError};

/// The time for which an endpoint that has failed is skipped.
const PAUSE: Duration = Duration::from_secs(30);

/// The time after which a request is not sent again to an endpoint if there is another one.
const MAX_RETRY_TIME: Duration = Duration::from_secs(10);

/// The configuration of an endpoint and of its models for features.
#[derive(Debug, Clone)]
pub struct EndpointConfig {
    /// The endpoint, with the model for all other features.
    pub endpoint: OpenAiConfig,
    /// The models for some features.
    pub models: Vec<(Feature, String)>,
}

/// The error of an invalid configuration of endpoints.
#[derive(Debug, thiserror::Error)]
pub enum FailoverError {
    /// An endpoint is invalid.
    #[error("endpoint {index}")]
    Endpoint {
        /// The index of the endpoint.
        index: usize,
        /// The invalid value.
        source: OpenAiError,
    },
    /// There is no endpoint, or there are too many.
    #[error("there must be 1 to {} endpoints", FailoverModel::MAX_ENDPOINTS)]
    Count,
}

/// The models of one or more endpoints, which are tried in order.
///
/// The next endpoint answers a request if the one before cannot be reached, does not accept the connection in time, or
/// responds with 429 or 5xx, in each case after retries. Such an endpoint is skipped for 30 seconds; then one request tries it
/// again. It is still tried if all others fail. Any other failure is returned: another endpoint would not help, or the time
/// is over.
///
/// It counts the requests, see [`Model::metrics`].
pub struct FailoverModel {
    endpoints: Vec<EndpointModels>,
    metrics: Arc<FeaturesMetrics>,
}

/// The models of one endpoint.
struct EndpointModels {
    /// The models, each once. The first one is for all features without a model of their own, and for reranking.
    models: Vec<OpenAi>,
    /// The index of the model of each feature.
    of_features: [usize; Feature::ALL.len()],
    breaker: CircuitBreaker,
    metrics: EndpointMetrics,
}

impl FailoverModel {
    /// The maximum number of endpoints.
    pub const MAX_ENDPOINTS: usize = 8;

    /// Creates the clients. Sends no request yet.
    ///
    /// # Errors
    /// [`FailoverError`] if the configuration is invalid.
    pub fn new(endpoints: Vec<EndpointConfig>) -> Result<Self, FailoverError> {
        let count = endpoints.len();
        if !(1..=Self::MAX_ENDPOINTS).contains(&count) {
            return Err(FailoverError::Count);
        }
        let metrics = Arc::new(FeaturesMetrics::default());
        let create = |(index, config)| {
            let max_retry_time = (index + 1 < count).then_some(MAX_RETRY_TIME);
            let role = EndpointRole { index, max_retry_time, metrics: Arc::clone(&metrics) };
            EndpointModels::new(config, role).map_err(|source| FailoverError::Endpoint { index, source })
        };
        let endpoints = endpoints.into_iter().enumerate().map(create).collect::<Result<_, _>>()?;
        Ok(Self { endpoints, metrics })
    }

    /// Returns the models of each endpoint, in order, each model once. The first model of an endpoint is the one for all
    /// features without a model of their own.
    pub fn models(&self) -> impl Iterator<Item = &[OpenAi]> {
        self.endpoints.iter().map(|endpoint| endpoint.models.as_slice())
    }

    /// Sends a request to the endpoints in order until one answers it. Those that have failed shortly before are the last.
    async fn first_answer<'a, T>(
        &'a self,
        can_answer: fn(&OpenAi) -> bool,
        send: impl Fn(&'a EndpointModels) -> ModelFuture<'a, T>,
    ) -> Result<T, ModelError> {
        let endpoints = || self.endpoints.iter().filter(|endpoint| can_answer(endpoint.default_model()));
        let mut skipped = Vec::new();
        let mut last_error = ModelError::NotConfigured;
        for endpoint in endpoints() {
            let Ok(attempt) = endpoint.breaker.admit(Instant::now()) else {
                endpoint.metrics.skipped.add(1);
                skipped.push(endpoint);
                continue;
            };
            let result = send(endpoint).await;
            endpoint.metrics.count(&result);
            match result {
                Err(error) if is_of_endpoint(&error) => {
                    attempt.fail(Instant::now(), &error.to_string(), None);
                    last_error = error;
                }
                // An answer that cannot be used is one, too. After a timeout, the state is not known.
                Err(error) if error.is_late() => return Err(error),
                result => {
                    attempt.succeed();
                    return result;
                }
            }
        }
        for endpoint in skipped {
            let result = send(endpoint).await;
            endpoint.metrics.count(&result);
            match result {
                Err(error) if is_of_endpoint(&error) => last_error = error,
                result => return result,
            }
        }
        Err(last_error)
    }

    fn count_tokens(&self, feature: Feature, result: &Result<Completion, ModelError>) {
        let usage = match result {
            Ok(completion) => Some(completion.usage),
            Err(error) => usage_of(error),
        };
        self.metrics.of_feature(feature).count_tokens(usage.unwrap_or_default());
    }
}

impl EndpointModels {
    fn new(config: EndpointConfig, role: EndpointRole) -> Result<Self, OpenAiError> {
        let EndpointConfig { endpoint, models: named } = config;
        let mut models = vec![OpenAi::with_role(endpoint, role)?];
        let mut of_features = [0; Feature::ALL.len()];
        for (feature, name) in named {
            let known = models.iter().position(|model| model.model_name() == Some(&name));
            of_features[feature as usize] = known.unwrap_or_else(|| {
                models.push(models[0].for_model(&name));
                models.len() - 1
            });
        }
        Ok(Self {
            models,
            of_features,
            breaker: CircuitBreaker::new(1, PAUSE),
            metrics: EndpointMetrics::default(),
        })
    }

    fn default_model(&self) -> &OpenAi {
        &self.models[0]
    }

    fn model_of(&self, feature: Feature) -> &OpenAi {
        &self.models[self.of_features[feature as usize]]
    }

    fn is_paused(&self) -> bool {
        self.breaker.health(Instant::now()) != BreakerHealth::Ok
    }
}

/// Returns whether another endpoint may answer a request that failed with this error.
fn is_of_endpoint(error: &ModelError) -> bool {
    match error {
        ModelError::Unreachable { .. } => true,
        ModelError::Status { status } | ModelError::Rejected { status, .. } => matches!(status, 429 | 500..),
        ModelError::NotConfigured
        | ModelError::Busy { .. }
        | ModelError::Timeout { .. }
        | ModelError::TooLarge { .. }
        | ModelError::Refused { .. }
        | ModelError::InvalidResponse { .. } => false,
    }
}

impl fmt::Debug for FailoverModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models: Vec<_> = self.models().collect();
        f.debug_struct("FailoverModel").field("models", &models).finish_non_exhaustive()
    }
}

impl Model for FailoverModel {
    fn can_complete(&self) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.default_model().can_complete())
    }

    fn can_rerank(&self) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.default_model().can_rerank())
    }

    fn concurrency(&self) -> usize {
        self.endpoints.first().map_or(1, |endpoint| endpoint.default_model().concurrency())
    }

    fn max_input_chars(&self) -> usize {
        // Of all endpoints, because the prompt is written before it is known which one answers.
        let models = self.endpoints.iter().map(EndpointModels::default_model);
        models.map(Model::max_input_chars).min().unwrap_or_default()
    }

    fn combines(&self) -> bool {
        self.endpoints.first().is_some_and(|endpoint| endpoint.default_model().combines())
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        Box::pin(async move {
            let timer = self.metrics.of_feature(request.feature).start();
            let send = |endpoint: &'a EndpointModels| endpoint.model_of(request.feature).complete(request);
            let result = self.first_answer(OpenAi::can_complete, send).await;
            self.count_tokens(request.feature, &result);
            timer.end(&result);
            result
        })
    }

    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [&'a str],
        max_results: usize,
        deadline: Instant,
    ) -> ModelFuture<'a, Ranking> {
        Box::pin(async move {
            let metrics = self.metrics.of_feature(Feature::Rerank);
            let timer = metrics.start();
            let send = |endpoint: &'a EndpointModels| {
                endpoint.default_model().rerank(query, texts, max_results, deadline)
            };
            let result = self.first_answer(OpenAi::can_rerank, send).await;
            let tokens = result.as_ref().ok().and_then(|ranking| ranking.total_tokens).unwrap_or_default();
            metrics.input_tokens.add(tokens);
            timer.end(&result);
            result
        })
    }

    fn metrics(&self) -> Option<ModelMetrics<'_>> {
        let endpoints = self.endpoints.iter().map(|endpoint| (&endpoint.metrics, endpoint.is_paused()));
        Some(ModelMetrics { features: self.metrics.all(), endpoints: endpoints.collect() })
    }
}
