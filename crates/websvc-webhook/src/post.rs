//! One try to deliver a body.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use url::Url;
use websvc_transport::{BodyMode, Client, FetchError, FetchRequest, RedirectPolicy};

use crate::secret::SigningSecret;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Body to post, and its destination.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    /// By which it is known when it comes again.
    pub id: String,
    /// JSON.
    pub body: Bytes,
    /// Headers beside those of the signature, which win.
    pub headers: HeaderMap,
    /// How long the other side may take to acknowledge.
    pub patience: Duration,
}

/// Why a body was not taken. The text names no address: it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// It was answered, and not with a status of 200 to 299.
    #[error("it answers with status {status}")]
    Status {
        /// The status.
        status: u16,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The guard refuses the address.
    #[error("its address may not be connected to")]
    Forbidden,
    /// It was not answered, for this reason.
    #[error("{0}")]
    Unreachable(&'static str),
}

/// Posts a message once, signed; a status of 200 to 299 acknowledges it, whatever follows it. Redirects are not followed.
///
/// # Errors
/// [`PostError`]
pub async fn post(
    client: &Client,
    url: Url,
    secret: &SigningSecret,
    message: WebhookRequest,
) -> Result<u16, PostError> {
    let WebhookRequest { id, body, headers, patience } = message;
    let timestamp = Timestamp::now().as_second();
    let signature = secret.sign(&id, timestamp, &body);
    let value =
        |text: &str| HeaderValue::from_str(text).map_err(|_| PostError::Unreachable("a header is not valid"));
    let mut request = FetchRequest::post(url, body);
    request.headers = headers;
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers.insert(ID, value(&id)?);
    request.headers.insert(TIMESTAMP, HeaderValue::from(timestamp));
    request.headers.insert(SIGNATURE, value(&signature)?);
    request.timeout = patience;
    request.connect_timeout = request.connect_timeout.min(patience);
    // Nothing in the body of an answer counts, so that nothing about it may undo the status.
    request.body_mode = BodyMode::Head;
    request.headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("identity"));
    request.redirects = RedirectPolicy::None;
    let answer = client.fetch(request).await.map_err(|error| unreachable(&error))?;
    let status = answer.status.as_u16();
    if answer.status.is_success() {
        return Ok(status);
    }
    let seconds = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Err(PostError::Status { status, retry_after: seconds.map(Duration::from_secs) })
}

/// Tells what went wrong without the host and without any source.
fn unreachable(error: &FetchError) -> PostError {
    PostError::Unreachable(match error {
        FetchError::Forbidden | FetchError::ForbiddenScheme { .. } => return PostError::Forbidden,
        FetchError::Timeout { .. } => "it did not answer in time",
        FetchError::Dns { .. } => "its host was not found",
        FetchError::Connect { .. } => "it cannot be connected to",
        FetchError::Tls { .. } => "there is no secure connection to it",
        _ => "it did not answer",
    })
}
