//! The error bodies, and the table of every condition with its code and status.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of every failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// False.
    pub success: bool,
    /// What is wrong, for a person.
    pub error: String,
    /// What is wrong, for a program; see the table of statuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub code: Option<String>,
    /// Every rule that the request breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Violation>")]
    pub details: Option<Vec<Violation>>,
}

/// A rule that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// Where, as a JSON Pointer (RFC 6901) into the request body.
    pub path: String,
    /// Which rule.
    pub code: ViolationCode,
    /// The value and the rule, for a person.
    pub message: String,
}

/// The rules a request can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViolationCode {
    /// A required field is missing.
    Missing,
    /// The value has another type than the field.
    InvalidType,
    /// The value is none of those the field knows.
    UnknownValue,
    /// The field does not exist where no other fields are allowed.
    UnknownField,
    /// The number is below its minimum.
    TooSmall,
    /// The number is above its maximum.
    TooBig,
    /// The text or list is shorter than allowed.
    TooShort,
    /// The text or list is longer than allowed.
    TooLong,
    /// The text has not the form that the field wants.
    InvalidFormat,
    /// The field may not stand together with another.
    Conflict,
    /// This installation has not what the field asks for, and it may not be left out.
    NotSupported,
}

macro_rules! error_codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $status:literal;)*) => {
        /// A condition under which a request fails: its code, its status, and what it means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[doc = $doc])* $name,)*
        }

        impl ErrorCode {
            /// Every condition.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name),*];

            /// Returns the code as the body spells it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $code,)* }
            }

            /// Returns the HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(ErrorCode::$name => $status,)* }
            }

            /// Returns what the condition means, for the documentation.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$name => concat!($($doc),*).trim_ascii(),)* }
            }
        }
    };
}

error_codes! {
    /// The body breaks rules; `details` names every one.
    BadRequest = "BAD_REQUEST", 400;
    /// The body is not JSON; the text says at which line and column.
    BadRequestInvalidJson = "BAD_REQUEST_INVALID_JSON", 400;
    /// The request asks for actions and no browser is installed.
    ScrapeActionsNotSupported = "SCRAPE_ACTIONS_NOT_SUPPORTED", 400;
    /// The uploaded file is of a kind that cannot be read.
    UnsupportedFileType = "UNSUPPORTED_FILE_TYPE", 400;
    /// The request has options that mean nothing for an uploaded file; `details` names every one.
    ParseUnsupportedOptions = "PARSE_UNSUPPORTED_OPTIONS", 400;
    /// The key is missing, malformed, unknown or no longer valid.
    Unauthorized = "UNAUTHORIZED", 401;
    /// The team's credits are spent.
    InsufficientCredits = "INSUFFICIENT_CREDITS", 402;
    /// The team or the key may not use what the request asks for.
    Forbidden = "FORBIDDEN", 403;
    /// Threat protection blocks the URL.
    UnsafeDomainBlocked = "unsafe_domain_blocked", 403;
    /// The address guard refuses the URL.
    ScrapeForbiddenUrl = "SCRAPE_FORBIDDEN_URL", 403;
    /// The path does not exist.
    NotFound = "NOT_FOUND", 404;
    /// `minAge` is set and the cache has no page of that age.
    ScrapeNoCachedData = "SCRAPE_NO_CACHED_DATA", 404;
    /// `lockdown` is set and the cache has no page that is fresh enough.
    ScrapeLockdownCacheMiss = "SCRAPE_LOCKDOWN_CACHE_MISS", 404;
    /// The path exists for the methods that `Allow` names.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// The request was not done within its `timeout`.
    RequestTimeout = "REQUEST_TIMEOUT", 408;
    /// The site was not mapped within its time, and nothing was found until then.
    MapTimeout = "MAP_TIMEOUT", 408;
    /// The page was not done within its time.
    ScrapeTimeout = "SCRAPE_TIMEOUT", 408;
    /// Another request is about to save the profile; one does at a time.
    ProfileLocked = "PROFILE_LOCKED", 409;
    /// The job has ended before.
    JobEnded = "JOB_ENDED", 409;
    /// The `x-idempotency-key` was used before, and its job is still kept.
    IdempotencyKeyUsed = "IDEMPOTENCY_KEY_USED", 409;
    /// The artifact has expired, or it made room for newer ones.
    Gone = "GONE", 410;
    /// The body is larger than allowed.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413;
    /// The body is not declared as JSON.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415;
    /// The range lies outside of the artifact; `Content-Range` says how long that is.
    RangeNotSatisfiable = "RANGE_NOT_SATISFIABLE", 416;
    /// Too many requests; `Retry-After` says when to try again.
    RateLimited = "RATE_LIMITED", 429;
    /// Something unexpected failed; the log has it under the request's id.
    UnknownError = "UNKNOWN_ERROR", 500;
    /// The site could not be mapped; the text says why.
    MapFailed = "MAP_FAILED", 500;
    /// The page's host was not found.
    ScrapeDnsResolutionError = "SCRAPE_DNS_RESOLUTION_ERROR", 500;
    /// No secure connection to the page's host.
    ScrapeSslError = "SCRAPE_SSL_ERROR", 500;
    /// The page's host cannot be reached or answers no valid HTTP.
    ScrapeSiteError = "SCRAPE_SITE_ERROR", 500;
    /// An action could not be done; the text says which, counted from 0, and why.
    ScrapeActionError = "SCRAPE_ACTION_ERROR", 500;
    /// The page used more memory in the browser than it may, and was stopped.
    ScrapeMemoryExceeded = "SCRAPE_MEMORY_EXCEEDED", 500;
    /// The page is a file of a kind that cannot be read.
    ScrapeUnsupportedFileError = "SCRAPE_UNSUPPORTED_FILE_ERROR", 500;
    /// No search source can answer; the text names each with its reason.
    SearchUnavailable = "SEARCH_UNAVAILABLE", 503;
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
