//! Vectors of texts from an endpoint.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use websvc_transport::CircuitBreaker;

use super::config::{OpenAiConfig, OpenAiError};
use super::endpoint::{CallFailure, Endpoint, EndpointRole};
use super::finish::invalid;
use super::time_budget::TimeBudget;
use crate::error::ModelError;
use crate::limited::acquire;
use crate::prompt;

/// The maximum size of a response, in bytes: [`Embeddings::MAX_TEXTS`] vectors of [`MAX_DIMENSIONS`].
const MAX_RESPONSE_BYTES: u64 = 8 * 1024 * 1024;

/// The maximum length of a vector.
const MAX_DIMENSIONS: usize = 8_192;

/// The length to which texts are truncated. Models for embeddings read less.
const MAX_TEXT_CHARS: usize = 8_000;

/// The number of consecutive failures after which the endpoint is not asked for [`PAUSE`].
const FAILURES: u32 = 3;

/// The time for which an endpoint that fails is not asked.
const PAUSE: Duration = Duration::from_secs(30);

/// A client of `embeddings` of an OpenAI-compatible endpoint.
pub struct Embeddings {
    endpoint: Endpoint,
    model: String,
    timeout: Duration,
    permits: Arc<Semaphore>,
    concurrency: usize,
    breaker: CircuitBreaker,
}

impl Embeddings {
    /// The maximum number of texts of a request.
    pub const MAX_TEXTS: usize = 16;

    /// Creates a client. Sends no request yet. Of the configuration, the URL, the key, the headers, the model, the timeout and
    /// the concurrency count.
    ///
    /// # Errors
    /// [`OpenAiError`] if the configuration is invalid.
    pub fn new(config: OpenAiConfig) -> Result<Self, OpenAiError> {
        let headers = config.request_headers()?;
        let OpenAiConfig { client, base_url, model, timeout, concurrency, .. } = config;
        let role = EndpointRole::default();
        let concurrency = concurrency.max(1);
        Ok(Self {
            endpoint: Endpoint { client, base_url, headers, role, max_body_bytes: MAX_RESPONSE_BYTES },
            model: model.unwrap_or_default(),
            timeout,
            permits: Arc::new(Semaphore::new(concurrency)),
            concurrency,
            breaker: CircuitBreaker::new(FAILURES, PAUSE),
        })
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.model
    }

    /// Returns one vector for each of at most [`Self::MAX_TEXTS`] texts. While the endpoint fails, this fails at once.
    ///
    /// # Errors
    /// [`ModelError`]
    pub async fn embed(&self, texts: &[&str], deadline: Instant) -> Result<Vec<Vec<f32>>, ModelError> {
        let input: Vec<&str> = texts.iter().map(|text| prompt::truncate(text, MAX_TEXT_CHARS).0).collect();
        let body = json!({ "model": self.model, "input": input, "encoding_format": "float" });
        let attempt = self.breaker.admit(Instant::now());
        let attempt =
            attempt.map_err(|_open| ModelError::Unreachable { reason: "it has failed shortly before" })?;
        let _permit = acquire(&self.permits, self.concurrency, deadline).await?;
        let started = Instant::now();
        let time = TimeBudget { started, deadline: deadline.min(started + self.timeout) };
        let response =
            self.endpoint.post("embeddings", &body, None, time).await.map_err(CallFailure::into_error);
        let vectors = response.and_then(|response| parse_vectors(&response, texts.len()));
        match &vectors {
            Ok(_) => {
                attempt.succeed();
            }
            Err(error) => {
                attempt.fail(Instant::now(), &error.to_string(), None);
            }
        }
        vectors
    }
}

impl fmt::Debug for Embeddings {
    /// Omits the headers and the URL, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embeddings").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Parses the vectors of texts, which may come in any order.
fn parse_vectors(response: &Value, texts: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let data = response["data"].as_array().ok_or_else(|| invalid("no list `data`"))?;
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts];
    for (place, item) in data.iter().enumerate() {
        let index = item["index"].as_u64().map_or(Some(place), |index| usize::try_from(index).ok());
        let slot = index.and_then(|index| vectors.get_mut(index));
        let slot = slot.ok_or_else(|| invalid("an `index` is out of range"))?;
        let values = item["embedding"].as_array().ok_or_else(|| invalid("no list `embedding`"))?;
        if values.is_empty() || values.len() > MAX_DIMENSIONS {
            return Err(invalid("a vector has no values, or too many"));
        }
        if !slot.is_empty() {
            return Err(invalid("a text occurs twice"));
        }
        let numbers = values.iter().map(|value| value.as_f64().map(|value| value as f32));
        let numbers = numbers.map(|value| value.filter(|value| value.is_finite()));
        *slot = numbers
            .collect::<Option<_>>()
            .ok_or_else(|| invalid("a vector has values other than numbers"))?;
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return Err(invalid("texts are missing, or vectors differ in length"));
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::parse_vectors;

    #[test]
    fn vectors_are_in_the_order_of_the_texts() {
        let check = |data: Value, expected: Option<Vec<Vec<f32>>>| {
            assert_eq!(parse_vectors(&json!({ "data": data }), 2).ok(), expected, "{data}");
        };
        let ordered = Some(vec![vec![1.0, 0.0], vec![0.5, -2.0]]);
        check(
            json!([{ "index": 1, "embedding": [0.5, -2] }, { "index": 0, "embedding": [1, 0] }]),
            ordered.clone(),
        );
        check(json!([{ "embedding": [1, 0] }, { "embedding": [0.5, -2] }]), ordered);
        check(json!([{ "index": 0, "embedding": [1, 0] }]), None);
        check(json!([{ "index": 0, "embedding": [1, 0] }, { "index": 0, "embedding": [1, 0] }]), None);
        check(json!([{ "index": 0, "embedding": [1, 0] }, { "index": 2, "embedding": [1, 0] }]), None);
        check(json!([{ "index": 0, "embedding": [1, 0] }, { "index": 1, "embedding": [1] }]), None);
        check(json!([{ "index": 0, "embedding": ["1"] }, { "index": 1, "embedding": [1] }]), None);
        check(json!([{ "index": 0, "embedding": [] }, { "index": 1, "embedding": [] }]), None);
        check(json!({}), None);
    }
}
