//! The endpoint of an external source: HTTP requests with a rate limit, a circuit breaker and size limits.

use std::time::{Duration, Instant};

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use parking_lot::Mutex;
use serde_json::Value;
use url::Url;
use websvc_transport::{
    BreakerAttempt, CircuitBreaker, Client, FetchError, FetchRequest, FetchResponse, RedirectPolicy,
    retry_after,
};

use super::SourceHealth;
use super::plain_text::truncate;
use super::token_bucket::TokenBucket;
use crate::error::SourceError;

/// The maximum size of a response.
const MAX_BODY_BYTES: u64 = 8 * 1024 * 1024;

/// The time after which a cancelled or timed-out request counts as a failure of the source.
const MIN_FAIR_TIMEOUT: Duration = Duration::from_secs(2);

/// The limits of requests to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndpointConfig {
    /// The timeout of one request.
    pub timeout: Duration,
    /// The rate limit; above 0.
    pub requests_per_second: f64,
    /// The number of requests that may be sent at once after a rest; at least 1.
    pub burst: u32,
    /// The number of consecutive failures that open the circuit breaker; at least 1.
    pub failures: u32,
    /// The time that the circuit breaker stays open before a request is tried.
    pub pause: Duration,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            requests_per_second: 200.0,
            burst: 400,
            failures: 5,
            pause: Duration::from_secs(30),
        }
    }
}

/// A server with its rate limit and its circuit breaker.
#[derive(Debug)]
pub(super) struct Endpoint {
    name: String,
    client: Client,
    timeout: Duration,
    breaker: CircuitBreaker,
    rate_limit: Mutex<TokenBucket>,
}

impl Endpoint {
    pub(super) fn new(name: String, client: Client, config: EndpointConfig) -> Self {
        let breaker = CircuitBreaker::new(config.failures, config.pause);
        let rate_limit = Mutex::new(TokenBucket::new(config.requests_per_second, config.burst));
        Self { name, client, timeout: config.timeout, breaker, rate_limit }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the timeout of one request.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(super) fn health(&self) -> SourceHealth {
        self.breaker.health(Instant::now())
    }

    /// Fetches a URL and parses the JSON response, at the latest until `deadline`.
    pub(super) async fn json(
        &self,
        url: Url,
        headers: HeaderMap,
        deadline: Option<Instant>,
    ) -> Result<Value, SourceError> {
        let mut request = FetchRequest::get(url);
        request.headers = headers;
        self.exchange(request, deadline, read_json).await
    }

    /// Sends a request and parses its response with `read`, at the latest until `deadline`.
    pub(super) async fn exchange<T>(
        &self,
        mut request: FetchRequest,
        deadline: Option<Instant>,
        read: impl FnOnce(&FetchResponse) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let started = Instant::now();
        let timeout = deadline
            .map_or(self.timeout, |deadline| deadline.saturating_duration_since(started).min(self.timeout));
        let attempt = self.admit(started, timeout).await?;
        set_limits(&mut request);
        request.timeout = timeout.saturating_sub(started.elapsed());
        let outcome = match self.client.fetch(request).await {
            Ok(response) => read(&response),
            Err(error) => {
                tracing::debug!(
                    source = self.name,
                    error = &error as &dyn std::error::Error,
                    "request failed"
                );
                Err(to_source_error(&error, timeout))
            }
        };
        attempt.finish(&outcome);
        outcome
    }

    /// Checks the circuit breaker and waits for the rate limit.
    async fn admit(&self, now: Instant, timeout: Duration) -> Result<Attempt<'_>, SourceError> {
        let admitted = self
            .breaker
            .admit(now)
            .map_err(|open| SourceError::Paused { retry_after: open.retry_after, reason: open.reason })?;
        let wait = self.rate_limit.lock().take(now, timeout).map_err(|wait| SourceError::Busy { wait })?;
        let attempt = Attempt { endpoint: self, sent_at: now + wait, admitted: Some(admitted) };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(attempt)
    }

    fn record_failure(&self, admitted: BreakerAttempt<'_>, reason: &str, retry_after: Option<Duration>) {
        if admitted.fail(Instant::now(), reason, retry_after) {
            tracing::warn!(source = self.name, reason, "circuit breaker of a search source opened");
        } else {
            tracing::info!(source = self.name, reason, "request to a search source failed");
        }
    }
}

/// A request in flight. If it is dropped before its end, it counts as failed if the source had enough time.
struct Attempt<'a> {
    endpoint: &'a Endpoint,
    sent_at: Instant,
    /// `None` after the end of the request.
    admitted: Option<BreakerAttempt<'a>>,
}

