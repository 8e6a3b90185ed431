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
use super::response::invalid;
use super::time_budget::TimeBudget;
use super::too_long::is_too_long;
use crate::error::ModelError;
use crate::feature::Feature;
use crate::metrics::ModelCounters;

/// The maximum size of a response, in bytes.
const MAX_BODY_BYTES: u64 = 1024 * 1024;

/// The maximum number of retries of a request.
const MAX_RETRIES: u32 = 3;

/// The delay before the first retry, if the server sends no `Retry-After`. It doubles with every retry.
const INITIAL_DELAY: Duration = Duration::from_millis(250);

/// The maximum number of bytes that are read of an error message.
const MAX_MESSAGE_BYTES: usize = 2_048;

/// The failure of a request.
#[derive(Debug)]
pub(super) enum CallFailure {
    /// The server may not support the form of the request. The message is that of the server, in lower case.
    UnsupportedForm { status: u16, message: String },
    /// Any other error.
    Failed(ModelError),
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
    pub(crate) counters: Arc<ModelCounters>,
}

/// An endpoint and its credentials.
pub(super) struct Endpoint {
    pub(super) client: Client,
    /// The base URL, whose query is a part of every request.
    pub(super) base_url: Url,
    /// The headers of every request, with the credentials.
    pub(super) headers: HeaderMap,
    pub(super) role: EndpointRole,
}

impl Endpoint {
    /// Sends a `GET` request to a path and returns the JSON response.
    pub(super) async fn get(
        &self,
        path: &str,
        feature: Option<Feature>,
        time: TimeBudget,
    ) -> Result<Value, ModelError> {
        match self.send(FetchRequest::get(self.url(path)), feature, time).await {
            Ok(response) => Ok(response),
            Err(CallFailure::UnsupportedForm { status, message: _ }) => Err(ModelError::Status { status }),
            Err(CallFailure::Failed(error)) => Err(error),
        }
    }

    /// Sends a `POST` request with JSON to a path and returns the JSON response.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &Value,
        feature: Feature,
        time: TimeBudget,
    ) -> Result<Value, CallFailure> {
        let mut request = FetchRequest::post(self.url(path), body.to_string());
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.send(request, Some(feature), time).await
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
        request.max_body_bytes = MAX_BODY_BYTES;
        request.max_decoded_bytes = MAX_BODY_BYTES;
        // A header with a secret must not be sent to another host.
        request.redirects = RedirectPolicy::None;
        let mut retries = 0;
        loop {
            request.timeout = time.remaining();
            if request.timeout.is_zero() {
                return Err(time.timeout_error().into());
            }
            let result = self.client.fetch(request.clone()).await;
            self.log_failure(feature, retries, &result);
            let (error, delay) = match result {
                Ok(response) if response.status.is_success() => {
                    let body = parse_json(&response)?;
                    match status_in_body(&body) {
                        None => return Ok(body),
                        Some(status) if is_temporary(status) => (ModelError::Status { status }, None),
                        Some(status) => return Err(ModelError::Status { status }.into()),
                    }
                }
                Ok(response) if is_too_long(&response.body) => {
                    return Err(ModelError::TooLarge { subject: "the request" }.into());
                }
                Ok(response) => {
                    let status = response.status.as_u16();
                    if !is_temporary(status) || rejects_schema(&response) {
                        return Err(to_call_failure(&response));
                    }
                    (ModelError::Status { status }, retry_after(&response.headers))
                }
                Err(error) => (to_model_error(&error, time), None),
            };
            let delay = delay.unwrap_or(INITIAL_DELAY * 2_u32.pow(retries));
            let is_last = retries >= MAX_RETRIES
                || !is_retryable(&error)
                || delay >= time.remaining()
                || self.is_after_retries(delay, time);
            if is_last {
                return Err(error.into());
            }
            retries += 1;
            if let Some(feature) = feature {
                self.role.counters.count_retry(feature);
            }
            tokio::time::sleep(delay).await;
        }
    }

    /// Returns whether another endpoint should answer the request in place of an attempt after this delay.
    fn is_after_retries(&self, delay: Duration, time: TimeBudget) -> bool {
        self.role.max_retry_time.is_some_and(|max| time.started.elapsed() + delay > max)
    }

    /// Logs an attempt that has failed.
    fn log_failure(
        &self,
        feature: Option<Feature>,
        retries: u32,
        result: &Result<FetchResponse, FetchError>,
    ) {
        let attempt = Attempt { endpoint: self.role.index, feature, number: retries + 1 };
        match result {
            Ok(response) if response.status.is_success() => {
                let body = serde_json::from_slice(&response.body).ok();
                if let Some(status) = body.as_ref().and_then(status_in_body) {
                    attempt.log_status(status, &response.body);
                }
            }
            Ok(response) => attempt.log_status(response.status.as_u16(), &response.body),
            Err(error) => attempt.log_unreachable(reason_of(error)),
        }
    }
}

/// Returns whether the status may be different after a retry.
const fn is_temporary(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

/// Returns the status of an error that comes with the status 200, as from proxies that have begun to respond.
fn status_in_body(body: &Value) -> Option<u16> {
    let has_answer = body["choices"].as_array().is_some_and(|choices| !choices.is_empty());
    let error = body.get("error").filter(|error| !error.is_null() && !has_answer)?;
    let code = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    Some(code.filter(|code| (400..600).contains(code)).unwrap_or(502))
}

/// Returns whether the server failed to make a grammar of a schema, for which llama.cpp has the status 500.
fn rejects_schema(response: &FetchResponse) -> bool {
    let message = message_of(response);
    response.status.as_u16() == 500 && ["grammar", "schema"].iter().any(|word| message.contains(word))
}

/// Returns the message of an error, in lower case.
fn message_of(response: &FetchResponse) -> String {
    let message = &response.body[..response.body.len().min(MAX_MESSAGE_BYTES)];
    String::from_utf8_lossy(message).to_lowercase()
}

fn is_retryable(error: &ModelError) -> bool {
    match error {
        ModelError::Unreachable { .. } | ModelError::Status { .. } => true,
        ModelError::NotConfigured
        | ModelError::Timeout { .. }
        | ModelError::TooLarge { .. }
        | ModelError::InvalidResponse { .. } => false,
    }
}

/// Converts a response with an error status.
fn to_call_failure(response: &FetchResponse) -> CallFailure {
    let status = response.status.as_u16();
    match status {
        400 | 415 | 422 | 500 | 501 => CallFailure::UnsupportedForm { status, message: message_of(response) },
        413 => ModelError::TooLarge { subject: "the request" }.into(),
        _ => ModelError::Status { status }.into(),
    }
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
