//! Error bodies, and the table of all error codes with their HTTP statuses.

use std::fmt;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

/// Body of every failed response.
///
/// # Examples
///
/// ```
/// use websvc_types::{ErrorBody, ErrorCode, ViolationCode};
///
/// let body: ErrorBody = serde_json::from_str(r#"{
///     "success": false,
///     "error": "Invalid request body: /limit: limit must be between 1 and 100, not 101",
///     "code": "BAD_REQUEST",
///     "details": [{ "path": "/limit", "code": "too_big", "message": "limit must be between 1 and 100, not 101" }]
/// }"#)?;
/// assert_eq!(body.code.as_deref(), Some(ErrorCode::BadRequest.as_str()));
/// assert_eq!(body.details.unwrap()[0].code, ViolationCode::TooBig);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct ErrorBody {
    /// Always false.
    pub success: bool,
    /// Message for people: what failed, why, and what to do.
    pub error: String,
    /// Stable code for programs, such as `BAD_REQUEST`. Absent if the whole request exceeded its `timeout` (status
    /// 408).
    pub code: Option<String>,
    /// All rules that the request breaks, at most 1000. Absent for other failures.
    pub details: Option<Vec<Violation>>,
    /// ID of the check of a monitor that is queued or running. Only with the code `MONITOR_CHECK_RUNNING`.
    #[serde(rename = "checkId")]
    pub check_id: Option<String>,
    /// Reason why feedback was rejected: `INVALID_BODY`, `SEARCH_NOT_FOUND`, `JOB_NOT_FOUND`, `SEARCH_FAILED` or
    /// `FEEDBACK_WINDOW_EXPIRED`. Only in responses to feedback.
    #[serde(rename = "feedbackErrorCode")]
    pub feedback_error_code: Option<String>,
}

/// Rule that a request breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct Violation {
    /// JSON Pointer (RFC 6901) to the value in the request body; empty for the body itself.
    pub path: String,
    /// The rule that is violated.
    pub code: ViolationCode,
    /// Message for people, which names the value and the rule.
    pub message: String,
}

/// Rules that a request can violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViolationCode {
    /// A required field is missing.
    Missing,
    /// The value has the wrong type.
    InvalidType,
    /// The value is not one of the allowed values.
    UnknownValue,
    /// The field is unknown, and this object does not allow unknown fields.
    UnknownField,
    /// The number is below its minimum.
    TooSmall,
    /// The number is above its maximum.
    TooBig,
    /// The string or list is shorter than its minimum.
    TooShort,
    /// The string or list is longer than its maximum.
    TooLong,
    /// The string does not have the required format.
    InvalidFormat,
    /// The field cannot be combined with another field.
    Conflict,
    /// The installation does not support the requested feature, and the field cannot be ignored.
    NotSupported,
}

macro_rules! error_codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $status:literal;)*) => {
        /// Failure condition with its code, HTTP status and description.
        ///
        /// Later versions may add conditions.
        ///
        /// # Examples
        ///
        /// ```
        /// use websvc_types::ErrorCode;
        ///
        /// assert_eq!(ErrorCode::RateLimited.as_str(), "RATE_LIMITED");
        /// assert_eq!(ErrorCode::RateLimited.status(), 429);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[doc = $doc])* $name,)*
        }

        impl ErrorCode {
            /// All conditions, ordered by status.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name),*];

            /// Returns the code as it appears in the error body.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $code,)* }
            }

            /// Returns the HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(ErrorCode::$name => $status,)* }
            }

            /// Returns the description of the condition, for the documentation.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$name => concat!($($doc),*).trim_ascii(),)* }
            }
        }
    };
}