impl Attempt<'_> {
    fn finish<T>(mut self, outcome: &Result<T, SourceError>) {
        let Some(admitted) = self.admitted.take() else { return };
        let endpoint = self.endpoint;
        match outcome {
            // It does not count.
            Err(SourceError::Timeout { .. }) if !self.had_enough_time() => drop(admitted),
            Err(error) if is_failure(error) => {
                let retry_after = match error {
                    SourceError::Limited { retry_after } => *retry_after,
                    _ => None,
                };
                endpoint.record_failure(admitted, &public_message(error), retry_after);
            }
            Ok(_) | Err(_) => {
                if admitted.succeed() {
                    tracing::info!(source = endpoint.name, "circuit breaker of a search source closed");
                }
            }
        }
    }

    fn had_enough_time(&self) -> bool {
        self.sent_at.elapsed() >= MIN_FAIR_TIMEOUT.min(self.endpoint.timeout)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(admitted) = self.admitted.take()
            && self.had_enough_time()
        {
            self.endpoint.record_failure(admitted, "too slow for a search", None);
        }
    }
}

/// Returns whether an error indicates a problem of the source. An error caused by one query does not.
fn is_failure(error: &SourceError) -> bool {
    !matches!(error, SourceError::Status { status: 400 | 404 | 414 | 422, .. })
}

/// Sets the headers and limits that apply to all requests to configured servers.
pub(super) fn set_limits(request: &mut FetchRequest) {
    request.headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
    request.max_body_bytes = MAX_BODY_BYTES;
    request.max_decoded_bytes = MAX_BODY_BYTES;
    request.redirects = RedirectPolicy::None;
}

/// Converts an error of the HTTP client, without the host: callers need not know the addresses of the operator's
/// servers.
pub(super) fn to_source_error(error: &FetchError, timeout: Duration) -> SourceError {
    let text = match error {
        FetchError::Timeout { .. } => return SourceError::Timeout { after: timeout },
        FetchError::Dns { .. } => "host not found".to_owned(),
        FetchError::Connect { .. } => "could not connect".to_owned(),
        FetchError::Tls { reason, .. } => format!("TLS connection failed: {reason}"),
        other => other.to_string(),
    };
    SourceError::Unreachable { text }
}

/// Returns the text of a failure without the message of the server, which may repeat the query.
fn public_message(error: &SourceError) -> String {
    match error {
        SourceError::Status { status, message: _ } => {
            SourceError::Status { status: *status, message: String::new() }.to_string()
        }
        other => other.to_string(),
    }
}

/// Parses a JSON response.
pub(super) fn read_json(response: &FetchResponse) -> Result<Value, SourceError> {
    check_status(response)?;
    let content_type = content_type(response);
    if !content_type.to_ascii_lowercase().contains("json") {
        return Err(SourceError::NotJson { content_type });
    }
    serde_json::from_slice(&response.body)
        .map_err(|error| SourceError::Unreadable { what: format!("not valid JSON, {error}") })
}

/// Checks that a response is successful and complete.
pub(super) fn check_status(response: &FetchResponse) -> Result<(), SourceError> {
    let status = response.status;
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(SourceError::Limited { retry_after: retry_after(&response.headers) });
    }
    if status.is_redirection() {
        return Err(SourceError::Redirect { status: status.as_u16() });
    }
    if !status.is_success() {
        let is_json = content_type(response).to_ascii_lowercase().contains("json");
        let message = if is_json { message(&response.body) } else { String::new() };
        return Err(SourceError::Status { status: status.as_u16(), message });
    }
    if response.truncated {
        return Err(SourceError::Unreadable { what: "it is incomplete".to_owned() });
    }
    Ok(())
}

/// Returns the content type of a response; empty if it has none.
pub(super) fn content_type(response: &FetchResponse) -> String {
    header_text(&response.headers, CONTENT_TYPE.as_str())
}

fn header_text(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// Returns the message in the body of an error response, at the usual positions.
fn message(body: &[u8]) -> String {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return String::new() };
    let pointers = [
        "/error",
        "/message",
        "/error/message",
        "/error/reason",
        "/error_message",
        "/detail",
        "/error/detail",
        "/error/info",
    ];
    let found = pointers.iter().find_map(|pointer| body.pointer(pointer).and_then(Value::as_str));
    found.map(|text| truncate(text, 200)).unwrap_or_default()
}
