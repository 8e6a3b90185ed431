//! Errors of calls to the service.

use std::fmt;
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use websvc_transport::{FetchError, FetchPhase, FetchResponse};
use websvc_types::{ErrorCode, Violation};

use crate::retry::retry_after;

/// Maximum number of violations in the text of an error; [`ApiError::details`] has all of them.
const MAX_DISPLAYED_VIOLATIONS: usize = 5;

/// Error of a call to the service.
///
/// Neither its `Display` nor its `Debug` output contains the API key.
///
/// # Examples
///
/// ```no_run
/// use websvc::ClientError;
/// use websvc::types::ErrorCode;
///
/// # async fn example(client: &websvc::Client) {
/// match client.search("asyncio gather").send().await {
///     Ok(response) => println!("{} results", response.data.web.unwrap_or_default().len()),
///     Err(error) if error.code() == Some(ErrorCode::RateLimited) => {
///         println!("try again after {:?}", error.retry_after());
///     }
///     Err(ClientError::Api(error)) => println!("{}: {:?}", error.message, error.details),
///     Err(error) if error.is_connect() => println!("the service is not reachable"),
///     Err(error) => println!("{error}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A setting of the client is invalid.
    #[error("invalid {setting}: {rule}")]
    Config {
        /// Name of the setting.
        setting: &'static str,
        /// Rule that the value breaks.
        rule: &'static str,
    },
    /// The HTTP client cannot be created with these settings.
    #[error("cannot create the HTTP client")]
    Transport(#[from] websvc_transport::ClientBuildError),
    /// The request cannot be serialized as JSON.
    #[error("cannot serialize the request as JSON")]
    Encode(#[source] serde_json::Error),
    /// No complete response arrived: the service is not reachable, the connection broke, or the time limit was exceeded.
    #[error("the request to {base} failed")]
    Unreachable {
        /// Base URL of the service.
        base: String,
        /// Cause of the failure.
        source: Box<FetchError>,
    },
    /// The service, or a proxy in front of it, responded with a status other than 200.
    #[error("the service responded with {0}")]
    Api(Box<ApiError>),
    /// The response is not one of the interface.
    #[error("unexpected response body (HTTP {status})")]
    Decode {
        /// HTTP status of the response.
        status: StatusCode,
        /// Cause of the failure.
        source: serde_json::Error,
    },
}

/// Response of the service with an error: a status other than 200, or status 200 with an error body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiError {
    /// HTTP status.
    pub status: StatusCode,
    /// Stable code for programs, such as `RATE_LIMITED`. None for a request that exceeded its `timeout` (status 408), and
    /// for a response that is not from websvc.
    pub code: Option<String>,
    /// Message for people.
    pub message: String,
    /// All rules that the request breaks.
    pub details: Vec<Violation>,
    /// Time to wait before the next attempt, from the header `Retry-After`.
    pub retry_after: Option<Duration>,
    /// ID of the request in the log of the service.
    pub request_id: Option<String>,
}

impl ClientError {
    /// Returns the error response of the service, if there is one.
    #[must_use]
    pub fn api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the HTTP status, if there was a response.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Api(error) => Some(error.status),
            Self::Decode { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns the error code of the service, if this crate knows it. [`ApiError::code`] also has unknown codes.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        let code = self.api_error()?.code.as_deref()?;
        ErrorCode::ALL.iter().copied().find(|known| known.as_str() == code)
    }

    /// Returns all rules that the request breaks. Empty for other failures.
    #[must_use]
    pub fn details(&self) -> &[Violation] {
        self.api_error().map_or(&[], |error| &error.details)
    }

