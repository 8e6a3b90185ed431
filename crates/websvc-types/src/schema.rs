//! The published schemas: JSON Schema of every body.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::index::{CrawlProgress, IndexReply, IndexStats, IndexUpload, ProgressReply};
use crate::job::{
    ActiveCrawls, BatchScrapeRequest, CrawlParamsRequest, CrawlParamsResponse, CrawlRequest, JobCancelled,
    JobErrors, JobStarted, JobStatusResponse, WebhookDeadLetters, WebhookLetterDone,
};
use crate::map::{MapRequest, MapRequestV1, MapResponse, MapResponseV1};
use crate::rerank::{RerankRequest, RerankResponse};
use crate::usage::{ConcurrencyCheck, CreditHistory, CreditUsage, QueueStatus, TokenHistory, TokenUsage};
use crate::{
    ErrorBody, ParseFormats, ParseOptions, ScrapeRequest, ScrapeResponse, SearchRequest, SearchResponse,
};

/// Returns the schema of a body that is read: it allows every form that is accepted.
#[must_use]
pub fn request<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>()
}

/// Returns the schema of a body that is written.
#[must_use]
pub fn response<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Returns the published schemas with the names of their files.
#[must_use]
pub fn roots() -> Vec<(&'static str, Schema)> {
    vec![
        ("search-request", request::<SearchRequest>()),
        ("search-response", response::<SearchResponse>()),
        ("map-request", request::<MapRequest>()),
        ("map-response", response::<MapResponse>()),
        ("map-request-v1", request::<MapRequestV1>()),
        ("map-response-v1", response::<MapResponseV1>()),
        ("scrape-request", request::<ScrapeRequest>()),
        ("scrape-response", response::<ScrapeResponse>()),
        ("parse-options", request::<ParseOptions>()),
        ("parse-formats", response::<ParseFormats>()),
        ("rerank-request", request::<RerankRequest>()),
        ("rerank-response", response::<RerankResponse>()),
        ("index-upload", request::<IndexUpload>()),
        ("index-reply", response::<IndexReply>()),
        ("index-stats", response::<IndexStats>()),
        ("crawl-progress", request::<CrawlProgress>()),
        ("progress-reply", response::<ProgressReply>()),
        ("credit-usage", response::<CreditUsage>()),
        ("credit-history", response::<CreditHistory>()),
        ("token-usage", response::<TokenUsage>()),
        ("token-history", response::<TokenHistory>()),
        ("queue-status", response::<QueueStatus>()),
        ("concurrency-check", response::<ConcurrencyCheck>()),
        ("batch-scrape-request", request::<BatchScrapeRequest>()),
        ("crawl-request", request::<CrawlRequest>()),
        ("crawl-params-request", request::<CrawlParamsRequest>()),
        ("crawl-params-response", response::<CrawlParamsResponse>()),
        ("active-crawls", response::<ActiveCrawls>()),
        ("job-started", response::<JobStarted>()),
        ("job-status", response::<JobStatusResponse>()),
        ("job-cancelled", response::<JobCancelled>()),
        ("job-errors", response::<JobErrors>()),
        ("webhook-dead-letters", response::<WebhookDeadLetters>()),
        ("webhook-letter-done", response::<WebhookLetterDone>()),
        ("error", response::<ErrorBody>()),
    ]
}

/// Returns the text of a schema or of the OpenAPI document as it is published, its keys in order: their order must not
/// depend on which features of the JSON library the rest of a build happens to turn on.
#[must_use]
pub fn text(mut document: Value) -> String {
    document.sort_all_objects();
    format!("{document:#}\n")
}
