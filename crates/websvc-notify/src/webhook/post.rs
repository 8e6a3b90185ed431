//! One attempt to deliver a webhook request.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use url::Url;
use websvc_transport::{BodyMode, Client, FetchError, FetchPhase, FetchRequest, RedirectPolicy, retry_after};

use super::secret::SigningSecret;
use crate::channel::ChannelMessage;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// A request to a webhook.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    /// The ID, by which the receiver detects repeated deliveries.
    pub id: String,
    /// The time of the signature. Receivers refuse requests that are too old by their clocks.
    pub sent_at: Timestamp,
    /// The body, which is JSON.
    pub body: Bytes,
    /// Additional headers. Headers of the signature take precedence.
    pub headers: HeaderMap,
    /// The maximum time until the response.
    pub timeout: Duration,
}

/// The error of a delivery. The text does not contain the URL, which may contain a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// The status of the response is not 200 to 299.
    #[error("responded with status {status}")]
    Status {
        /// The status.
        status: u16,
        /// The value of `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The address guard refused the address.
    #[error("its address is not allowed")]
    Forbidden,
    /// The request was not sent, for this reason.
    #[error("{0}")]
    Unreachable(&'static str),
    /// There was no response, for this reason. The receiver may have got the request.
    #[error("{0}")]
    NoResponse(&'static str),
}

/// Sends a signed request once and returns the status of the response. The body of the response is ignored, and redirects
/// are not followed.
///
/// # Errors
/// [`PostError`] if there is no response, or its status is not 200 to 299.
pub async fn post(
    client: &Client,
    url: Url,
    secret: &SigningSecret,
    request: WebhookRequest,
) -> Result<u16, PostError> {
    let WebhookRequest { id, sent_at, body, headers, timeout } = request;
    let timestamp = sent_at.as_second();
    let signature = secret.sign(&id, timestamp, &body);
    let value =
        |text: &str| HeaderValue::from_str(text).map_err(|_| PostError::Unreachable("a header is not valid"));
    let mut headers = headers;
    headers.insert(ID, value(&id)?);
    headers.insert(TIMESTAMP, HeaderValue::from(timestamp));
    headers.insert(SIGNATURE, value(&signature)?);
    send(client, FetchRequest { headers, ..FetchRequest::post(url, body) }, timeout).await
}

/// Sends JSON once without a signature, to a receiver that knows the sender by its URL or headers, and returns the status of
/// the response. The body of the response is ignored, and redirects are not followed.
///
/// # Errors
/// [`PostError`] if there is no response, or its status is not 200 to 299.
pub async fn send_message(
    client: &Client,
    message: ChannelMessage,
    timeout: Duration,
) -> Result<u16, PostError> {
    let ChannelMessage { method, url, headers, body } = message;
    let request = FetchRequest { method, headers, ..FetchRequest::post(url, body) };
    send(client, request, timeout).await
}

async fn send(client: &Client, mut request: FetchRequest, timeout: Duration) -> Result<u16, PostError> {
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.timeout = timeout;
    request.connect_timeout = request.connect_timeout.min(timeout);
    // The body does not matter, so an invalid body must not become an error.
    request.body_mode = BodyMode::Head;
    request.headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("identity"));
    request.redirects = RedirectPolicy::None;
    let response = client.fetch(request).await.map_err(|error| to_post_error(&error))?;
    let status = response.status.as_u16();
    if response.status.is_success() {
        return Ok(status);
    }
    Err(PostError::Status { status, retry_after: retry_after(&response.headers) })
}

/// Converts an error of the client, without the host and the sources.
fn to_post_error(error: &FetchError) -> PostError {
    match error {
        FetchError::Forbidden | FetchError::ForbiddenScheme { .. } => PostError::Forbidden,
        FetchError::Timeout { phase: FetchPhase::Resolve | FetchPhase::Connect, .. } => {
            PostError::Unreachable("no response in time")
        }
        FetchError::Timeout { .. } => PostError::NoResponse("no response in time"),
        FetchError::Dns { .. } => PostError::Unreachable("host not found"),
        FetchError::Connect { .. } => PostError::Unreachable("could not connect"),
        FetchError::Tls { .. } => PostError::Unreachable("TLS handshake failed"),
        _ => PostError::NoResponse("no response"),
    }
}
