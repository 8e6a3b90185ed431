//! One call: its attempts, inside the time it has.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use url::Url;
use websvc_transport::{FetchError, FetchRequest, FetchResponse, Proxy, RedirectPolicy};
use websvc_types::ErrorBody;

use crate::error::{ApiError, ClientError, Retryability};
use crate::retry::RetryPolicy;

/// The largest answer: a hundred results may each bring a page in several formats.
const ANSWER_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Address and connection settings of the service.
#[derive(Debug)]
pub(crate) struct HttpTransport {
    pub(crate) base: Url,
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) connect_timeout: Duration,
    pub(crate) retry: RetryPolicy,
    pub(crate) http: websvc_transport::Client,
}

/// Request to the service.
#[derive(Debug)]
pub(crate) struct ApiCall {
    method: Method,
    path: Cow<'static, str>,
    query: Option<String>,
    body: Option<Bytes>,
    /// The time for all attempts and the waits between them.
    time: Duration,
    /// Idempotency of the request.
    pub(crate) repetition: Idempotency,
}

/// Effect of sending a request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idempotency {
    /// The same as doing it once.
    Harmless,
    /// More than doing it once.
    NotIdempotent,
}

impl ApiCall {
    pub(crate) fn get(path: impl Into<Cow<'static, str>>, time: Duration) -> Self {
        let (method, path) = (Method::GET, path.into());
        Self { method, path, query: None, body: None, time, repetition: Idempotency::Harmless }
    }

    /// Asks for a part of what is there.
    pub(crate) fn query(mut self, query: String) -> Self {
        self.query = Some(query);
        self
    }

    /// Takes something away; when it is done again, there is nothing to take.
    pub(crate) fn delete(path: impl Into<Cow<'static, str>>, time: Duration) -> Self {
        Self { method: Method::DELETE, ..Self::get(path, time) }
    }

    pub(crate) fn post<T: Serialize>(
        path: impl Into<Cow<'static, str>>,
        body: &T,
        time: Duration,
    ) -> Result<Self, ClientError> {
        let body = serde_json::to_vec(body).map_err(ClientError::Encode)?;
        Ok(Self { method: Method::POST, body: Some(body.into()), ..Self::get(path, time) })
    }
}

impl HttpTransport {
    /// Calls until there is an answer of status 200, or no attempt is left that could bring one in time.
    pub(crate) async fn call<A: DeserializeOwned>(&self, call: &ApiCall) -> Result<A, ClientError> {
        let started = Instant::now();
        let mut failed = 0;
        loop {
            let began = Instant::now();
            let left = call.time.saturating_sub(started.elapsed());
            let failure = match self.attempt(call, left).await {
                Ok(answer) => return read(&answer),
                Err(failure) => failure,
            };
            failed += 1;
            let Some(wait) = self.wait(call, failed, &failure) else { return Err(failure) };
            let left = call.time.saturating_sub(started.elapsed());
            if wait.saturating_add(began.elapsed()) >= left {
                return Err(failure);
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Returns how long to wait before the next attempt, if there should be one.
    fn wait(&self, call: &ApiCall, failed: u32, failure: &ClientError) -> Option<Duration> {
        match (failure.prospect(), call.repetition) {
            (Retryability::None, _) | (Retryability::Again, Idempotency::NotIdempotent) => None,
            (Retryability::First, _) | (Retryability::Again, Idempotency::Harmless) => {
                self.retry.wait(failed, failure.retry_after())
            }
        }
    }

    async fn attempt(&self, call: &ApiCall, time: Duration) -> Result<FetchResponse, ClientError> {
        let answer = self.ask(call, time).await?;
        if answer.status == StatusCode::OK {
            return Ok(answer);
        }
        Err(ClientError::Api(Box::new(ApiError::of(&answer))))
    }

    /// Asks once, for an answer of any status.
    async fn ask(&self, call: &ApiCall, time: Duration) -> Result<FetchResponse, ClientError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{}", self.base.path().trim_end_matches('/'), call.path));
        url.set_query(call.query.as_deref());
        let mut request = FetchRequest::get(url);
        request.method = call.method.clone();
        request.timeout = time;
        request.connect_timeout = self.connect_timeout;
        request.max_body_bytes = ANSWER_MAX_BYTES;
        request.max_decoded_bytes = ANSWER_MAX_BYTES;
        // A redirect of a POST would lose its body, and one to another host must not get the key.
        request.redirects = RedirectPolicy::None;
        request.proxy.clone_from(&self.proxy);
        if let Some(authorization) = &self.authorization {
            request.headers.insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(body) = &call.body {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = Some(body.clone());
        }
        let answer = self.http.fetch(request).await.map_err(|source| self.unreachable(source))?;
        if answer.truncated {
            let host = self.base.host_str().unwrap_or_default().to_owned();
            let source = "the answer broke off before its end".into();
            return Err(self.unreachable(FetchError::Protocol { host, source }));
        }
        Ok(answer)
    }

    /// Asks once for how the service is, which it says with a status of 200 or 503.
    pub(crate) async fn call_once<A: DeserializeOwned>(&self, call: &ApiCall) -> Result<A, ClientError> {
        let answer = self.ask(call, call.time).await?;
        match answer.status {
            StatusCode::OK => read(&answer),
            StatusCode::SERVICE_UNAVAILABLE => {
                let refused = |_other_body| ClientError::Api(Box::new(ApiError::of(&answer)));
                serde_json::from_slice(&answer.body).map_err(refused)
            }
            _ => Err(ClientError::Api(Box::new(ApiError::of(&answer)))),
        }
    }

    fn unreachable(&self, source: FetchError) -> ClientError {
        ClientError::Unreachable { base: self.base.to_string(), source: Box::new(source) }
    }
}

fn read<A: DeserializeOwned>(answer: &FetchResponse) -> Result<A, ClientError> {
    serde_json::from_slice(&answer.body).map_err(|source| {
        // A page whose host was not found is answered with status 200 (docs/scraping.md).
        match serde_json::from_slice::<ErrorBody>(&answer.body) {
            Ok(failure) if !failure.success => ClientError::Api(Box::new(ApiError::of(answer))),
            Ok(_) | Err(_) => ClientError::Decode { status: answer.status, source },
        }
    })
}
