//! Responses: headers, and the failures that operations share.

use serde_json::{Map, Value, json};

use super::example::{self, Example};
use crate::ErrorCode;

/// Failed response that operations refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    InvalidSearch,
    InvalidPage,
    InvalidBody,
    InvalidParameter,
    InvalidFile,
    Unauthorized,
    InsufficientCredits,
    Forbidden,
    PageForbidden,
    MediumForbidden,
    NotFound,
    NotCached,
    MethodNotAllowed,
    Timeout,
    PageTimeout,
    ProfileLocked,
    JobConflict,
    MonitorConflict,
    PayloadTooLarge,
    UnsupportedMediaType,
    RateLimited,
    UploadLimited,
    UnknownError,
    PageFailed,
    Unavailable,
    DatabaseUnavailable,
    MapForbidden,
    MapTimeout,
    MapFailed,
    SessionConflict,
    SessionEnded,
    NotImplemented,
    BrowserUnavailable,
    FeedbackNotFound,
    FeedbackConflict,
    ThreadConflict,
    RunConflict,
    ModelMissing,
}

/// The codes of an invalid scrape of a page.
const INVALID_PAGE: &[ErrorCode] = &[
    ErrorCode::BadRequest,
    ErrorCode::BadRequestInvalidJson,
    ErrorCode::ScrapeActionsNotSupported,
    ErrorCode::ScrapeAudioUnsupportedUrl,
];

/// The codes of a page, or of its medium, that may not be scraped.
const MEDIUM_FORBIDDEN: &[ErrorCode] = &[
    ErrorCode::Forbidden,
    ErrorCode::UnsafeDomainBlocked,
    ErrorCode::ScrapeForbiddenUrl,
    ErrorCode::ScrapeMediaAccessDenied,
];

impl Failure {
    const ALL: [Failure; 38] = [
        Failure::InvalidSearch,
        Failure::InvalidPage,
        Failure::InvalidBody,
        Failure::InvalidParameter,
        Failure::InvalidFile,
        Failure::Unauthorized,
        Failure::InsufficientCredits,
        Failure::Forbidden,
        Failure::PageForbidden,
        Failure::MediumForbidden,
        Failure::NotFound,
        Failure::NotCached,
        Failure::MethodNotAllowed,
        Failure::Timeout,
        Failure::PageTimeout,
        Failure::ProfileLocked,
        Failure::JobConflict,
        Failure::MonitorConflict,
        Failure::PayloadTooLarge,
        Failure::UnsupportedMediaType,
        Failure::RateLimited,
        Failure::UploadLimited,
        Failure::UnknownError,
        Failure::PageFailed,
        Failure::Unavailable,
        Failure::DatabaseUnavailable,
        Failure::MapForbidden,
        Failure::MapTimeout,
        Failure::MapFailed,
        Failure::SessionConflict,
        Failure::SessionEnded,
        Failure::NotImplemented,
        Failure::BrowserUnavailable,
        Failure::FeedbackNotFound,
        Failure::FeedbackConflict,
        Failure::ThreadConflict,
        Failure::RunConflict,
        Failure::ModelMissing,
    ];

