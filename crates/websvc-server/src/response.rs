//! Stage 11, encode: response or error to status and JSON. The only place that builds an error body.

use std::error::Error;

use http::header::{
    ALLOW, CONTENT_RANGE, CONTENT_TYPE, RETRY_AFTER, SEC_WEBSOCKET_VERSION, UPGRADE, WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;
use websvc_engine::EngineError;
use websvc_transport::{Body, BodyError};
use websvc_types::{ErrorBody, ErrorCode, Violation};
use websvc_validate::Rejection;

/// Seconds after which a client may try again when there is no room for what its request needs.
const EXHAUSTED_RETRY_AFTER_S: u64 = 60;

/// The answer to a request.
pub(crate) type HttpResponse = Response<Body>;

/// Why a request is not answered with what it asked for.
#[derive(Debug)]
pub(crate) struct ApiError {
    code: ErrorCode,
    /// The status of the answer, where it is not that of the code.
    answered: Option<u16>,
    text: String,
    details: Vec<Violation>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl ApiError {
    /// Makes a failure whose text the caller sees.
    pub(crate) fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        let headers = match code {
            ErrorCode::Unauthorized => vec![(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))],
            _ => Vec::new(),
        };
        Self { code, answered: None, text: text.into(), details: Vec::new(), headers }
    }

    /// Makes a failure of our own: the log gets the cause, the caller a word.
    pub(crate) fn internal(error: &(dyn Error + 'static), what: &'static str) -> Self {
        tracing::error!(error, "{what}");
        Self::new(ErrorCode::UnknownError, format!("An unexpected error occurred: {what}"))
    }

    /// Says that the path exists, for other methods.
    pub(crate) fn method_not_allowed(allow: &str) -> Self {
        let mut failure = Self::new(ErrorCode::MethodNotAllowed, format!("Method not allowed, use {allow}"));
        if let Ok(value) = HeaderValue::from_str(allow) {
            failure.headers.push((ALLOW, value));
        }
        failure
    }

    /// Says how long that is of which a part was asked for that it has not.
    pub(crate) fn range_not_satisfiable(bytes: u64) -> Self {
        let text = format!("the range is outside of the {bytes} bytes of the artifact");
        let mut failure = Self::new(ErrorCode::RangeNotSatisfiable, text);
        if let Ok(value) = HeaderValue::from_str(&format!("bytes */{bytes}")) {
            failure.headers.push((CONTENT_RANGE, value));
        }
        failure
    }

    /// Says that this is spoken in another way, in version 13 of WebSocket over HTTP/1.1.
    pub(crate) fn upgrade_required(text: &str) -> Self {
        let mut failure = Self::new(ErrorCode::BadRequest, text);
        failure.answered = Some(StatusCode::UPGRADE_REQUIRED.as_u16());
        failure.headers.push((UPGRADE, HeaderValue::from_static("websocket")));
        failure.headers.push((SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")));
        failure
    }

    /// Says when the caller may try again.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.push((RETRY_AFTER, HeaderValue::from(seconds)));
        self
    }

    /// Makes a failure that names every rule the request breaks.
    pub(crate) fn invalid(code: ErrorCode, details: Vec<Violation>) -> Self {
        Self { details, ..Self::new(code, "Invalid request body") }
    }

    /// Returns what went wrong in words, with every rule that was broken.
    pub(crate) fn as_text(&self) -> String {
        let rules = self.details.iter().map(|violation| format!("{}: {}", violation.path, violation.message));
        std::iter::once(self.text.clone()).chain(rules).collect::<Vec<_>>().join("\n")
    }

    /// Returns the HTTP status.
    pub(crate) fn status(&self) -> u16 {
        self.answered.unwrap_or(self.code.status())
    }

    /// Answers as official clients expect it of an operation on one page: a host that was not found is no failure of the
    /// request (clients.md, section 2.2).
    pub(crate) fn of_page(self) -> Self {
        let answered = (self.code == ErrorCode::ScrapeDnsResolutionError).then_some(200);
        Self { answered, ..self }
    }

    /// Returns the code of the error.
    pub(crate) fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Returns the text of the body's `error`: with the first broken rule, because many clients show nothing else.
    fn headline(&self) -> String {
        let Some(first) = self.details.first() else { return self.text.clone() };
        let path = if first.path.is_empty() { "/" } else { &first.path };
        let headline = format!("{}: {path}: {}", self.text, first.message);
        match self.details.len() - 1 {
            0 => headline,
            more => format!("{headline} (and {more} more)"),
        }
    }

    pub(crate) fn into_response(self) -> HttpResponse {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = ErrorBody {
            success: false,
            error: self.headline(),
            code: wire_code(self.code),
            details: (!self.details.is_empty()).then_some(self.details),
        };
        let mut reply = json(status, &body);
        reply.headers_mut().extend(self.headers.into_iter().map(|(name, value)| (Some(name), value)));
        reply
    }
}

/// Returns the code as the body has it. The specification gives the body of a 408 without one (section 4.1).
fn wire_code(code: ErrorCode) -> Option<String> {
    (code != ErrorCode::RequestTimeout).then(|| code.as_str().to_owned())
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Json { line, column, message } => ApiError::new(
                ErrorCode::BadRequestInvalidJson,
                format!("Bad request, malformed JSON at line {line} column {column}: {message}"),
            ),
            Rejection::Invalid(violations) => ApiError::invalid(ErrorCode::BadRequest, violations),
            Rejection::Forbidden { message } => ApiError::new(ErrorCode::Forbidden, message),
            Rejection::Exhausted { message } => {
                ApiError::new(ErrorCode::RateLimited, message).retry_after(EXHAUSTED_RETRY_AFTER_S)
            }
        }
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { .. } => ApiError::new(ErrorCode::PayloadTooLarge, error.to_string()),
            BodyError::TimedOut => ApiError::new(ErrorCode::RequestTimeout, error.to_string()),
            BodyError::Broken(_) => ApiError::new(ErrorCode::BadRequest, error.to_string()),
        }
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let text = error.to_string();
        match error {
            EngineError::Timeout { .. } => {
                ApiError::new(ErrorCode::RequestTimeout, format!("Request timed out: {text}"))
            }
            EngineError::MapTimeout { .. } => {
                ApiError::new(ErrorCode::MapTimeout, format!("Request timed out: {text}"))
            }
            EngineError::MapFailed(_) => ApiError::new(ErrorCode::MapFailed, text),
            EngineError::NoSource { .. } => ApiError::new(ErrorCode::SearchUnavailable, text),
            EngineError::NotSupported { code, violations } => ApiError::invalid(code, violations),
            EngineError::Profile(error) if error.code() == ErrorCode::UnknownError => {
                ApiError::internal(&error, "the profile could not be read")
            }
            EngineError::Profile(error) | EngineError::Page(error) => ApiError::new(error.code(), text),
            EngineError::CacheMiss { code, message, bill: _taken_by_the_handler } => {
                ApiError::new(code, message)
            }
            other => ApiError::internal(&other, "the operation failed"),
        }
    }
}

