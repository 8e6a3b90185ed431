//! The published schemas: JSON Schema of every body.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::index::{
    CrawlProgressRequest, CrawlProgressResponse, IndexStats, IndexUploadRequest, IndexUploadResponse,
};
use crate::job::{
    ActiveCrawls, BatchScrapeRequest, CancelJobResponse, CrawlParamsRequest, CrawlParamsResponse,
    CrawlRequest, DeadLetterActionResponse, DeadLettersResponse, JobErrorsResponse, JobStatusResponse,
    StartJobResponse,
};
use crate::map::{MapRequest, MapRequestV1, MapResponse, MapResponseV1};
use crate::rerank::{RerankRequest, RerankResponse};
use crate::usage::{
    ConcurrencyCheck, CreditHistory, CreditUsageResponse, QueueStatus, TokenHistory, TokenUsage,
};
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
        ("index-upload", request::<IndexUploadRequest>()),
        ("index-reply", response::<IndexUploadResponse>()),
        ("index-stats", response::<IndexStats>()),
        ("crawl-progress", request::<CrawlProgressRequest>()),
        ("progress-reply", response::<CrawlProgressResponse>()),
        ("credit-usage", response::<CreditUsageResponse>()),
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
        ("job-started", response::<StartJobResponse>()),
        ("job-status", response::<JobStatusResponse>()),
        ("job-cancelled", response::<CancelJobResponse>()),
        ("job-errors", response::<JobErrorsResponse>()),
        ("webhook-dead-letters", response::<DeadLettersResponse>()),
        ("webhook-letter-done", response::<DeadLetterActionResponse>()),
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
