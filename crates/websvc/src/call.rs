//! Execution of one call: its attempts within the time limit.

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

/// Maximum size of a response, in bytes: a hundred results may each carry a page in several formats.
const RESPONSE_MAX_BYTES: u64 = 256 * 1024 * 1024;

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
    pub(crate) method: Method,
    /// Path below the base URL, without a leading slash.
    path: Cow<'static, str>,
    query: Option<String>,
    body: Option<Bytes>,
    /// Media type of the body.
    content_type: HeaderValue,
    /// Time limit of all attempts and the waits between them.
    timeout: Duration,
    /// Idempotency of the request.
    pub(crate) idempotency: Idempotency,
}

/// Effect of sending a request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idempotency {
    /// The same effect as sending it once.
    Idempotent,
    /// Possibly another effect than sending it once.
    NotIdempotent,
}

/// Returns an ID as one segment of a path: an ID with a slash must not change the path.
pub(crate) fn segment(id: &str) -> String {
    url::form_urlencoded::byte_serialize(id.as_bytes()).collect()
}

impl ApiCall {
    pub(crate) fn get(path: impl Into<Cow<'static, str>>, timeout: Duration) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            query: None,
            body: None,
            content_type: HeaderValue::from_static("application/json"),
            timeout,
            idempotency: Idempotency::Idempotent,
        }
    }

    /// Sets the query of the URL.
    pub(crate) fn query(mut self, query: String) -> Self {
        self.query = Some(query);
        self
    }

    /// Creates a DELETE request, which is idempotent.
    pub(crate) fn delete(path: impl Into<Cow<'static, str>>, timeout: Duration) -> Self {
        Self { method: Method::DELETE, ..Self::get(path, timeout) }
    }

    pub(crate) fn post<T: Serialize>(
        path: impl Into<Cow<'static, str>>,
        body: &T,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let body = serde_json::to_vec(body).map_err(ClientError::Encode)?;
        Ok(Self { method: Method::POST, body: Some(body.into()), ..Self::get(path, timeout) })
    }

    /// Creates a POST request with a body in another form than JSON.
    pub(crate) fn post_bytes(
        path: impl Into<Cow<'static, str>>,
        content_type: HeaderValue,
        body: Bytes,
        timeout: Duration,
    ) -> Self {
        Self { method: Method::POST, body: Some(body), content_type, ..Self::get(path, timeout) }
    }

    /// Creates a PATCH request. Its fields replace others, so sending it twice has the same effect as sending it once.
    pub(crate) fn patch<T: Serialize>(
        path: impl Into<Cow<'static, str>>,
        body: &T,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        Ok(Self { method: Method::PATCH, ..Self::post(path, body, timeout)? })
    }
}

impl HttpTransport {
    /// Sends the request until the response has status 200, or no further attempt is allowed or could finish in time.
    pub(crate) async fn call<T: DeserializeOwned>(&self, call: &ApiCall) -> Result<T, ClientError> {
        let started = Instant::now();
        let mut failed_attempts = 0;
        loop {
            let attempt_started = Instant::now();
            let remaining = call.timeout.saturating_sub(started.elapsed());
            let error = match self.attempt(call, remaining).await {
                Ok(response) => return decode(&response),
                Err(error) => error,
            };
            failed_attempts += 1;
            let Some(delay) = self.retry_delay(call, failed_attempts, &error) else { return Err(error) };
            let remaining = call.timeout.saturating_sub(started.elapsed());
            // The next attempt may take as long as this one.
            if delay.saturating_add(attempt_started.elapsed()) >= remaining {
                return Err(error);
            }
            tokio::time::sleep(delay).await;
        }
    }

    /// Returns the delay before the next attempt, or `None` if there is none.
    fn retry_delay(&self, call: &ApiCall, failed_attempts: u32, error: &ClientError) -> Option<Duration> {
        match (error.retryability(), call.idempotency) {
            (Retryability::Never, _) | (Retryability::IfIdempotent, Idempotency::NotIdempotent) => None,
            (Retryability::Always, _) | (Retryability::IfIdempotent, Idempotency::Idempotent) => {
                self.retry.delay(failed_attempts, error.retry_after())
            }
        }
    }

    async fn attempt(&self, call: &ApiCall, timeout: Duration) -> Result<FetchResponse, ClientError> {
        let response = self.send(call, timeout).await?;
        if response.status == StatusCode::OK {
            return Ok(response);
        }
        Err(api_error(&response))
    }

    /// Sends the request once and returns a response of any status.
    async fn send(&self, call: &ApiCall, timeout: Duration) -> Result<FetchResponse, ClientError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{}", self.base.path().trim_end_matches('/'), call.path));
        url.set_query(call.query.as_deref());
        let mut request = FetchRequest::get(url);
        request.method = call.method.clone();
        request.timeout = timeout;
        request.connect_timeout = self.connect_timeout;
        request.max_body_bytes = RESPONSE_MAX_BYTES;
        request.max_decoded_bytes = RESPONSE_MAX_BYTES;
        // A redirected POST could lose its body, and a redirect to another host must not get the key.
        request.redirects = RedirectPolicy::None;
        request.proxy.clone_from(&self.proxy);
        if let Some(authorization) = &self.authorization {
            request.headers.insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(body) = &call.body {
            request.headers.insert(CONTENT_TYPE, call.content_type.clone());
            request.body = Some(body.clone());
        }
        let response = self.http.fetch(request).await.map_err(|source| self.unreachable(source))?;
        if response.truncated {
            let host = self.base.host_str().unwrap_or_default().to_owned();
            let source = "the response ended early".into();
            return Err(self.unreachable(FetchError::Protocol { host, source }));
        }
        Ok(response)
    }

    /// Sends a health request once. Its response has status 200, or 503 with a body of the same type.
    pub(crate) async fn call_once<T: DeserializeOwned>(&self, call: &ApiCall) -> Result<T, ClientError> {
        let response = self.send(call, call.timeout).await?;
        match response.status {
            StatusCode::OK => decode(&response),
            StatusCode::SERVICE_UNAVAILABLE => {
                serde_json::from_slice(&response.body).map_err(|_other_body| api_error(&response))
            }
            _ => Err(api_error(&response)),
        }
    }

    fn unreachable(&self, source: FetchError) -> ClientError {
        ClientError::Unreachable { base: self.base.to_string(), source: Box::new(source) }
    }
}

fn api_error(response: &FetchResponse) -> ClientError {
    ClientError::Api(Box::new(ApiError::from_response(response)))
}

fn decode<T: DeserializeOwned>(response: &FetchResponse) -> Result<T, ClientError> {
    serde_json::from_slice(&response.body).map_err(|source| {
        // A scrape of a page whose host is not found fails with status 200 (docs/scraping.md).
        match serde_json::from_slice::<ErrorBody>(&response.body) {
            Ok(body) if !body.success => api_error(response),
            Ok(_) | Err(_) => ClientError::Decode { status: response.status, source },
        }
    })
}
