//! One server elsewhere: asked at its pace, behind its breaker, inside limits.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use url::Url;
use websvc_transport::{
    BreakerAttempt, CircuitBreaker, Client, FetchError, FetchRequest, FetchResponse, RedirectPolicy,
    retry_after,
};

use super::SourceHealth;
use super::plain_text::shortened;
use super::token_bucket::TokenBucket;
use crate::error::SourceError;

/// The largest answer that is read.
const MAX_BODY_BYTES: u64 = 8 * 1024 * 1024;

/// A question that was given up or timed out earlier than this says nothing about the source.
const FAIR_WAIT: Duration = Duration::from_secs(2);

/// How a server is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndpointConfig {
    /// The time for one request.
    pub timeout: Duration,
    /// The pace of requests, above 0.
    pub requests_per_second: f64,
    /// So many requests may be made at once after a rest; at least 1.
    pub burst: u32,
    /// The breaker opens after so many failures in a row; at least 1.
    pub failures: u32,
    /// So long the breaker stays open before a request tries again.
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

/// A server with its pace and its breaker.
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

    /// Returns the time for one request.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(super) fn condition(&self) -> SourceHealth {
        self.breaker.health(Instant::now())
    }

    /// Gets a URL and reads its answer as JSON, not later than `until`.
    pub(super) async fn json(
        &self,
        url: Url,
        headers: HeaderMap,
        until: Option<Instant>,
    ) -> Result<Value, SourceError> {
        let mut request = FetchRequest::get(url);
        request.headers = headers;
        self.exchange(request, until, read_json).await
    }

    /// Sends a request and reads its answer with `read`, not later than `until`.
    pub(super) async fn exchange<T>(
        &self,
        mut request: FetchRequest,
        until: Option<Instant>,
        read: impl FnOnce(&FetchResponse) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let started = Instant::now();
        let patience =
            until.map_or(self.timeout, |until| until.saturating_duration_since(started).min(self.timeout));
        let attempt = self.begin(started, patience).await?;
        bound(&mut request);
        request.timeout = patience.saturating_sub(started.elapsed());
        let outcome = match self.client.fetch(request).await {
            Ok(fetched) => read(&fetched),
            Err(error) => {
                tracing::debug!(source = self.name, error = &error as &dyn std::error::Error, "no answer");
                Err(unreachable(&error, patience))
            }
        };
        attempt.end(&outcome);
        outcome
    }

    /// Asks the breaker and waits for the pace.
    async fn begin(&self, now: Instant, patience: Duration) -> Result<Attempt<'_>, SourceError> {
        let admitted = self
            .breaker
            .admit(now)
            .map_err(|open| SourceError::Paused { retry_after: open.retry_after, reason: open.reason })?;
        let taken = self.rate_limit.lock().unwrap_or_else(PoisonError::into_inner).take(now, patience);
        let wait = taken.map_err(|wait| SourceError::Busy { wait })?;
        let attempt = Attempt { endpoint: self, sent: now + wait, admitted: Some(admitted) };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(attempt)
    }

    fn note_failure(&self, admitted: BreakerAttempt<'_>, reason: &str, come_back: Option<Duration>) {
        if admitted.fail(Instant::now(), reason, come_back) {
            tracing::warn!(source = self.name, reason, "a search source is paused");
        } else {
            tracing::info!(source = self.name, reason, "a search source failed");
        }
    }
}

/// A request on its way. Dropped without an end, it counts as failed when the source had a fair time.
struct Attempt<'a> {
    endpoint: &'a Endpoint,
    sent: Instant,
    /// Taken when the request ends.
    admitted: Option<BreakerAttempt<'a>>,
}

