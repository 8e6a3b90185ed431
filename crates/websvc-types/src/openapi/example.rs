//! Examples of request and response bodies.

use serde_json::{Value, json};

use crate::ErrorCode;

/// Request ID in the form that the service creates.
pub(super) const REQUEST_ID: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

/// Example body.
#[derive(Debug, Clone)]
pub(super) struct Example {
    /// Key of the example in the document.
    pub(super) name: String,
    pub(super) summary: &'static str,
    pub(super) value: Value,
}

pub(super) fn example(name: &str, summary: &'static str, value: Value) -> Example {
    Example { name: name.to_owned(), summary, value }
}

pub(super) fn search_requests() -> Vec<Example> {
    vec![
        example("plain", "A search", json!({ "query": "brew green tea" })),
        example(
            "scraping",
            "A search that also scrapes the results",
            json!({
                "query": "brew green tea",
                "limit": 3,
                "scrapeOptions": {
                    "formats": ["markdown", { "type": "links" }],
                    "onlyMainContent": true,
                    "maxAge": 3_600_000,
                },
            }),
        ),
        example(
            "filters",
            "A search with filters",
            json!({
                "query": "\"green tea\" -matcha intitle:brewing",
                "includeDomains": ["tea.example", "blog.example"],
                "categories": ["research", { "type": "pdf" }],
                "tbs": "qdr:y,sbd:1",
                "location": "Berlin,Germany",
                "country": "DE",
                "timeout": 30_000,
                "ignoreInvalidURLs": true,
            }),
        ),
    ]
}

pub(super) fn search_responses() -> Vec<Example> {
    let result = json!({
        "title": "Green tea",
        "description": "Green tea wants water of seventy degrees, never boiling, and two minutes of patience.",
        "url": "https://tea.example/green",
    });
    let mut scraped = result.clone();
    scraped["markdown"] = json!("# Green tea\n\nGreen tea wants water of [seventy degrees](/water).\n");
    scraped["links"] = json!(["https://tea.example/water"]);
    scraped["metadata"] = json!({
        "title": "Green tea",
        "description": "How to brew green tea.",
        "language": "en",
        "sourceURL": "https://tea.example/green",
        "url": "https://tea.example/green",
        "statusCode": 200,
        "contentType": "text/html",
        "proxyUsed": "basic",
        "cacheState": "miss",
        "scrapeId": REQUEST_ID,
        "creditsUsed": 1,
    });
    let failed = json!({
        "title": "Teas of the world",
        "description": "Green, white, yellow, black: what sets teas apart.",
        "url": "https://slow.example/teas",
        "metadata": {
            "title": "Teas of the world",
            "sourceURL": "https://slow.example/teas",
            "url": "https://slow.example/teas",
            "statusCode": 408,
            "error": "SCRAPE_TIMEOUT: the scrape did not finish within its timeout",
            "proxyUsed": "basic",
        },
    });
    vec![
        example(
            "plain",
            "Results without content",
            json!({ "success": true, "data": { "web": [result] }, "id": REQUEST_ID, "creditsUsed": 2 }),
        ),
        example(
            "scraping",
            "Results with their content; one page could not be scraped",
            json!({
                "success": true, "data": { "web": [scraped, failed] }, "id": REQUEST_ID, "creditsUsed": 3,
            }),
        ),
        example(
            "warning",
            "No results; a part of the request was ignored",
            json!({
                "success": true,
                "data": { "web": [] },
                "warning": "sources[1]: alexandria is not available and was ignored",
                "id": REQUEST_ID,
                "creditsUsed": 0,
            }),
        ),
    ]
}

pub(super) fn uploads() -> Vec<Example> {
    let document = json!({
        "url": "https://tea.example/green",
        "title": "Green tea",
        "headings": ["Green tea", "Water"],
        "body": "Green tea wants water of seventy degrees, never boiling, and two minutes of patience.",
        "language": "en",
        "published": "2026-03-21",
    });
    vec![
        example("one", "A page", json!({ "documents": [document] })),
        example(
            "text",
            "A page with only a text",
            json!({ "documents": [{ "url": "https://tea.example/oolong", "body": "Oolong is partly oxidised." }] }),
        ),
    ]
}

pub(super) fn upload_replies() -> Vec<Example> {
    vec![example("taken", "The document was accepted", json!({ "success": true, "accepted": 1 }))]
}

pub(super) fn progress() -> Vec<Example> {
    let value = json!({ "id": "docs", "hosts": ["docs.example"], "pages": 120, "failed": 2, "skipped": 7, "waiting": 840 });
    vec![example("under-way", "A running crawl", value)]
}

pub(super) fn progress_replies() -> Vec<Example> {
    vec![example("stored", "The report was stored", json!({ "success": true }))]
}

