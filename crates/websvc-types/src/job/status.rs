//! State, documents and errors of jobs.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::crawl_params::CrawlParams;
#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;
use crate::search::PageContent;

/// Response of `POST /v2/crawl` and `POST /v2/batch/scrape`, which start a job.
///
/// # Examples
///
/// ```
/// use websvc_types::job::StartJobResponse;
///
/// let started: StartJobResponse = serde_json::from_str(
///     r#"{"success": true, "id": "019ab1c2", "url": "https://search.example/v2/crawl/019ab1c2"}"#,
/// )?;
/// assert_eq!(started.id, "019ab1c2");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct StartJobResponse {
    /// Always true.
    pub success: bool,
    /// ID of the job.
    pub id: String,
    /// URL of the state and documents of the job.
    pub url: String,
    /// Batch only: skipped URLs, which are invalid or blocked.
    #[serde(rename = "invalidURLs")]
    pub invalid_urls: Option<Vec<String>>,
    /// Crawl only: options that the `prompt` sets.
    #[serde(rename = "promptGeneratedOptions")]
    pub prompt_generated_options: Option<CrawlParams>,
    /// Crawl only: the same options as the crawl uses them; those of the request take precedence.
    #[serde(rename = "finalCrawlerOptions")]
    pub final_crawler_options: Option<CrawlParams>,
    /// Problems that did not fail the request.
    pub warning: Option<String>,
}

/// State of a job, in the field `status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
// The component `JobStatus` of the OpenAPI document is the response with this field.
#[cfg_attr(feature = "schemars", schemars(rename = "JobPhase"))]
pub enum JobStatus {
    /// Pages are queued or in flight.
    #[default]
    Scraping,
    /// All pages are done.
    Completed,
    /// The job failed; `error` has the reason.
    Failed,
    /// The job was cancelled.
    Cancelled,
}

/// Response of `GET /v2/crawl/{id}` and `GET /v2/batch/scrape/{id}`: state of a job, with a part of its documents.
///
/// # Examples
///
/// ```
/// use websvc_types::job::{JobStatus, JobStatusResponse};
///
/// let state: JobStatusResponse = serde_json::from_str(r##"{
///     "success": true,
///     "status": "completed",
///     "completed": 1,
///     "total": 1,
///     "creditsUsed": 1,
///     "createdAt": "2026-11-22T12:30:00.000Z",
///     "expiresAt": "2026-11-23T12:30:02.500Z",
///     "data": [{ "markdown": "# Green tea" }]
/// }"##)?;
/// assert_eq!(state.status, JobStatus::Completed);
/// assert_eq!(state.data[0].content.markdown.as_deref(), Some("# Green tea"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct JobStatusResponse {
    /// Always true, also for a failed job.
    pub success: bool,
    /// State of the job.
    pub status: JobStatus,
    /// Number of documents so far.
    pub completed: u64,
    /// Number of known pages so far, including failed ones.
    pub total: u64,
    /// Credits charged so far.
    pub credits_used: u64,
    /// Time when the job and its documents are deleted, ISO 8601.
    pub expires_at: String,
    /// URL of further documents. Present only if they are available now.
    pub next: Option<String>,
    /// Documents in the order of their completion: at most 100, and at most 10 MiB.
    pub data: Vec<JobDocument>,
    /// Start time, ISO 8601.
    pub created_at: String,
    /// End time, ISO 8601. Absent while the job runs.
    pub completed_at: Option<String>,
    /// Duration of the job, in seconds. Absent while the job runs.
    pub duration: Option<f64>,
    /// Problems that did not fail the job.
    pub warning: Option<String>,
    /// Reason why the job failed.
    pub error: Option<String>,
}

/// Document of a job: a scraped page.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct JobDocument {
    /// Page in the requested formats.
    #[serde(flatten)]
    pub content: PageContent,
    /// Problems with this page that did not fail it.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Response of `DELETE /v2/crawl/{id}` and `DELETE /v2/batch/scrape/{id}`, which cancel a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CancelJobResponse {
    /// Always true.
    pub success: bool,
    /// Always `cancelled`.
    pub status: JobStatus,
}

/// Response of `GET /v2/crawl/{id}/errors` and `GET /v2/batch/scrape/{id}/errors`: pages without a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobErrorsResponse {
    /// Always true; the asynchronous Python SDK requires it.
    pub success: bool,
    /// Failed pages, in the order of their failure, at most 10000.
    pub errors: Vec<JobFailure>,
    /// URLs that robots.txt disallows.
    pub robots_blocked: Vec<String>,
}

/// Failed page of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct JobFailure {
    /// ID of the page within the job.
    pub id: String,
    /// Time of the failure, ISO 8601.
    pub timestamp: String,
    /// URL of the page.
    pub url: String,
    /// Stable error code for programs.
    pub code: String,
    /// Error message for people.
    pub error: String,
}
