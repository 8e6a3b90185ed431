//! Stage 11, encode: a response or an error becomes a status and JSON. Only this module builds error bodies.

use std::error::Error;
use std::io;

use http::header::{
    ALLOW, CONTENT_RANGE, CONTENT_TYPE, LOCATION, RETRY_AFTER, SEC_WEBSOCKET_VERSION, UPGRADE,
    WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;
use websvc_artifacts::ArtifactError;
use websvc_engine::EngineError;
use websvc_index::IndexError;
use websvc_store::StoreError;
use websvc_tasks::TaskError;
use websvc_transport::{Body, BodyError};
use websvc_types::{ErrorBody, ErrorCode, Violation};
use websvc_validate::Rejection;

/// `Retry-After` of a request that was rejected because a shared resource is exhausted, in seconds.
const EXHAUSTED_RETRY_AFTER_S: u64 = 60;

/// `Retry-After` of a request that needs the database while it does not respond, in seconds.
const DATABASE_RETRY_AFTER_S: u64 = 2;

/// `Retry-After` of a request that cannot be stored, because the disk is full, in seconds.
const DISK_FULL_RETRY_AFTER_S: u64 = 60;

/// A response to a client.
pub(crate) type HttpResponse = Response<Body>;

/// An error that a client gets as its response.
#[derive(Debug)]
pub(crate) struct ApiError {
    code: ErrorCode,
    /// The status of the response, if it differs from the status of the code.
    status_override: Option<u16>,
    text: String,
    details: Vec<Violation>,
    /// The check that prevents another one.
    check_id: Option<String>,
    /// The reason why feedback was rejected.
    feedback_error_code: Option<&'static str>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl ApiError {
    /// Creates an error with a text for the client.
    pub(crate) fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        let headers = match code {
            ErrorCode::Unauthorized => vec![(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))],
            _ => Vec::new(),
        };
        let text = text.into();
        Self {
            code,
            status_override: None,
            text,
            details: Vec::new(),
            check_id: None,
            feedback_error_code: None,
            headers,
        }
    }

    /// Creates an internal error: logs the cause, and tells the client only which action failed. If the cause is an
    /// [outage](Outage) of the storage, the client learns that, and may try again.
    pub(crate) fn internal(error: &(dyn Error + 'static), what: &'static str) -> Self {
        let Some(outage) = Outage::from_error(error) else {
            tracing::error!(error, "{what}");
            return Self::new(ErrorCode::UnknownError, format!("An unexpected error occurred: {what}"));
        };
        tracing::warn!(error, "{what}");
        let (code, text, retry_after_s) = match outage {
            Outage::NoResponse => {
                let text =
                    format!("The database does not respond: try again in {DATABASE_RETRY_AFTER_S} seconds");
                (ErrorCode::DatabaseUnavailable, text, DATABASE_RETRY_AFTER_S)
            }
            Outage::NoAccess => {
                let text = "The database cannot be read or written: the log of the service has the reason";
                (ErrorCode::DatabaseUnavailable, text.to_owned(), DATABASE_RETRY_AFTER_S)
            }
            Outage::DiskFull => {
                let text = "The disk of the service is full: nothing can be stored until there is space";
                (ErrorCode::StorageFull, text.to_owned(), DISK_FULL_RETRY_AFTER_S)
            }
        };
        Self::new(code, text).retry_after(retry_after_s)
    }

    /// Creates the 405 of a path that exists for other methods.
    pub(crate) fn method_not_allowed(allow: &str) -> Self {
        let mut error = Self::new(ErrorCode::MethodNotAllowed, format!("Method not allowed, use {allow}"));
        if let Ok(value) = HeaderValue::from_str(allow) {
            error.headers.push((ALLOW, value));
        }
        error
    }

    /// Creates the 416 of an artifact with this length.
    pub(crate) fn range_not_satisfiable(bytes: u64) -> Self {
        let text = format!("the range is outside of the {bytes} bytes of the artifact");
        let mut error = Self::new(ErrorCode::RangeNotSatisfiable, text);
        if let Ok(value) = HeaderValue::from_str(&format!("bytes */{bytes}")) {
            error.headers.push((CONTENT_RANGE, value));
        }
        error
    }

    /// Creates the 426 of a handshake that is not version 13 of WebSocket over HTTP/1.1.
    pub(crate) fn upgrade_required(text: &str) -> Self {
        let mut error = Self::new(ErrorCode::BadRequest, text);
        error.status_override = Some(StatusCode::UPGRADE_REQUIRED.as_u16());
        error.headers.push((UPGRADE, HeaderValue::from_static("websocket")));
        error.headers.push((SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13")));
        error
    }

    /// Creates the 421 of a request that another replica has sent to the wrong process (RFC 9110, section 15.5.20).
    pub(crate) fn misdirected() -> Self {
        let text = "The request has headers of a request between replicas that are not valid for this one";
        let status = StatusCode::MISDIRECTED_REQUEST.as_u16();
        Self { status_override: Some(status), ..Self::new(ErrorCode::BadRequest, text) }
    }

    /// Replaces the challenge of a 401.
    pub(crate) fn with_challenge(mut self, challenge: HeaderValue) -> Self {
        self.headers.retain(|(name, _)| name != WWW_AUTHENTICATE);
        self.headers.push((WWW_AUTHENTICATE, challenge));
        self
    }

    /// Adds the header `Retry-After`.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.push((RETRY_AFTER, HeaderValue::from(seconds)));
        self
    }

    /// Adds the ID of the check that is queued or running.
    pub(crate) fn with_check_id(self, check_id: String) -> Self {
        Self { check_id: Some(check_id), ..self }
    }

    /// Adds the reason why feedback was rejected, which official clients show.
    pub(crate) fn with_feedback_code(self) -> Self {
        let feedback_error_code = match self.code {
            ErrorCode::BadRequest | ErrorCode::BadRequestInvalidJson => Some("INVALID_BODY"),
            ErrorCode::SearchNotFound
            | ErrorCode::JobNotFound
            | ErrorCode::SearchFailed
            | ErrorCode::FeedbackWindowExpired => Some(self.code.as_str()),
            _ => None,
        };
        Self { feedback_error_code, ..self }
    }

    /// Creates an error that lists every rule the request breaks.
    pub(crate) fn invalid(code: ErrorCode, details: Vec<Violation>) -> Self {
        Self { details, ..Self::new(code, "Invalid request body") }
    }

    /// Creates an error that lists the rules that parameters of a query string break.
    pub(crate) fn invalid_query(details: Vec<Violation>) -> Self {
        Self { details, ..Self::new(ErrorCode::BadRequest, "Invalid query parameter") }
    }

    /// Returns the text of the error, with every broken rule on a line of its own.
    pub(crate) fn as_text(&self) -> String {
        let rules = self.details.iter().map(|violation| format!("{}: {}", violation.path, violation.message));
        std::iter::once(self.text.clone()).chain(rules).collect::<Vec<_>>().join("\n")
    }

    /// Returns the HTTP status.
    pub(crate) fn status(&self) -> u16 {
        self.status_override.unwrap_or(self.code.status())
    }

    /// Returns the error with the status that official clients expect from an operation on one page or site: 200 if the host
    /// was not found, because the request itself did not fail (clients.md, section 2.2).
    pub(crate) fn with_page_status(self) -> Self {
        let status_override = (self.code == ErrorCode::ScrapeDnsResolutionError).then_some(200);
        Self { status_override, ..self }
    }

    /// Creates the error of a page of a scrape that cannot be opened again: the client should scrape it again. Errors that
    /// would not go away by that stay as they are.
    pub(crate) fn with_replay_status(self) -> Self {
        let is_page_error = matches!(
            self.code,
            ErrorCode::ScrapeTimeout
                | ErrorCode::ScrapeDnsResolutionError
                | ErrorCode::ScrapeSslError
                | ErrorCode::ScrapeSiteError
                | ErrorCode::ScrapeActionError
                | ErrorCode::ScrapeMemoryExceeded
                | ErrorCode::ScrapeUnsupportedFileError
        );
        if !is_page_error {
            return self;
        }
        let text = format!("Replay context is unavailable: {}. Scrape the page again", self.text);
        Self { code: ErrorCode::InteractReplayUnavailable, text, ..self }
    }

    /// Returns the code of the error.
    pub(crate) fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Returns the field `error` of the body. It contains the first broken rule, because many clients show nothing else.
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
            check_id: self.check_id,
            feedback_error_code: self.feedback_error_code.map(str::to_owned),
        };
        let mut response = json(status, &body);
        response.headers_mut().extend(self.headers.into_iter().map(|(name, value)| (Some(name), value)));
        response
    }
}