/// Returns a JSON reply.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> HttpResponse {
    match serde_json::to_vec(value) {
        Ok(bytes) => with_type(status, "application/json", Body::from(bytes)),
        // Our own types always serialise: their maps have string keys and nothing in them fails.
        Err(error) => ApiError::internal(&error, "the reply could not be written").into_response(),
    }
}

/// Returns a reply of the given media type.
pub(crate) fn with_type(status: StatusCode, media_type: &'static str, body: Body) -> HttpResponse {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    reply
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_engine::Bill;
    use websvc_types::ViolationCode;

    use super::*;

    #[track_caller]
    fn check(failure: ApiError, status: u16, expected: &Value) {
        let reply = failure.into_response();
        assert_eq!(reply.status(), status);
        let bytes = reply.body().bytes().expect("an error body is whole");
        assert_eq!(&serde_json::from_slice::<Value>(bytes).unwrap(), expected);
    }

    #[test]
    fn a_timeout_has_the_body_of_the_specification() {
        let error = "Request timed out: the search did not finish within its timeout of 1000 ms";
        let failure = ApiError::from(EngineError::Timeout { timeout_ms: 1000, bill: Bill::default() });
        check(failure, 408, &json!({ "success": false, "error": error }));
    }

    #[test]
    fn an_unexpected_failure_has_the_body_of_the_specification() {
        let cause = std::io::Error::other("secrets of the machine");
        let error = "An unexpected error occurred: the index could not be read";
        let failure = ApiError::internal(&cause, "the index could not be read");
        check(failure, 500, &json!({ "success": false, "code": "UNKNOWN_ERROR", "error": error }));
    }

    #[test]
    fn error_text_carries_first_broken_rule() {
        let violation = |path: &str, message: &str| Violation {
            path: path.to_owned(),
            code: ViolationCode::TooBig,
            message: message.to_owned(),
        };
        let error_of = |details| {
            let reply = ApiError::invalid(ErrorCode::BadRequest, details).into_response();
            let bytes = reply.body().bytes().expect("an error body is whole");
            serde_json::from_slice::<Value>(bytes).unwrap()["error"].clone()
        };
        let limit = violation("/limit", "limit must be between 1 and 100, not 101");
        let one = "Invalid request body: /limit: limit must be between 1 and 100, not 101";
        assert_eq!(error_of(vec![limit.clone()]), json!(one));
        assert_eq!(error_of(vec![limit.clone(), limit]), json!(format!("{one} (and 1 more)")));
        let whole = violation("", "body must be an object");
        assert_eq!(error_of(vec![whole]), json!("Invalid request body: /: body must be an object"));
    }

    #[test]
    fn too_many_requests_are_told_when_to_come_back() {
        let reply =
            ApiError::new(ErrorCode::RateLimited, "Rate limit exceeded").retry_after(7).into_response();
        assert_eq!((reply.status().as_u16(), &reply.headers()[RETRY_AFTER]), (429, &HeaderValue::from(7)));
    }
}
