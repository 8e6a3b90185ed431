//! Extractions: one object of data from several pages (operations.md, sections 0 and 5.1). The original API has deprecated
//! them.

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;
use crate::agent::ExtractWebhook;
use crate::limits::{
    EXTRACT_LIMIT_DEFAULT, EXTRACT_LIMIT_MIN, EXTRACT_PROMPT_MAX_CHARS, EXTRACT_TIMEOUT_MAX_MS,
    EXTRACT_TIMEOUT_MIN_MS, EXTRACT_URLS_MAX,
};
use crate::scrape::{ScrapeOptions, ThreatProtection};

/// The deprecation notice in every response about extractions.
pub const DEPRECATION: &str = "Extractions are deprecated: use POST /v2/scrape with the format json for known pages, or \
    POST /v2/agent to find pages";

/// The operation that replaces extractions, in every response about them.
pub const REPLACEMENT: &str = "/v2/scrape";

/// Request of `POST /v2/extract` and `POST /v1/extract`: starts to extract one object of data from pages.
///
/// # Examples
///
/// ```
/// use websvc_types::extract::ExtractRequest;
///
/// let request = ExtractRequest {
///     urls: Some(vec!["https://shop.example/*".to_owned()]),
///     prompt: Some("The teas and their prices".to_owned()),
///     ..ExtractRequest::default()
/// };
/// let json = r#"{"urls": ["https://shop.example/*"], "prompt": "The teas and their prices"}"#;
/// assert_eq!(serde_json::from_str::<ExtractRequest>(json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct ExtractRequest {
    /// URLs of pages, http or https, at most 10, each at most 8192 characters. A URL that ends with `/*` means pages of
    /// that site. Without URLs, pages are searched for with the prompt.
    #[cfg_attr(feature = "schemars", schemars(length(max = EXTRACT_URLS_MAX)))]
    pub urls: Option<Vec<String>>,
    /// The wanted data in words, at most 10000 characters. Required without `urls`.
    #[cfg_attr(feature = "schemars", schemars(length(max = EXTRACT_PROMPT_MAX_CHARS)))]
    pub prompt: Option<String>,
    /// Additional instructions for the language model, at most 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = EXTRACT_PROMPT_MAX_CHARS)))]
    pub system_prompt: Option<String>,
    /// JSON Schema of `data`. References must point into the schema itself. Default: a free object.
    pub schema: Option<Map<String, Value>>,
    /// Maximum number of pages of each site and of the search. A number above 100 counts as 100. Default: 10.
    #[cfg_attr(feature = "schemars", schemars(range(min = EXTRACT_LIMIT_MIN, max = u32::MAX), extend("default" = EXTRACT_LIMIT_DEFAULT)))]
    pub limit: Option<u32>,
    /// True finds the pages of a site without its sitemaps. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub ignore_sitemap: Option<bool>,
    /// True also uses pages of subdomains of a site. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub include_subdomains: Option<bool>,
    /// True also uses pages of other sites that a site links to. Default: the value of `enableWebSearch`.
    pub allow_external_links: Option<bool>,
    /// True also searches for pages with the prompt. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub enable_web_search: Option<bool>,
    /// True adds `sources` to the result. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub show_sources: Option<bool>,
    /// True adds `urlTrace` to the result. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub url_trace: Option<bool>,
    /// True lists invalid URLs in `invalidURLs`, false rejects the request. Default: true.
    #[serde(rename = "ignoreInvalidURLs")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub ignore_invalid_urls: Option<bool>,
    /// Options of scraping the pages. Their `formats` are ignored: pages are read as markdown.
    pub scrape_options: Option<ScrapeOptions>,
    /// Time limit of the extraction, in milliseconds, 1000 to 86400000. The result has the pages that were read by then.
    /// Default and maximum: the limit of the installation.
    #[cfg_attr(feature = "schemars", schemars(range(min = EXTRACT_TIMEOUT_MIN_MS, max = EXTRACT_TIMEOUT_MAX_MS)))]
    pub timeout: Option<u64>,
    /// Agents of the hosted service. Ignored with a warning; the model `v3-beta` is rejected.
    pub agent: Option<Map<String, Value>>,
    /// URL that receives the events of the extraction: `started`, `completed` and `failed`.
    pub webhook: Option<ExtractWebhook>,
    /// Changes the threat protection of the team for this extraction, unless `scrapeOptions` does.
    pub threat_protection: Option<ThreatProtection>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Response of `POST /v2/extract` and `POST /v1/extract`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct ExtractStarted {
    /// Always true.
    pub success: bool,
    /// ID of the extraction.
    pub id: String,
    /// Always empty: the trace is in the status.
    pub url_trace: Vec<ExtractUrl>,
    /// URLs that were ignored because they are invalid. Absent if `ignoreInvalidURLs` is false.
    #[serde(rename = "invalidURLs")]
    pub invalid_urls: Option<Vec<String>>,
    /// Problems that did not fail the request.
    pub warning: Option<String>,
    /// Deprecation notice.
    pub warnings: Vec<String>,
    /// Path of the operation that replaces this one.
    pub replacement: String,
}

/// Status of an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExtractStatus {
    /// The extraction waits or works.
    Processing,
    /// The extraction has its data.
    Completed,
    /// The extraction failed.
    Failed,
    /// The extraction was cancelled.
    Cancelled,
}

/// Response of `GET /v2/extract/{id}` and `GET /v1/extract/{id}`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct ExtractStatusResponse {
    /// False if the extraction failed or was cancelled.
    pub success: bool,
    /// ID of the extraction.
    pub id: String,
    /// Status of the extraction.
    pub status: ExtractStatus,
    /// The extracted object. Only when the status is `completed`.
    pub data: Option<Value>,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Time at which the extraction is deleted, ISO 8601. For one that works: the earliest such time.
    pub expires_at: String,
    /// URLs of the pages that state the values, by the path of the field, such as `shop.name` or `teas[0]`. Only with
    /// `showSources`.
    pub sources: Option<BTreeMap<String, Vec<String>>>,
    /// Pages of the extraction. Only with `urlTrace`.
    pub url_trace: Option<Vec<ExtractUrl>>,
    /// Tokens of the requests to the language model. Absent while the extraction works.
    pub tokens_used: Option<u64>,
    /// Credits that the extraction was charged. Absent while it works.
    pub credits_used: Option<u64>,
    /// Problems that did not fail the extraction, such as pages that could not be read.
    pub warning: Option<String>,
    /// Deprecation notice.
    pub warnings: Vec<String>,
    /// Path of the operation that replaces this one.
    pub replacement: String,
}

/// Page of an extraction.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExtractUrl {
    /// URL of the page.
    pub url: String,
    /// Outcome of the page.
    pub status: ExtractUrlStatus,
    /// Reason why the page was not read.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub error: Option<String>,
    /// True if the page has data of the result.
    pub used_in_completion: bool,
}

/// Outcome of a page of an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExtractUrlStatus {
    /// The page was read.
    Scraped,
    /// The page was not read.
    Error,
}

/// Item of `data` of the event `extract.completed`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExtractCompletedEvent {
    /// Always true.
    pub success: bool,
    /// The extracted object.
    pub data: Value,
    /// ID of the extraction.
    pub extract_id: String,
    /// Number of pages that were read.
    pub total_urls_scraped: u64,
    /// Credits that the extraction was charged.
    pub credits_used: u64,
    /// As in the status.
    #[cfg_attr(feature = "schemars", schemars(with = "BTreeMap<String, Vec<String>>"))]
    pub sources: Option<BTreeMap<String, Vec<String>>>,
}