/// Returns the field `code` of the body. In the specification, the body of a 408 has none (section 4.1).
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

impl From<TaskError> for ApiError {
    fn from(error: TaskError) -> Self {
        Self::internal(&error, "the database of jobs, monitors and runs failed")
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
            EngineError::Page(error) if Outage::from_error(&error).is_some() => {
                ApiError::internal(&error, "the page could not be read or stored")
            }
            EngineError::Profile(error) | EngineError::Page(error) => ApiError::new(error.code(), text),
            // The handler has taken the bill.
            EngineError::CacheMiss { code, message, bill: _ } => ApiError::new(code, message),
            other => ApiError::internal(&other, "the operation failed"),
        }
    }
}

/// Returns a JSON response.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> HttpResponse {
    match serde_json::to_vec(value) {
        Ok(bytes) => with_type(status, "application/json", Body::from(bytes)),
        // The types of this service always serialize: their maps have string keys, and no value can fail.
        Err(error) => ApiError::internal(&error, "the response could not be serialized").into_response(),
    }
}

/// Returns a redirect that repeats the request at another address.
pub(crate) fn redirect(location: HeaderValue) -> HttpResponse {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    response.headers_mut().insert(LOCATION, location);
    response
}

/// Returns a response of the given media type.
pub(crate) fn with_type(status: StatusCode, media_type: &'static str, body: Body) -> HttpResponse {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A state of the storage that makes requests fail until it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outage {
    /// The database does not respond, or has too many waiting requests.
    NoResponse,
    /// The system or the server refuses access to the database.
    NoAccess,
    /// The disk is full, or a quota is used up.
    DiskFull,
}