pub(super) fn stats() -> Vec<Example> {
    let value = json!({ "success": true, "documents": 1250, "bytes": 8_388_608, "segments": 3 });
    vec![example("some", "An index with documents", value)]
}

pub(super) fn health() -> Vec<Example> {
    vec![example("ok", "The process responds", json!({ "status": "ok", "version": "0.1.0" }))]
}

pub(super) fn welcome() -> Vec<Example> {
    let value = json!({
        "message": "websvc is running. Send POST /v2/search with a bearer key.",
        "version": "0.1.0",
        "docs": "/docs",
        "openapi": "/openapi.json",
    });
    vec![example("welcome", "The service responds", value)]
}

pub(super) fn ready() -> Vec<Example> {
    let value = json!({
        "status": "ready",
        "checks": { "store": "ok", "index": "ok", "cache": "ok", "artifacts": "ok" },
        "sources": [
            { "name": "index", "state": "ok" },
            {
                "name": "searxng",
                "state": "paused",
                "retryAfterMs": 21_000,
                "reason": "no response within 10000 ms"
            }
        ],
        "browser": { "state": "degraded", "reason": "the remote browser is not available" },
        "threat": { "state": "ok" },
        "degraded": ["source:searxng", "browser"],
        "clock": { "state": "ok" }
    });
    vec![example("ready", "Requests are served", value)]
}

pub(super) fn not_ready() -> Vec<Example> {
    let sources = json!([{ "name": "index", "state": "ok" }]);
    let healthy = json!({ "store": "ok", "index": "ok", "cache": "ok", "artifacts": "ok" });
    let threat = json!({ "state": "off" });
    let (browser, clock) = (json!({ "state": "ok" }), json!({ "state": "ok" }));
    let stopping = json!({
        "status": "stopping",
        "checks": healthy,
        "sources": sources,
        "browser": browser,
        "threat": threat,
        "degraded": [],
        "clock": clock,
    });
    let broken = json!({
        "status": "not ready",
        "checks": { "store": "unavailable", "index": "ok", "cache": "ok", "artifacts": "ok" },
        "sources": sources,
        "browser": browser,
        "threat": threat,
        "degraded": ["store"],
        "clock": clock,
    });
    vec![
        example("stopping", "The service is shutting down", stopping),
        example("broken", "A required component is not available", broken),
    ]
}

