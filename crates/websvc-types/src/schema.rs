//! JSON Schemas of all request and response bodies.
//!
//! The schemas are generated from the types of this crate by [schemars](https://docs.rs/schemars), in the dialect of
//! draft 2020-12. [`roots`] returns the published ones, which are also files in `docs/schema/v2` of the source tree.
//! Descriptions are the doc comments of types and fields, without Rust examples.
//!
//! # Examples
//!
//! ```
//! use websvc_types::{SearchRequest, SearchResponse, schema};
//!
//! let request = schema::request::<SearchRequest>().to_value();
//! assert_eq!(request["properties"]["limit"]["maximum"], 100);
//!
//! let response = schema::response::<SearchResponse>().to_value();
//! assert_eq!(response["required"], serde_json::json!(["success", "data", "id", "creditsUsed"]));
//! ```

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::activity::TeamActivityResponse;
use crate::agent::{
    AgentActionEvent, AgentCompletedEvent, AgentEndEvent, AgentList, AgentRequest, AgentSnapshotResponse,
    AgentStarted, AgentStatusResponse, AgentThreadResponse, AgentTraceResponse, CancelAgentResponse,
};
use crate::extract::{ExtractCompletedEvent, ExtractRequest, ExtractStarted, ExtractStatusResponse};
use crate::feedback::{FeedbackRequest, FeedbackResponse, SearchFeedbackRequest};
use crate::index::{
    CrawlProgressRequest, CrawlProgressResponse, IndexStats, IndexUploadRequest, IndexUploadResponse,
};
use crate::interact::{
    BrowserListResponse, CreateBrowserRequest, CreateBrowserResponse, EndBrowserResponse, ExecuteRequest,
    ExecuteResponse, InteractRequest, InteractResponse,
};
use crate::job::{
    ActiveCrawls, BatchScrapeRequest, CancelJobResponse, CrawlParamsRequest, CrawlParamsResponse,
    CrawlRequest, DeadLetterActionResponse, DeadLettersResponse, JobErrorsResponse, JobStatusResponse,
    StartJobResponse,
};
use crate::key::{RedeemRequest, RedeemResponse};
use crate::llms_txt::{LlmsTxtRequest, LlmsTxtStarted, LlmsTxtStatusResponse};
use crate::map::{MapRequest, MapRequestV1, MapResponse, MapResponseV1};
use crate::monitor::{
    ChannelTestResponse, CreateMonitorRequest, DeleteMonitorResponse, MonitorCheckEvent,
    MonitorCheckListResponse, MonitorCheckResponse, MonitorEmailRequest, MonitorEmailResponse,
    MonitorListResponse, MonitorPageEvent, MonitorResponse, RunMonitorRequest, RunMonitorResponse,
    UpdateMonitorRequest,
};
use crate::rerank::{RerankRequest, RerankResponse};
use crate::team::{
    SiemRequest, SiemResponse, SiemTestRequest, SiemTestResponse, TeamThreatRequest, TeamThreatResponse,
};
use crate::usage::{
    ConcurrencyCheck, CreditHistory, CreditUsageResponse, QueueStatus, TokenHistory, TokenUsage,
};
use crate::{
    ErrorBody, ParseFormats, ParseOptions, ParseUploadRequest, ScrapeRequest, ScrapeResponse, SearchRequest,
    SearchResponse, UploadUrlRequest, UploadUrlResponse,
};

/// Returns the schema of a body that the service reads: it allows every accepted form, such as bare names.
///
/// ```
/// use websvc_types::{Source, schema};
///
/// // A source is accepted as an object or as its bare name.
/// let source = schema::request::<Source>().to_value();
/// assert_eq!(source["anyOf"][0]["enum"], serde_json::json!(["web", "images", "news"]));
/// ```
#[must_use]
pub fn request<T: JsonSchema>() -> Schema {
    generate::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Returns the schema of a body that the service writes: only the form that is written.
#[must_use]
pub fn response<T: JsonSchema>() -> Schema {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let settings = settings.with_transform(RecursiveTransform(clean_description));
    settings.into_generator().into_root_schema_for::<T>()
}

/// Turns the doc comment of a description into text for API users: without Rust examples, and one line per paragraph.
fn clean_description(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let text = description.split("\n# Examples").next().unwrap_or_default();
        let paragraphs: Vec<String> =
            text.trim_end().split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *description = paragraphs.join("\n\n");
    }
}