    /// Returns the error codes of the response. All have the same status.
    const fn codes(self) -> &'static [ErrorCode] {
        match self {
            Failure::InvalidSearch => &[
                ErrorCode::BadRequest,
                ErrorCode::BadRequestInvalidJson,
                ErrorCode::ScrapeActionsNotSupported,
            ],
            Failure::InvalidPage => INVALID_PAGE,
            Failure::InvalidBody => &[ErrorCode::BadRequest, ErrorCode::BadRequestInvalidJson],
            Failure::InvalidParameter => &[ErrorCode::BadRequest],
            Failure::InvalidFile => &[
                ErrorCode::BadRequest,
                ErrorCode::BadRequestInvalidJson,
                ErrorCode::UnsupportedFileType,
                ErrorCode::ParseUnsupportedOptions,
            ],
            Failure::Unauthorized => &[ErrorCode::Unauthorized],
            Failure::InsufficientCredits => &[ErrorCode::InsufficientCredits],
            Failure::Forbidden => &[ErrorCode::Forbidden],
            Failure::PageForbidden => {
                &[ErrorCode::Forbidden, ErrorCode::UnsafeDomainBlocked, ErrorCode::ScrapeForbiddenUrl]
            }
            Failure::MediumForbidden => MEDIUM_FORBIDDEN,
            Failure::NotFound => &[ErrorCode::NotFound],
            Failure::NotCached => &[ErrorCode::ScrapeNoCachedData, ErrorCode::ScrapeLockdownCacheMiss],
            Failure::MethodNotAllowed => &[ErrorCode::MethodNotAllowed],
            Failure::Timeout => &[ErrorCode::RequestTimeout],
            Failure::PageTimeout => &[ErrorCode::ScrapeTimeout, ErrorCode::RequestTimeout],
            Failure::ProfileLocked => &[ErrorCode::ProfileLocked],
            Failure::JobConflict => &[ErrorCode::JobEnded, ErrorCode::IdempotencyKeyUsed],
            Failure::MonitorConflict => &[ErrorCode::MonitorPaused, ErrorCode::MonitorCheckRunning],
            Failure::PayloadTooLarge => &[ErrorCode::PayloadTooLarge],
            Failure::UnsupportedMediaType => &[ErrorCode::UnsupportedMediaType],
            Failure::RateLimited => &[ErrorCode::RateLimited],
            Failure::UploadLimited => &[ErrorCode::RateLimited, ErrorCode::ParseUploadLimit],
            Failure::UnknownError => &[ErrorCode::UnknownError],
            Failure::PageFailed => &[
                ErrorCode::UnknownError,
                ErrorCode::ScrapeSslError,
                ErrorCode::ScrapeSiteError,
                ErrorCode::ScrapeActionError,
                ErrorCode::ScrapeMemoryExceeded,
                ErrorCode::ScrapeUnsupportedFileError,
            ],
            Failure::Unavailable => {
                &[ErrorCode::SearchUnavailable, ErrorCode::DatabaseUnavailable, ErrorCode::StorageFull]
            }
            Failure::DatabaseUnavailable => &[ErrorCode::DatabaseUnavailable, ErrorCode::StorageFull],
            Failure::MapForbidden => {
                &[ErrorCode::Forbidden, ErrorCode::UnsafeDomainBlocked, ErrorCode::ScrapeForbiddenUrl]
            }
            Failure::MapTimeout => &[ErrorCode::MapTimeout, ErrorCode::RequestTimeout],
            Failure::MapFailed => &[ErrorCode::UnknownError, ErrorCode::MapFailed, ErrorCode::ScrapeSslError],
            Failure::SessionConflict => &[
                ErrorCode::InteractReplayUnavailable,
                ErrorCode::SessionOnOtherReplica,
                ErrorCode::ProfileLocked,
            ],
            Failure::SessionEnded => &[ErrorCode::BrowserSessionEnded],
            Failure::NotImplemented => &[ErrorCode::InteractLanguageUnavailable, ErrorCode::LlmNotConfigured],
            Failure::BrowserUnavailable => {
                &[ErrorCode::BrowserUnavailable, ErrorCode::DatabaseUnavailable, ErrorCode::StorageFull]
            }
            Failure::FeedbackNotFound => &[ErrorCode::SearchNotFound, ErrorCode::JobNotFound],
            Failure::FeedbackConflict => &[ErrorCode::SearchFailed, ErrorCode::FeedbackWindowExpired],
            Failure::ThreadConflict => &[ErrorCode::AgentThreadRunning],
            Failure::RunConflict => &[ErrorCode::JobEnded],
            Failure::ModelMissing => &[ErrorCode::LlmNotConfigured],
        }
    }

    pub(super) const fn status(self) -> u16 {
        self.codes()[0].status()
    }

    /// Returns the name of the additional header of the response.
    const fn header(self) -> Option<&'static str> {
        match self {
            Failure::Unauthorized => Some("WWW-Authenticate"),
            Failure::MethodNotAllowed => Some("Allow"),
            Failure::RateLimited | Failure::UploadLimited | Failure::DatabaseUnavailable => {
                Some("Retry-After")
            }
            Failure::InvalidSearch
            | Failure::InvalidPage
            | Failure::InvalidBody
            | Failure::InvalidParameter
            | Failure::InvalidFile
            | Failure::InsufficientCredits
            | Failure::Forbidden
            | Failure::PageForbidden
            | Failure::MediumForbidden
            | Failure::NotFound
            | Failure::NotCached
            | Failure::Timeout
            | Failure::PageTimeout
            | Failure::ProfileLocked
            | Failure::JobConflict
            | Failure::MonitorConflict
            | Failure::PayloadTooLarge
            | Failure::UnsupportedMediaType
            | Failure::UnknownError
            | Failure::PageFailed
            | Failure::Unavailable
            | Failure::MapForbidden
            | Failure::MapTimeout
            | Failure::MapFailed
            | Failure::SessionConflict
            | Failure::SessionEnded
            | Failure::NotImplemented
            | Failure::BrowserUnavailable
            | Failure::FeedbackNotFound
            | Failure::FeedbackConflict
            | Failure::ThreadConflict
            | Failure::RunConflict
            | Failure::ModelMissing => None,
        }
    }

    /// Returns whether the response has the headers of the rate limit.
    const fn has_rate_limit(self) -> bool {
        !matches!(self, Failure::Unauthorized | Failure::NotFound | Failure::MethodNotAllowed)
    }

    pub(super) fn reference(self) -> Value {
        json!({ "$ref": format!("#/components/responses/{self:?}") })
    }

    fn to_value(self) -> Value {
        let codes = self.codes();
        let description: Vec<String> =
            codes.iter().map(|code| format!("`{code}`: {}", code.meaning())).collect();
        let mut headers = json!({ "x-request-id": request_id() });
        if self.has_rate_limit() {
            add_rate_limit(&mut headers);
        }
        if let Some(name) = self.header() {
            headers[name] = json!({ "$ref": format!("#/components/headers/{name}") });
        }
        let examples: Vec<Example> = codes.iter().copied().map(example::failure).collect();
        let mut content = content("Error", &examples);
        content["application/json"]["schema"] =
            json!({ "allOf": [{ "$ref": "#/components/schemas/Error" }, codes_schema(codes)] });
        json!({ "description": description.join(" "), "headers": headers, "content": content })
    }
}