/// Returns the example of the body of this failure.
pub(super) fn failure(code: ErrorCode) -> Example {
    let mut value = json!({ "success": false, "error": error(code) });
    // The specification gives the body of a 408 without a code (section 4.1).
    if code != ErrorCode::RequestTimeout {
        value["code"] = json!(code.as_str());
    }
    if code == ErrorCode::BadRequest {
        value["details"] = json!([
            { "path": "/limit", "code": "too_big", "message": "limit must be between 1 and 100, not 500" },
            { "path": "/query", "code": "too_short", "message": "query must not be empty" },
        ]);
    }
    let is_about_feedback = matches!(
        code,
        ErrorCode::SearchNotFound
            | ErrorCode::JobNotFound
            | ErrorCode::SearchFailed
            | ErrorCode::FeedbackWindowExpired
    );
    if is_about_feedback {
        value["feedbackErrorCode"] = json!(code.as_str());
    }
    if code == ErrorCode::ParseUnsupportedOptions {
        let message = "waitFor does not apply to uploaded files";
        value["details"] = json!([{ "path": "/waitFor", "code": "not_supported", "message": message }]);
    }
    if code == ErrorCode::ScrapeActionsNotSupported {
        let message = "actions are not available: no browser is installed";
        value["details"] =
            json!([{ "path": "/scrapeOptions/actions", "code": "not_supported", "message": message }]);
    }
    let details = value["details"].as_array();
    if let Some(first) = details.and_then(|details| details.first()) {
        // The service repeats the first violation in the message, for clients that show only the message.
        let [text, path, message] = [&value["error"], &first["path"], &first["message"]]
            .map(|text| text.as_str().unwrap_or_default());
        let more = match details.map_or(0, Vec::len) {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        value["error"] = json!(format!("{text}: {path}: {message}{more}"));
    }
    Example { name: code.as_str().to_owned(), summary: code.meaning(), value }
}

const TOO_MANY_UPLOADS: &str = "Too many uploads: 10 upload URLs of the team are open; convert their files, or wait until the URLs expire";

const UNSUPPORTED_FILE: &str = "Unsupported file type: tea.png is not a document, web page or text that can be read (detected type: png)";

const FORBIDDEN_URL: &str = "this URL is not allowed: only public addresses are, unless the operator lists their networks in fetch.allow_networks";

const STORAGE_FULL: &str = "The disk of the service is full: nothing can be stored until there is space";

/// Returns a message as the service writes it for this condition.
fn error(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::BadRequest | ErrorCode::ScrapeActionsNotSupported => "Invalid request body",
        ErrorCode::ParseUnsupportedOptions => "Options that do not apply to uploaded files",
        ErrorCode::UnsupportedFileType => UNSUPPORTED_FILE,
        ErrorCode::BadRequestInvalidJson => {
            "Bad request, malformed JSON at line 1 column 14: expected `,` or `}`"
        }
        ErrorCode::Unauthorized => "Unauthorized: Invalid token",
        ErrorCode::InsufficientCredits => {
            "Insufficient credits to perform this request: it may cost up to 12 credits, and the team has 5 left"
        }
        ErrorCode::Forbidden => "enterprise zdr is not enabled for this team",
        ErrorCode::UnsafeDomainBlocked => "threat protection blocks this URL",
        ErrorCode::ScrapeForbiddenUrl => FORBIDDEN_URL,
        ErrorCode::ScrapeAudioUnsupportedUrl => {
            "no audio can be extracted from https://tea.example/: the page has no supported media file"
        }
        ErrorCode::ScrapeMediaAccessDenied => "the site refuses access to the media file: Private video",
        ErrorCode::NotFound => "Not found: GET /v2/nothing",
        ErrorCode::SearchNotFound => "No search of your team has this ID, or it may not be rated",
        ErrorCode::JobNotFound => "No scrape of your team has this ID, or it may not be rated",
        ErrorCode::SearchFailed => "The search failed, so there are no results to rate",
        ErrorCode::FeedbackWindowExpired => "Results can be rated for 24 hours after their request",
        ErrorCode::ScrapeNoCachedData => "no cached page of the requested age is available for this URL",
        ErrorCode::ScrapeLockdownCacheMiss => "lockdown is set and the page is not in the cache",
        ErrorCode::MethodNotAllowed => "Method not allowed, use POST",
        ErrorCode::RequestTimeout => {
            "Request timed out: the search did not finish within its timeout of 60000 ms"
        }
        ErrorCode::MapTimeout => "Request timed out: the map did not finish within its timeout of 60000 ms",
        ErrorCode::MapFailed => "the site could not be mapped: the host of this URL is unreachable",
        ErrorCode::ScrapeTimeout => "the scrape did not finish within its timeout",
        ErrorCode::JobEnded => "Batch scrape is already completed",
        ErrorCode::MonitorPaused => "Monitor is paused: set its status to active to run it",
        ErrorCode::MonitorCheckRunning => "A check of the monitor is already running",
        ErrorCode::AgentThreadRunning => "A run of the thread has not ended; start the next turn when it has",
        ErrorCode::IdempotencyKeyUsed => "Idempotency key already used",
        ErrorCode::ProfileLocked => {
            "another request is saving the profile \"shop\": try again later, or set saveChanges to false"
        }
        ErrorCode::InteractReplayUnavailable => {
            "Replay context is unavailable: the URL and the options of the scrape were not retained; scrape again"
        }
        ErrorCode::SessionOnOtherReplica => "The browser session runs in another process of the service",
        ErrorCode::BrowserSessionEnded => "Browser session has been destroyed.",
        ErrorCode::InteractLanguageUnavailable => "The language python is not available on this installation",
        ErrorCode::LlmNotConfigured => "Prompts need a language model, and none is configured",
        ErrorCode::BrowserUnavailable => "Browser sessions are not available: Chromium did not start",
        ErrorCode::Gone => "the artifact has expired or was removed",
        ErrorCode::RangeNotSatisfiable => "the range is outside the 1000 bytes of the artifact",
        ErrorCode::PayloadTooLarge => "the body is larger than 10485760 bytes",
        ErrorCode::UnsupportedMediaType => "Unsupported media type \"text/plain\", use application/json",
        ErrorCode::RateLimited => "Rate limit exceeded: the server is overloaded, retry after 1s",
        ErrorCode::ParseUploadLimit => TOO_MANY_UPLOADS,
        ErrorCode::UnknownError => "An unexpected error occurred: the operation failed",
        ErrorCode::ScrapeDnsResolutionError => "the host name of this URL could not be resolved",
        ErrorCode::ScrapeSslError => "the TLS connection to the host of this URL failed",
        ErrorCode::ScrapeActionError => "action 2 (click) failed: no element matches #more",
        ErrorCode::ScrapeMemoryExceeded => "the page was stopped: it exceeded 1024 MiB of memory",
        ErrorCode::ScrapeSiteError => "the host of this URL is unreachable",
        ErrorCode::ScrapeUnsupportedFileError => "the URL is a file of an unsupported type",
        ErrorCode::SearchUnavailable => {
            "no search source is available: source index: images are not indexed by this version"
        }
        ErrorCode::DatabaseUnavailable => "The database does not respond: try again in 2 seconds",
        ErrorCode::StorageFull => STORAGE_FULL,
    }
}
