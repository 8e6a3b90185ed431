//! One request to the endpoint, with retries.

use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use url::Url;
use websvc_transport::{
    Client, FetchError, FetchPhase, FetchRequest, FetchResponse, RedirectPolicy, retry_after,
};

use super::failure_log::Attempt;
use super::finish::invalid;
use super::retry::{Retries, Temporary};
use super::server_error::{is_without_credit, message_of, rejection};
use super::time_budget::TimeBudget;
use super::too_long::{Excess, excess};
use crate::error::ModelError;
use crate::feature::Feature;
use crate::metrics::FeaturesMetrics;

/// The maximum size of a response with text, in bytes.
pub(super) const MAX_BODY_BYTES: u64 = 1024 * 1024;

/// The failure of a request.
#[derive(Debug)]
pub(super) enum CallFailure {
    /// The server rejected the request, perhaps because it does not support its form. The message is that of the server, in
    /// lower case.
    Rejected { error: ModelError, message: String },
    /// The request is too long for the model.
    TooLong(Excess),
    /// Any other error.
    Failed(ModelError),
}

impl CallFailure {
    /// Returns the error for a request that cannot be changed.
    pub(super) fn into_error(self) -> ModelError {
        match self {
            Self::Rejected { error, message: _ } | Self::Failed(error) => error,
            Self::TooLong(_) => ModelError::TooLarge { subject: "the request" },
        }
    }
}

impl From<ModelError> for CallFailure {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// The role of an endpoint among several.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndpointRole {
    /// The index in the configuration, for the log.
    pub(crate) index: usize,
    /// The time after which a request is not sent again, because another endpoint can answer it; `None` for the last one.
    pub(crate) max_retry_time: Option<Duration>,
    pub(crate) metrics: Arc<FeaturesMetrics>,
}

/// The failure of one attempt to send a request.
enum AttemptFailure {
    /// A later attempt may succeed. Otherwise, this is the error.
    Temporary(Temporary, ModelError),
    /// Another attempt is useless.
    Final(CallFailure),
}

impl From<ModelError> for AttemptFailure {
    fn from(error: ModelError) -> Self {
        Self::Final(CallFailure::Failed(error))
    }
}

/// An endpoint and its credentials.
pub(super) struct Endpoint {
    pub(super) client: Client,
    /// The base URL, whose query is a part of every request.
    pub(super) base_url: Url,
    /// The headers of every request, with the credentials.
    pub(super) headers: HeaderMap,
    pub(super) role: EndpointRole,
    /// The maximum size of a response, in bytes.
    pub(super) max_body_bytes: u64,
}

impl Endpoint {
    /// Sends a `GET` request to a path and returns the JSON response.
    pub(super) async fn get(
        &self,
        path: &str,
        feature: Option<Feature>,
        time: TimeBudget,
    ) -> Result<Value, ModelError> {
        let request = FetchRequest::get(self.url(path));
        self.send(request, feature, time).await.map_err(CallFailure::into_error)
    }