/// Returns the schema of `code` in a body. The specification defines the body of a 408 without it (section 4.1).
fn codes_schema(codes: &[ErrorCode]) -> Value {
    if codes == [ErrorCode::RequestTimeout] {
        return json!({ "properties": { "code": false } });
    }
    let named = codes.iter().filter(|code| **code != ErrorCode::RequestTimeout);
    let names: Vec<&str> = named.map(|code| code.as_str()).collect();
    if names.len() < codes.len() {
        return json!({ "properties": { "code": { "enum": names } } });
    }
    json!({ "properties": { "code": { "enum": names } }, "required": ["code"] })
}

/// Returns the responses that operations refer to, by name.
pub(super) fn components() -> Map<String, Value> {
    Failure::ALL.iter().map(|failure| (format!("{failure:?}"), failure.to_value())).collect()
}

/// Returns the headers that responses refer to, by name.
pub(super) fn headers() -> Value {
    let header = |description: &str, schema: Value, example: Value| json!({ "description": description, "required": true, "schema": schema, "example": example });
    let rate = |description: &str, schema: Value, example: Value| {
        let description =
            format!("{description}; only if the team or the key has a limit of requests per minute");
        json!({ "description": description, "required": false, "schema": schema, "example": example })
    };
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "RateLimit-Limit": rate("Requests per minute, and maximum burst", count.clone(), json!(60)),
        "RateLimit-Remaining": rate("Requests that would be admitted now", count.clone(), json!(59)),
        "RateLimit-Reset": rate("Seconds until the full limit is available", count, json!(1)),
        "RateLimit-Policy": rate("Requests and the window in seconds", json!({ "type": "string" }), json!("60;w=60")),
        "x-request-id": header(
            "Identifies the request in the log",
            json!({ "type": "string" }),
            json!(example::REQUEST_ID),
        ),
        "WWW-Authenticate": header(
            "Authentication scheme",
            json!({ "type": "string", "const": "Bearer" }),
            json!("Bearer"),
        ),
        "Allow": header("Methods that the path supports", json!({ "type": "string" }), json!("POST")),
        "Retry-After": header(
            "Seconds to wait before the next attempt",
            json!({ "type": "integer", "minimum": 1 }),
            json!(1),
        ),
    })
}

/// Headers of the rate limit.
const RATE_LIMIT: [&str; 4] =
    ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"];

/// Adds the headers of the rate limit.
pub(super) fn add_rate_limit(headers: &mut Value) {
    for name in RATE_LIMIT {
        headers[name] = json!({ "$ref": format!("#/components/headers/{name}") });
    }
}

pub(super) fn request_id() -> Value {
    json!({ "$ref": "#/components/headers/x-request-id" })
}

/// Returns a successful response with a body of this schema.
pub(super) fn success(description: &str, schema: &str, examples: &[Example]) -> Value {
    json!({
        "description": description,
        "headers": { "x-request-id": request_id() },
        "content": content(schema, examples),
    })
}

/// Returns a JSON body of this schema.
pub(super) fn content(schema: &str, examples: &[Example]) -> Value {
    let examples: Map<String, Value> = examples
        .iter()
        .map(|Example { name, summary, value }| (name.clone(), json!({ "summary": summary, "value": value })))
        .collect();
    json!({ "application/json": {
        "schema": { "$ref": format!("#/components/schemas/{schema}") },
        "examples": examples,
    } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_a_response_have_one_status() {
        for failure in Failure::ALL {
            assert!(failure.codes().iter().all(|code| code.status() == failure.status()), "{failure:?}");
        }
    }
}
