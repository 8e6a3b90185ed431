//! State of jobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::crawl_params::CrawlParams;
use crate::search::PageContent;

/// The answer to a request that begins a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartJobResponse {
    /// True.
    pub success: bool,
    /// Identifier of the job.
    pub id: String,
    /// URL of the job's state and documents.
    pub url: String,
    /// URLs that are invalid and were skipped.
    #[serde(rename = "invalidURLs", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub invalid_urls: Option<Vec<String>>,
    /// The options that the `prompt` of a crawl became.
    #[serde(rename = "promptGeneratedOptions", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CrawlParams")]
    pub prompt_generated_options: Option<CrawlParams>,
    /// These options as the crawl has them: those of the request win.
    #[serde(rename = "finalCrawlerOptions", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CrawlParams")]
    pub final_crawler_options: Option<CrawlParams>,
    /// Problems that did not fail the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}

/// State of a job, in the field `status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
// The component `JobStatus` of the OpenAPI document is the response with this field.
#[schemars(rename = "JobPhase")]
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

/// How a job stands, with a part of its documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobStatusResponse {
    /// True, also for a job that failed.
    pub success: bool,
    /// How it stands.
    pub status: JobStatus,
    /// The documents so far.
    pub completed: u64,
    /// The pages so far, those that failed among them.
    pub total: u64,
    /// Credits charged so far.
    pub credits_used: u64,
    /// When it is forgotten, ISO 8601.
    pub expires_at: String,
    /// URL of the next documents; absent if there are none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub next: Option<String>,
    /// Documents in the order of their completion.
    pub data: Vec<JobDocument>,
    /// When it began, ISO 8601.
    pub created_at: String,
    /// When it ended, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub completed_at: Option<String>,
    /// How long it took, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub duration: Option<f64>,
    /// Problems that did not fail the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub error: Option<String>,
}

/// A page of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobDocument {
    /// The page in the formats that were asked for.
    #[serde(flatten)]
    pub content: PageContent,
    /// Problems with this page that did not fail it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}

/// The answer to a request that cancels a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelJobResponse {
    /// True.
    pub success: bool,
    /// `cancelled`.
    pub status: JobStatus,
}

/// The pages of a job of which there is no document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobErrorsResponse {
    /// True: the asynchronous Python client asks for it.
    pub success: bool,
    /// Those that could not be had, in the order in which they were met, at most 10000.
    pub errors: Vec<JobFailure>,
    /// Those that robots.txt does not allow.
    pub robots_blocked: Vec<String>,
}

/// A page that could not be had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobFailure {
    /// Identifier of the page in the job.
    pub id: String,
    /// When it failed, ISO 8601.
    pub timestamp: String,
    /// The address.
    pub url: String,
    /// Why, for a program.
    pub code: String,
    /// Why, for a person.
    pub error: String,
}

/// Old name of [`JobStatus`].
#[deprecated(note = "renamed to `JobStatus`")]
pub type JobPhase = JobStatus;

/// Old name of [`StartJobResponse`].
#[deprecated(note = "renamed to `StartJobResponse`")]
pub type JobStarted = StartJobResponse;

/// Old name of [`CancelJobResponse`].
#[deprecated(note = "renamed to `CancelJobResponse`")]
pub type JobCancelled = CancelJobResponse;

/// Old name of [`JobErrorsResponse`].
#[deprecated(note = "renamed to `JobErrorsResponse`")]
pub type JobErrors = JobErrorsResponse;
