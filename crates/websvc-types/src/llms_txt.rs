//! Generation of an llms.txt: a list of the pages of a site for language models, in the format of version 1.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;
use crate::limits::{LLMSTXT_URLS_DEFAULT, LLMSTXT_URLS_MAX, LLMSTXT_URLS_MIN, URL_MAX_CHARS};
use crate::pattern::NOT_BLANK;

/// Request of `POST /v1/llmstxt`: starts to generate the llms.txt of a site.
///
/// # Examples
///
/// ```
/// use websvc_types::llms_txt::LlmsTxtRequest;
///
/// let request = LlmsTxtRequest { url: "https://docs.example".to_owned(), ..LlmsTxtRequest::default() };
/// assert_eq!(serde_json::to_value(&request)?, serde_json::json!({ "url": "https://docs.example" }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LlmsTxtRequest {
    /// URL of the site, http or https, at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Maximum number of pages, 1 to 5000. Default: 10.
    #[cfg_attr(feature = "schemars", schemars(range(min = LLMSTXT_URLS_MIN, max = LLMSTXT_URLS_MAX), extend("default" = LLMSTXT_URLS_DEFAULT)))]
    pub max_urls: Option<u32>,
    /// True also returns the text of the pages. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub show_full_text: Option<bool>,
    /// False fetches every page again; true uses cached pages of at most two days. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub cache: Option<bool>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Response of `POST /v1/llmstxt`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct LlmsTxtStarted {
    /// Always true.
    pub success: bool,
    /// ID of the job.
    pub id: String,
    /// Problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Response of `GET /v1/llmstxt/{id}`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct LlmsTxtStatusResponse {
    /// False if the job failed.
    pub success: bool,
    /// State of the job.
    pub status: LlmsTxtStatus,
    /// The texts; empty until the job is completed.
    pub data: LlmsTxtData,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Problems that did not fail the job, such as a text that was cut.
    pub warning: Option<String>,
    /// Time at which the job is deleted, ISO 8601.
    pub expires_at: String,
}

/// State of the generation of an llms.txt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LlmsTxtStatus {
    /// Pages are being scraped.
    Processing,
    /// The texts are complete.
    Completed,
    /// The job failed or was cancelled.
    Failed,
}

/// Texts of an llms.txt.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct LlmsTxtData {
    /// Heading with the name of the site, and a line for each page: its title as a link, and its description.
    pub llmstxt: String,
    /// Heading and markdown of each page. Only with `showFullText`.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub llmsfulltxt: Option<String>,
}