error_codes! {
    /// The body or a parameter of the query string breaks rules; `details` lists every violation.
    BadRequest = "BAD_REQUEST", 400;
    /// The body is not valid JSON; the text gives the line and column.
    BadRequestInvalidJson = "BAD_REQUEST_INVALID_JSON", 400;
    /// The request has actions, but no browser is installed.
    ScrapeActionsNotSupported = "SCRAPE_ACTIONS_NOT_SUPPORTED", 400;
    /// The page has no medium whose sound the format `audio` could return.
    ScrapeAudioUnsupportedUrl = "SCRAPE_AUDIO_UNSUPPORTED_URL", 400;
    /// The type of the uploaded file is not supported.
    UnsupportedFileType = "UNSUPPORTED_FILE_TYPE", 400;
    /// The request has options that do not apply to uploaded files; `details` lists them.
    ParseUnsupportedOptions = "PARSE_UNSUPPORTED_OPTIONS", 400;
    /// The API key is missing, malformed, unknown or no longer valid.
    Unauthorized = "UNAUTHORIZED", 401;
    /// The team does not have enough credits.
    InsufficientCredits = "INSUFFICIENT_CREDITS", 402;
    /// The team or the key lacks a permission that the request needs.
    Forbidden = "FORBIDDEN", 403;
    /// Threat protection blocks the URL.
    UnsafeDomainBlocked = "unsafe_domain_blocked", 403;
    /// The address guard blocks the URL.
    ScrapeForbiddenUrl = "SCRAPE_FORBIDDEN_URL", 403;
    /// The site refuses access to the media file of the page: it is private, needs a login, or is not offered in this country; the
    /// text has its reason.
    ScrapeMediaAccessDenied = "SCRAPE_MEDIA_ACCESS_DENIED", 403;
    /// The path or the resource does not exist.
    NotFound = "NOT_FOUND", 404;
    /// The search that the feedback is about is unknown, or may not be rated.
    SearchNotFound = "SEARCH_NOT_FOUND", 404;
    /// The scrape, map or uploaded file that the feedback is about is unknown, or may not be rated.
    JobNotFound = "JOB_NOT_FOUND", 404;
    /// `minAge` is set and the cache has no page of that age.
    ScrapeNoCachedData = "SCRAPE_NO_CACHED_DATA", 404;
    /// `lockdown` is set and the cache has no page that is fresh enough.
    ScrapeLockdownCacheMiss = "SCRAPE_LOCKDOWN_CACHE_MISS", 404;
    /// The path does not support this method; the header `Allow` lists the supported ones.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// The request exceeded its `timeout`.
    RequestTimeout = "REQUEST_TIMEOUT", 408;
    /// The map exceeded its time before it found any URL.
    MapTimeout = "MAP_TIMEOUT", 408;
    /// The scrape of the page exceeded its time.
    ScrapeTimeout = "SCRAPE_TIMEOUT", 408;
    /// Another request is saving the same profile; only one can at a time.
    ProfileLocked = "PROFILE_LOCKED", 409;
    /// The job has already ended.
    JobEnded = "JOB_ENDED", 409;
    /// The `x-idempotency-key` was used before, and its job is still stored.
    IdempotencyKeyUsed = "IDEMPOTENCY_KEY_USED", 409;
    /// The monitor is paused.
    MonitorPaused = "MONITOR_PAUSED", 409;
    /// A check of the monitor is queued or running; `checkId` has its ID.
    MonitorCheckRunning = "MONITOR_CHECK_RUNNING", 409;
    /// A run of the thread has not ended; the next turn can start then.
    AgentThreadRunning = "AGENT_THREAD_RUNNING", 409;
    /// The page of the scrape cannot be opened again: its URL and options were not retained, or opening it failed; scrape it
    /// again.
    InteractReplayUnavailable = "INTERACT_REPLAY_UNAVAILABLE", 409;
    /// The browser of the session runs in another process of the service, which announces no address.
    SessionOnOtherReplica = "SESSION_ON_OTHER_REPLICA", 409;
    /// The search that the feedback is about failed.
    SearchFailed = "SEARCH_FAILED", 409;
    /// The result is too old to be rated.
    FeedbackWindowExpired = "FEEDBACK_WINDOW_EXPIRED", 409;
    /// The browser session has ended.
    BrowserSessionEnded = "BROWSER_SESSION_ENDED", 410;
    /// The artifact has expired or was evicted by newer ones, the upload URL was used before, or the path is of version 0.
    Gone = "GONE", 410;
    /// The body exceeds the size limit.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413;
    /// The `Content-Type` of the body is not supported.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415;
    /// The range is outside the artifact; the header `Content-Range` gives its length.
    RangeNotSatisfiable = "RANGE_NOT_SATISFIABLE", 416;
    /// The rate limit is exceeded; the header `Retry-After` gives the seconds to wait.
    RateLimited = "RATE_LIMITED", 429;
    /// The team has as many upload URLs as it may whose files are not converted yet; convert them, or wait until they expire.
    ParseUploadLimit = "PARSE_UPLOAD_UNPARSED_LIMIT_REACHED", 429;
    /// An internal error; the log has it under the request ID.
    UnknownError = "UNKNOWN_ERROR", 500;
    /// The site could not be mapped; the text gives the reason.
    MapFailed = "MAP_FAILED", 500;
    /// The host name of the page could not be resolved.
    ScrapeDnsResolutionError = "SCRAPE_DNS_RESOLUTION_ERROR", 500;
    /// The TLS connection to the host of the page failed.
    ScrapeSslError = "SCRAPE_SSL_ERROR", 500;
    /// The host of the page is unreachable or its response is not valid HTTP.
    ScrapeSiteError = "SCRAPE_SITE_ERROR", 500;
    /// An action failed; the text gives its index, counted from 0, and the reason.
    ScrapeActionError = "SCRAPE_ACTION_ERROR", 500;
    /// The page exceeded its memory limit in the browser and was stopped.
    ScrapeMemoryExceeded = "SCRAPE_MEMORY_EXCEEDED", 500;
    /// The page is a file of a type that is not supported.
    ScrapeUnsupportedFileError = "SCRAPE_UNSUPPORTED_FILE_ERROR", 500;
    /// The language of the code is not available on this installation; the text gives the reason.
    InteractLanguageUnavailable = "INTERACT_LANGUAGE_UNAVAILABLE", 501;
    /// The operation needs a language model, and none is configured.
    LlmNotConfigured = "LLM_NOT_CONFIGURED", 501;
    /// The session is starting, its replica does not respond, or its browser is switched off, not installed, or does not
    /// start.
    BrowserUnavailable = "BROWSER_UNAVAILABLE", 503;
    /// No search source is available; the text names each with its reason.
    SearchUnavailable = "SEARCH_UNAVAILABLE", 503;
    /// The database does not respond, or cannot be read or written; the header `Retry-After` gives the seconds to wait.
    DatabaseUnavailable = "DATABASE_UNAVAILABLE", 503;
    /// The identity provider of the operator does not respond, so its tokens cannot be checked; the header `Retry-After` gives the
    /// seconds to wait.
    IdentityProviderUnavailable = "IDENTITY_PROVIDER_UNAVAILABLE", 503;
    /// The disk of the service is full, so nothing can be stored.
    StorageFull = "STORAGE_FULL", 503;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_have_error_statuses() {
        let mut codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
        assert!(ErrorCode::ALL.iter().all(|code| (400..600).contains(&code.status())));
    }
}