impl Attempt<'_> {
    fn end<T>(mut self, outcome: &Result<T, SourceError>) {
        let Some(admitted) = self.admitted.take() else { return };
        let endpoint = self.endpoint;
        match outcome {
            // It does not count.
            Err(SourceError::Timeout { .. }) if !self.had_enough_time() => drop(admitted),
            Err(error) if is_failure(error) => {
                let come_back = match error {
                    SourceError::Limited { retry_after } => *retry_after,
                    _ => None,
                };
                endpoint.note_failure(admitted, &public_message(error), come_back);
            }
            Ok(_) | Err(_) => {
                if admitted.succeed() {
                    tracing::info!(source = endpoint.name, "a search source answers again");
                }
            }
        }
    }

    fn had_enough_time(&self) -> bool {
        self.sent.elapsed() >= FAIR_WAIT.min(self.endpoint.timeout)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(admitted) = self.admitted.take()
            && self.had_enough_time()
        {
            self.endpoint.note_failure(admitted, "it was too slow for a search", None);
        }
    }
}

/// Tells whether an error speaks of the source's health: what is wrong with one question does not.
fn is_failure(error: &SourceError) -> bool {
    !matches!(error, SourceError::Status { status: 400 | 404 | 414 | 422, .. })
}

/// Sets what holds for every request to a configured server, however it is asked.
pub(super) fn bound(request: &mut FetchRequest) {
    request.headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
    request.max_body_bytes = MAX_BODY_BYTES;
    request.max_decoded_bytes = MAX_BODY_BYTES;
    request.redirects = RedirectPolicy::None;
}

/// Tells what went wrong without the host: who asks need not know where the operator's servers are.
pub(super) fn unreachable(error: &FetchError, patience: Duration) -> SourceError {
    let text = match error {
        FetchError::Timeout { .. } => return SourceError::Timeout { after: patience },
        FetchError::Dns { .. } => "its host was not found".to_owned(),
        FetchError::Connect { .. } => "it cannot be connected to".to_owned(),
        FetchError::Tls { reason, .. } => format!("no secure connection to it: {reason}"),
        other => other.to_string(),
    };
    SourceError::Unreachable { text }
}

/// Returns the text of a failure for the log and for everybody: what a server says may repeat the question.
fn public_message(error: &SourceError) -> String {
    match error {
        SourceError::Status { status, message: _ } => {
            SourceError::Status { status: *status, message: String::new() }.to_string()
        }
        other => other.to_string(),
    }
}

/// Reads an answer that has to be JSON.
pub(super) fn read_json(fetched: &FetchResponse) -> Result<Value, SourceError> {
    check_status(fetched)?;
    let content_type = content_type(fetched);
    if !content_type.to_ascii_lowercase().contains("json") {
        return Err(SourceError::NotJson { content_type });
    }
    serde_json::from_slice(&fetched.body)
        .map_err(|error| SourceError::Unreadable { what: format!("not valid JSON, {error}") })
}

/// Checks that an answer is a whole one that succeeded.
pub(super) fn check_status(fetched: &FetchResponse) -> Result<(), SourceError> {
    let status = fetched.status;
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(SourceError::Limited { retry_after: retry_after(&fetched.headers) });
    }
    if status.is_redirection() {
        return Err(SourceError::Redirect { status: status.as_u16() });
    }
    if !status.is_success() {
        let is_json = content_type(fetched).to_ascii_lowercase().contains("json");
        let message = if is_json { message(&fetched.body) } else { String::new() };
        return Err(SourceError::Status { status: status.as_u16(), message });
    }
    if fetched.truncated {
        return Err(SourceError::Unreadable { what: "it broke off".to_owned() });
    }
    Ok(())
}

/// Returns the type of an answer; empty when it has none.
pub(super) fn content_type(fetched: &FetchResponse) -> String {
    text_of(&fetched.headers, CONTENT_TYPE.as_str())
}

fn text_of(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// Returns what a body of an error says, where such bodies usually say it.
fn message(body: &[u8]) -> String {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return String::new() };
    let places = [
        "/error",
        "/message",
        "/error/message",
        "/error/reason",
        "/error_message",
        "/detail",
        "/error/detail",
        "/error/info",
    ];
    let found = places.iter().find_map(|place| body.pointer(place).and_then(Value::as_str));
    found.map(|text| shortened(text, 200)).unwrap_or_default()
}