    /// Sends a `POST` request with JSON to a path and returns the JSON response.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &Value,
        feature: Option<Feature>,
        time: TimeBudget,
    ) -> Result<Value, CallFailure> {
        let mut request = FetchRequest::post(self.url(path), body.to_string());
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.send(request, feature, time).await
    }

    /// Returns the URL of a path below the base URL, with the query of the base URL.
    fn url(&self, path: &str) -> Url {
        let mut url = self.base_url.clone();
        url.set_path(&format!("{}/{path}", self.base_url.path().trim_end_matches('/')));
        url
    }

    async fn send(
        &self,
        mut request: FetchRequest,
        feature: Option<Feature>,
        time: TimeBudget,
    ) -> Result<Value, CallFailure> {
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        request.headers.extend(self.headers.clone());
        request.max_body_bytes = self.max_body_bytes;
        request.max_decoded_bytes = self.max_body_bytes;
        // A header with a secret must not be sent to another host.
        request.redirects = RedirectPolicy::None;
        let (mut retries, mut number) = (Retries::default(), 0);
        loop {
            number += 1;
            request.timeout = time.remaining();
            if request.timeout.is_zero() {
                return Err(time.timeout_error().into());
            }
            let label = Attempt { endpoint: self.role.index, feature, number };
            let (kind, error) = match self.attempt(request.clone(), label, time).await {
                Ok(body) => return Ok(body),
                Err(AttemptFailure::Final(failure)) => return Err(failure),
                Err(AttemptFailure::Temporary(kind, error)) => (kind, error),
            };
            let pause = retries.next_pause(kind, time).filter(|pause| !self.is_after_retries(*pause, time));
            let Some(pause) = pause else { return Err(error.into()) };
            if let Some(feature) = feature {
                self.role.metrics.of_feature(feature).retries.add(1);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Returns whether another endpoint should answer the request in place of an attempt after this pause.
    fn is_after_retries(&self, pause: Duration, time: TimeBudget) -> bool {
        self.role.max_retry_time.is_some_and(|max| time.started.elapsed() + pause > max)
    }

    async fn attempt(
        &self,
        request: FetchRequest,
        label: Attempt,
        time: TimeBudget,
    ) -> Result<Value, AttemptFailure> {
        match self.client.fetch(request).await {
            Ok(response) if response.status.is_success() => {
                let body = parse_json(&response)?;
                match status_in_body(&body) {
                    None => Ok(body),
                    Some(status) => {
                        label.log_status(status, &response.body);
                        let error = ModelError::Status { status };
                        Err(match temporary(status, None) {
                            Some(kind) => AttemptFailure::Temporary(kind, error),
                            None => error.into(),
                        })
                    }
                }
            }
            Ok(response) => {
                label.log_status(response.status.as_u16(), &response.body);
                Err(to_attempt_failure(&response))
            }
            Err(error) => {
                label.log_unreachable(reason_of(&error));
                Err(match to_model_error(&error, time) {
                    error @ ModelError::Unreachable { .. } => {
                        AttemptFailure::Temporary(Temporary::Failure, error)
                    }
                    error => error.into(),
                })
            }
        }
    }
}

/// Returns how the status may be different after a retry; `None` if it will not.
const fn temporary(status: u16, retry_after: Option<Duration>) -> Option<Temporary> {
    match status {
        429 | 503 => Some(Temporary::Busy { retry_after }),
        500 | 502 | 504 => Some(Temporary::Failure),
        _ => None,
    }
}

/// Returns the status of an error that comes with the status 200, as from proxies that have begun to respond.
fn status_in_body(body: &Value) -> Option<u16> {
    let has_answer = body["choices"].as_array().is_some_and(|choices| !choices.is_empty());
    let error = body.get("error").filter(|error| !error.is_null() && !has_answer)?;
    let code = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    Some(code.filter(|code| (400..600).contains(code)).unwrap_or(502))
}

/// Converts a response with an error status.
fn to_attempt_failure(response: &FetchResponse) -> AttemptFailure {
    if let Some(excess) = excess(&response.body) {
        return AttemptFailure::Final(CallFailure::TooLong(excess));
    }
    let status = response.status.as_u16();
    if !rejects_schema(response)
        && !is_without_credit(response)
        && let Some(kind) = temporary(status, retry_after(&response.headers))
    {
        return AttemptFailure::Temporary(kind, ModelError::Status { status });
    }
    AttemptFailure::Final(match status {
        400 | 415 | 422 | 500 | 501 => {
            CallFailure::Rejected { error: rejection(response), message: message_of(response) }
        }
        413 => ModelError::TooLarge { subject: "the request" }.into(),
        _ => ModelError::Status { status }.into(),
    })
}

/// Returns whether the server failed to make a grammar of a schema, for which llama.cpp has the status 500.
fn rejects_schema(response: &FetchResponse) -> bool {
    let message = message_of(response);
    response.status.as_u16() == 500 && ["grammar", "schema"].iter().any(|word| message.contains(word))
}

/// Converts an error of the client, without the host and the sources.
fn to_model_error(error: &FetchError, time: TimeBudget) -> ModelError {
    match error {
        // A connection that does not open in time may be retried, unlike a response that does not come in time.
        FetchError::Timeout { phase: FetchPhase::Resolve | FetchPhase::Connect, .. }
            if !time.remaining().is_zero() =>
        {
            ModelError::Unreachable { reason: reason_of(error) }
        }
        FetchError::Timeout { .. } => time.timeout_error(),
        FetchError::TooLarge { .. } | FetchError::Decode { .. } => {
            ModelError::TooLarge { subject: "the response" }
        }
        _ => ModelError::Unreachable { reason: reason_of(error) },
    }
}

/// Returns the reason of an error of the client, without the host and the sources.
fn reason_of(error: &FetchError) -> &'static str {
    match error {
        FetchError::Timeout { phase: FetchPhase::Resolve | FetchPhase::Connect, .. } => {
            "the connection timed out"
        }
        FetchError::Timeout { .. } => "no response in time",
        FetchError::TooLarge { .. } | FetchError::Decode { .. } => "the response is too large",
        FetchError::Dns { .. } => "host not found",
        FetchError::Connect { .. } => "could not connect",
        FetchError::Tls { .. } => "TLS handshake failed",
        _ => "no response",
    }
}

fn parse_json(response: &FetchResponse) -> Result<Value, ModelError> {
    if response.truncated {
        return Err(invalid("it is incomplete"));
    }
    serde_json::from_slice(&response.body).map_err(|_| invalid("not valid JSON"))
}