/// Returns the published schemas with the names of their files, without extension.
///
/// ```
/// let names: Vec<&str> = websvc_types::schema::roots().into_iter().map(|(name, _)| name).collect();
/// assert!(names.contains(&"search-request"));
/// ```
#[must_use]
pub fn roots() -> Vec<(&'static str, Schema)> {
    let mut roots = vec![
        ("search-request", request::<SearchRequest>()),
        ("search-response", response::<SearchResponse>()),
        ("map-request", request::<MapRequest>()),
        ("map-response", response::<MapResponse>()),
        ("map-request-v1", request::<MapRequestV1>()),
        ("map-response-v1", response::<MapResponseV1>()),
        ("scrape-request", request::<ScrapeRequest>()),
        ("scrape-response", response::<ScrapeResponse>()),
        ("parse-options", request::<ParseOptions>()),
        ("parse-upload-request", request::<ParseUploadRequest>()),
        ("parse-formats", response::<ParseFormats>()),
        ("upload-url-request", request::<UploadUrlRequest>()),
        ("upload-url-response", response::<UploadUrlResponse>()),
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
        ("interact-request", request::<InteractRequest>()),
        ("create-browser-request", request::<CreateBrowserRequest>()),
        ("execute-request", request::<ExecuteRequest>()),
        ("interact-response", response::<InteractResponse>()),
        ("create-browser-response", response::<CreateBrowserResponse>()),
        ("execute-response", response::<ExecuteResponse>()),
        ("browser-list-response", response::<BrowserListResponse>()),
        ("end-browser-response", response::<EndBrowserResponse>()),
        ("search-feedback-request", request::<SearchFeedbackRequest>()),
        ("feedback-request", request::<FeedbackRequest>()),
        ("feedback-response", response::<FeedbackResponse>()),
        ("team-activity", response::<TeamActivityResponse>()),
        ("llms-txt-request", request::<LlmsTxtRequest>()),
        ("llms-txt-started", response::<LlmsTxtStarted>()),
        ("llms-txt-response", response::<LlmsTxtStatusResponse>()),
        ("error", response::<ErrorBody>()),
    ];
    roots.extend(monitor_roots());
    roots.extend(team_roots());
    roots.extend(agent_roots());
    roots
}

/// Returns the published schemas of monitors.
fn monitor_roots() -> Vec<(&'static str, Schema)> {
    vec![
        ("create-monitor-request", request::<CreateMonitorRequest>()),
        ("update-monitor-request", request::<UpdateMonitorRequest>()),
        ("run-monitor-request", request::<RunMonitorRequest>()),
        ("monitor-email-request", request::<MonitorEmailRequest>()),
        ("monitor-response", response::<MonitorResponse>()),
        ("monitor-list-response", response::<MonitorListResponse>()),
        ("delete-monitor-response", response::<DeleteMonitorResponse>()),
        ("run-monitor-response", response::<RunMonitorResponse>()),
        ("monitor-check-list-response", response::<MonitorCheckListResponse>()),
        ("monitor-check-response", response::<MonitorCheckResponse>()),
        ("monitor-email-response", response::<MonitorEmailResponse>()),
        ("channel-test-response", response::<ChannelTestResponse>()),
        ("monitor-page-event", response::<MonitorPageEvent>()),
        ("monitor-check-event", response::<MonitorCheckEvent>()),
    ]
}

/// Returns the published schemas of the settings and keys of a team.
fn team_roots() -> Vec<(&'static str, Schema)> {
    vec![
        ("team-threat-request", request::<TeamThreatRequest>()),
        ("team-threat-response", response::<TeamThreatResponse>()),
        ("siem-request", request::<SiemRequest>()),
        ("siem-response", response::<SiemResponse>()),
        ("siem-test-request", request::<SiemTestRequest>()),
        ("siem-test-response", response::<SiemTestResponse>()),
        ("redeem-request", request::<RedeemRequest>()),
        ("redeem-response", response::<RedeemResponse>()),
    ]
}

/// Returns the published schemas of agent runs and extractions.
fn agent_roots() -> Vec<(&'static str, Schema)> {
    vec![
        ("agent-request", request::<AgentRequest>()),
        ("agent-started-response", response::<AgentStarted>()),
        ("agent-status-response", response::<AgentStatusResponse>()),
        ("agent-cancelled-response", response::<CancelAgentResponse>()),
        ("agent-list-response", response::<AgentList>()),
        ("agent-thread-response", response::<AgentThreadResponse>()),
        ("agent-trace-response", response::<AgentTraceResponse>()),
        ("agent-snapshot-response", response::<AgentSnapshotResponse>()),
        ("agent-action-event", response::<AgentActionEvent>()),
        ("agent-completed-event", response::<AgentCompletedEvent>()),
        ("agent-end-event", response::<AgentEndEvent>()),
        ("extract-request", request::<ExtractRequest>()),
        ("extract-started-response", response::<ExtractStarted>()),
        ("extract-status-response", response::<ExtractStatusResponse>()),
        ("extract-completed-event", response::<ExtractCompletedEvent>()),
    ]
}

/// Returns a schema or an OpenAPI document in its published form: indented, with sorted keys, and a newline at the end.
///
/// Keys are sorted, although `serde_json` keeps their order here, so that the text does not change with the order in which
/// types declare their fields.
///
/// ```
/// let text = websvc_types::schema::text(serde_json::json!({ "b": 1, "a": 2 }));
/// assert_eq!(text, "{\n  \"a\": 2,\n  \"b\": 1\n}\n");
/// ```
#[must_use]
pub fn text(mut document: Value) -> String {
    document.sort_all_objects();
    format!("{document:#}\n")
}