impl Outage {
    /// Returns the outage that caused a failure. Of several in the chain of causes, the last one is the most exact.
    fn from_error(error: &(dyn Error + 'static)) -> Option<Self> {
        let causes = std::iter::successors(Some(error), |&cause| cause.source());
        causes.filter_map(Self::of_cause).last()
    }

    fn of_cause(cause: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = cause.downcast_ref::<StoreError>() {
            return match error {
                StoreError::Unreachable { .. } | StoreError::Busy { .. } => Some(Self::NoResponse),
                StoreError::Io { .. } => Some(Self::NoAccess),
                StoreError::Full { .. } => Some(Self::DiskFull),
                _ => None,
            };
        }
        let is_full = match cause.downcast_ref::<io::Error>() {
            Some(error) => matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
            ),
            None => {
                matches!(cause.downcast_ref(), Some(ArtifactError::DiskFull { .. }))
                    || matches!(cause.downcast_ref(), Some(IndexError::Full { .. }))
            }
        };
        is_full.then_some(Self::DiskFull)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_engine::Bill;
    use websvc_scrape::ScrapeError;
    use websvc_types::ViolationCode;

    use super::*;

    #[track_caller]
    fn check(error: ApiError, status: u16, expected: &Value) {
        let response = error.into_response();
        assert_eq!(response.status(), status);
        let bytes = response.body().bytes().expect("an error body is in memory");
        assert_eq!(&serde_json::from_slice::<Value>(bytes).unwrap(), expected);
    }

    #[test]
    fn timeout_has_the_body_of_the_specification() {
        let text = "Request timed out: the search did not finish within its timeout of 1000 ms";
        let error = ApiError::from(EngineError::Timeout { timeout_ms: 1000, bill: Bill::default() });
        check(error, 408, &json!({ "success": false, "error": text }));
    }

    #[test]
    fn internal_error_has_the_body_of_the_specification() {
        let cause = io::Error::other("secrets of the machine");
        let text = "An unexpected error occurred: the index could not be read";
        let error = ApiError::internal(&cause, "the index could not be read");
        check(error, 500, &json!({ "success": false, "code": "UNKNOWN_ERROR", "error": text }));
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the jobs could not be read")]
    struct Outer(#[source] StoreError);

    #[test]
    fn database_that_does_not_respond_is_a_503_with_retry_after() {
        let source = io::Error::other("connection refused").into();
        let unreachable = StoreError::Unreachable { url: "postgres://db.internal/websvc".to_owned(), source };
        let error = ApiError::internal(&Outer(unreachable), "the keys could not be read");
        let header = error.headers.iter().find(|(name, _)| name == RETRY_AFTER).map(|(_, value)| value);
        assert_eq!(header, Some(&HeaderValue::from_static("2")));
        let text = "The database does not respond: try again in 2 seconds";
        check(error, 503, &json!({ "success": false, "code": "DATABASE_UNAVAILABLE", "error": text }));
    }

    #[test]
    fn full_disk_is_a_503_with_the_reason_wherever_it_is_found() {
        let path = || std::path::PathBuf::from("/var/lib/websvc");
        let causes: [Box<dyn Error>; 8] = [
            Box::new(Outer(StoreError::Full { path: path() })),
            Box::new(Outer(StoreError::Io {
                path: path(),
                source: Box::new(io::Error::from(io::ErrorKind::StorageFull)),
            })),
            Box::new(io::Error::from(io::ErrorKind::StorageFull)),
            Box::new(io::Error::from(io::ErrorKind::QuotaExceeded)),
            Box::new(io::Error::from(io::ErrorKind::FileTooLarge)),
            Box::new(ArtifactError::DiskFull { path: path(), bytes: 7 }),
            Box::new(websvc_engine::IngestError::Index(IndexError::Full { dir: path() })),
            Box::new(IndexError::Directory {
                dir: path(),
                source: io::Error::from(io::ErrorKind::StorageFull),
            }),
        ];
        let text = "The disk of the service is full: nothing can be stored until there is space";
        for cause in causes {
            let error = ApiError::internal(&*cause, "the job could not be stored");
            check(error, 503, &json!({ "success": false, "code": "STORAGE_FULL", "error": text }));
        }
        let page = ScrapeError::Shared(ScrapeError::Store(StoreError::Full { path: path() }).into());
        let error = ApiError::from(EngineError::Page(page));
        check(error, 503, &json!({ "success": false, "code": "STORAGE_FULL", "error": text }));
    }

    #[test]
    fn database_without_access_is_a_503_without_its_path() {
        let source = Box::new(io::Error::from(io::ErrorKind::PermissionDenied));
        let error = StoreError::Io { path: "/var/lib/websvc".into(), source };
        let text = "The database cannot be read or written: the log of the service has the reason";
        let error = ApiError::internal(&Outer(error), "the job could not be stored");
        check(error, 503, &json!({ "success": false, "code": "DATABASE_UNAVAILABLE", "error": text }));
    }

    #[test]
    fn error_text_carries_first_broken_rule() {
        let violation = |path: &str, message: &str| Violation {
            path: path.to_owned(),
            code: ViolationCode::TooBig,
            message: message.to_owned(),
        };
        let error_of = |details| {
            let response = ApiError::invalid(ErrorCode::BadRequest, details).into_response();
            let bytes = response.body().bytes().expect("an error body is in memory");
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
    fn rate_limit_error_has_retry_after() {
        let response =
            ApiError::new(ErrorCode::RateLimited, "Rate limit exceeded").retry_after(7).into_response();
        assert_eq!(
            (response.status().as_u16(), &response.headers()[RETRY_AFTER]),
            (429, &HeaderValue::from(7))
        );
    }
}
