//! Why a call to the service failed.

use std::fmt;
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use websvc_transport::{FetchError, FetchPhase, FetchResponse};
use websvc_types::{ErrorCode, Violation};

use crate::retry::retry_after;

/// Violations that the text of an error names; [`ApiError::details`] has all of them.
const DETAILS_SHOWN: usize = 5;

/// Why a call to the service failed. No text of it holds the key.
///
/// ```no_run
/// # async fn example(client: &websvc::Client) {
/// use websvc::ClientError;
/// use websvc::types::ErrorCode;
///
/// match client.search("asyncio gather").send().await {
///     Ok(found) => println!("{} results", found.data.web.unwrap_or_default().len()),
///     Err(error) if error.code() == Some(ErrorCode::RateLimited) => println!("try later: {:?}", error.retry_after()),
///     Err(ClientError::Api(refusal)) => println!("{}: {:?}", refusal.message, refusal.details),
///     Err(error) => println!("{error}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A setting of the client cannot be used.
    #[error("{what} is not usable: {rule}")]
    Config {
        /// Which setting.
        what: &'static str,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// The HTTP client could not be made of its settings.
    #[error("the http client could not be made")]
    Transport(#[from] websvc_transport::ClientBuildError),
    /// The request could not be written as JSON.
    #[error("the request could not be written as json")]
    Encode(#[source] serde_json::Error),
    /// No whole answer came: the service could not be reached, the connection broke, or the time was over.
    #[error("the service at {base} gave no usable answer")]
    Unreachable {
        /// The base address.
        base: String,
        /// Why.
        source: Box<FetchError>,
    },
    /// The service, or what stands before it, answered with a status other than 200.
    #[error("the service answered {0}")]
    Api(Box<ApiError>),
    /// The answer is not what the interface promises.
    #[error("the service answered {status} with what is no answer of websvc")]
    Decode {
        /// The HTTP status.
        status: StatusCode,
        /// Cause of the failure.
        source: serde_json::Error,
    },
}

/// An answer of a status other than 200.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// Stable code for programs, see `docs/errors.md`. Responses with status 408 have none, nor do responses of
    /// other services.
    pub code: Option<String>,
    /// Message for people.
    pub message: String,
    /// Every rule that the request breaks.
    pub details: Vec<Violation>,
    /// How long to wait before another attempt, if the answer says so: of a 429 or 503.
    pub retry_after: Option<Duration>,
    /// Under which the service's log has the request.
    pub request_id: Option<String>,
}

impl ClientError {
    /// Returns what was answered, if there was an answer of a status other than 200.
    #[must_use]
    pub fn refusal(&self) -> Option<&ApiError> {
        match self {
            Self::Api(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Returns the HTTP status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Api(refusal) => Some(refusal.status),
            Self::Decode { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns the service's code of what is wrong, if this crate knows it; [`ApiError::code`] has every code.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        let code = self.refusal()?.code.as_deref()?;
        ErrorCode::ALL.iter().copied().find(|known| known.as_str() == code)
    }

    /// Returns every rule that the request breaks; none when that is not what is wrong.
    #[must_use]
    pub fn details(&self) -> &[Violation] {
        self.refusal().map_or(&[], |refusal| &refusal.details)
    }

    /// Returns how long to wait before another attempt, if the answer says so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.refusal()?.retry_after
    }

    /// Tells whether the time was over, the call's own or that of the request in the service (status 408).
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Unreachable { source, .. } => matches!(**source, FetchError::Timeout { .. }),
            _ => self.status() == Some(StatusCode::REQUEST_TIMEOUT),
        }
    }

    /// Tells whether the request has certainly not reached the service: it was not found, not connected to, or not
    /// trusted.
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

    /// Tells what another attempt could do.
    pub(crate) fn prospect(&self) -> Retryability {
        match self {
            Self::Unreachable { source, .. } => match &**source {
                // Whom one does not trust now one will not trust in a second; a handshake that broke off is another
                // matter.
                FetchError::Tls { source, .. } if source.kind() == ErrorKind::InvalidData => {
                    Retryability::None
                }
                FetchError::Proxy { status: Some(status), .. } if !is_transient(*status) => {
                    Retryability::None
                }
                FetchError::Protocol { .. } => Retryability::Again,
                _ if self.is_connect() => Retryability::First,
                _ => Retryability::None,
            },
            Self::Api(refusal) => match refusal.status {
                StatusCode::TOO_MANY_REQUESTS => Retryability::First,
                status if is_transient(status) => Retryability::Again,
                _ => Retryability::None,
            },
            Self::Config { .. } | Self::Transport(_) | Self::Encode(_) | Self::Decode { .. } => {
                Retryability::None
            }
        }
    }
}

/// Effect of another attempt after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retryability {
    /// The attempt would fail in the same way.
    None,
    /// The service would execute the request for the first time.
    First,
    /// The service might execute the request a second time.
    Again,
}

fn is_transient(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE)
}

/// Fields of an error body; a body of another service may have any of them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    error: String,
    code: Option<String>,
    details: Value,
}

impl ApiError {
    pub(crate) fn of(answer: &FetchResponse) -> Self {
        let status = answer.status;
        let Body { error, code, details } = serde_json::from_slice(&answer.body).unwrap_or_default();
        let message = match error.as_str() {
            "" => "no error body of websvc".to_owned(),
            _ => error,
        };
        // A rule of a newer service that this crate has no name for must not hide the others.
        let details = details.as_array().into_iter().flatten();
        let details: Vec<_> = details.filter_map(|item| Violation::deserialize(item).ok()).collect();
        let message = without_first_detail(message, &details);
        let request_id = answer.headers.get("x-request-id").and_then(|id| id.to_str().ok());
        Self {
            status,
            code,
            message,
            details,
            retry_after: retry_after(&answer.headers, SystemTime::now()),
            request_id: request_id.map(str::to_owned),
        }
    }
}

/// Cuts off the first broken rule, which the service repeats in the text for clients that show no details.
fn without_first_detail(mut message: String, details: &[Violation]) -> String {
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
        for (place, Violation { path, code: _, message }) in
            self.details.iter().take(DETAILS_SHOWN).enumerate()
        {
            let lead = if place == 0 { ":" } else { ";" };
            write!(f, "{lead} {path}: {message}")?;
        }
        match self.details.len().saturating_sub(DETAILS_SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