    /// Returns the time to wait before the next attempt, if the response has the header `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.api_error()?.retry_after
    }

    /// Returns whether a time limit was exceeded: that of the call, or that of the request in the service (status 408).
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Unreachable { source, .. } => matches!(**source, FetchError::Timeout { .. }),
            _ => self.status() == Some(StatusCode::REQUEST_TIMEOUT),
        }
    }

    /// Returns whether the request certainly did not reach the service: its name did not resolve, the connection failed, or
    /// its certificate is not trusted.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        match self {
            Self::Unreachable { source, .. } => match **source {
                FetchError::Dns { .. }
                | FetchError::Connect { .. }
                | FetchError::Tls { .. }
                | FetchError::Proxy { .. }
                | FetchError::Timeout { phase: FetchPhase::Resolve | FetchPhase::Connect, .. } => true,
                FetchError::Timeout { phase: FetchPhase::Response | FetchPhase::Body, .. }
                | FetchError::Forbidden
                | FetchError::ForbiddenScheme { .. }
                | FetchError::ForbiddenHeader { .. }
                | FetchError::BadUrl { .. }
                | FetchError::TooLarge { .. }
                | FetchError::Decode { .. }
                | FetchError::TooManyRedirects { .. }
                | FetchError::RefusedByRule { .. }
                | FetchError::Protocol { .. } => false,
            },
            _ => false,
        }
    }

    /// Returns whether the request may be sent again.
    pub(crate) fn retryability(&self) -> Retryability {
        match self {
            Self::Unreachable { source, .. } => match &**source {
                // An invalid certificate stays invalid, unlike a handshake that broke off.
                FetchError::Tls { source, .. } if source.kind() == ErrorKind::InvalidData => {
                    Retryability::Never
                }
                FetchError::Proxy { status: Some(status), .. } if !is_transient(*status) => {
                    Retryability::Never
                }
                FetchError::Protocol { .. } => Retryability::IfIdempotent,
                _ if self.is_connect() => Retryability::Always,
                _ => Retryability::Never,
            },
            Self::Api(error) => match error.status {
                StatusCode::TOO_MANY_REQUESTS => Retryability::Always,
                status if is_transient(status) => Retryability::IfIdempotent,
                _ => Retryability::Never,
            },
            Self::Config { .. } | Self::Transport(_) | Self::Encode(_) | Self::Decode { .. } => {
                Retryability::Never
            }
        }
    }
}

/// Condition for sending a failed request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retryability {
    /// It would fail in the same way.
    Never,
    /// The service certainly did not process the request.
    Always,
    /// The service may have processed the request.
    IfIdempotent,
}

fn is_transient(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE)
}

/// Fields of an error body. A body that is not from websvc may lack any of them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorFields {
    error: String,
    code: Option<String>,
    details: Value,
}

impl ApiError {
    pub(crate) fn from_response(response: &FetchResponse) -> Self {
        let status = response.status;
        let fields = serde_json::from_slice(&response.body).unwrap_or_default();
        let ErrorFields { error, code, details } = fields;
        let message = match error.as_str() {
            "" => "the body is not a websvc error".to_owned(),
            _ => error,
        };
        // A violation code that this crate does not know must not hide the other violations.
        let details = details.as_array().into_iter().flatten();
        let details: Vec<_> = details.filter_map(|item| Violation::deserialize(item).ok()).collect();
        let message = without_first_violation(message, &details);
        let request_id = response.headers.get("x-request-id").and_then(|id| id.to_str().ok());
        Self {
            status,
            code,
            message,
            details,
            retry_after: retry_after(&response.headers, SystemTime::now()),
            request_id: request_id.map(str::to_owned),
        }
    }
}

/// Removes the first violation from the message. The service repeats it there for clients that do not show `details`.
fn without_first_violation(mut message: String, details: &[Violation]) -> String {
    if let Some(Violation { path, code: _, message: rule }) = details.first() {
        let path = if path.is_empty() { "/" } else { path };
        if let Some(start) = message.find(&format!(": {path}: {rule}")) {
            message.truncate(start);
        }
    }
    message
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.message)?;
        for (index, Violation { path, code: _, message }) in
            self.details.iter().take(MAX_DISPLAYED_VIOLATIONS).enumerate()
        {
            let separator = if index == 0 { ":" } else { ";" };
            write!(f, "{separator} {path}: {message}")?;
        }
        match self.details.len().saturating_sub(MAX_DISPLAYED_VIOLATIONS) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
