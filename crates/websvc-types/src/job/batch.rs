//! Request of a batch: the pages of a list.

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with_macros::skip_serializing_none;

use super::webhook::Webhook;
use crate::compat::{self, IGNORE_INVALID_URLS};
use crate::limits::{BATCH_URLS_MAX, BATCH_URLS_MIN, JOB_CONCURRENCY_MAX, JOB_CONCURRENCY_MIN};
use crate::scrape::ScrapeOptions;

/// Request of `POST /v2/batch/scrape`: scrapes a list of pages in the background.
///
/// # Examples
///
/// ```
/// use websvc_types::job::BatchScrapeRequest;
///
/// let request = BatchScrapeRequest {
///     max_concurrency: Some(2),
///     ..BatchScrapeRequest::new(["https://docs.example/a", "https://docs.example/b"])
/// };
/// let json = r#"{"urls": ["https://docs.example/a", "https://docs.example/b"], "maxConcurrency": 2}"#;
/// assert_eq!(serde_json::from_str::<BatchScrapeRequest>(json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = add_rules))]
pub struct BatchScrapeRequest {
    /// URLs of the pages, 1 to 10000, http or https, each at most 8192 characters. Without a scheme, `http://` is
    /// added. A URL that appears several times is fetched once and has a document for each entry.
    #[cfg_attr(feature = "schemars", schemars(length(min = BATCH_URLS_MIN, max = BATCH_URLS_MAX)))]
    pub urls: Vec<String>,
    /// True skips invalid URLs and lists them in `invalidURLs` of the response; false rejects the request. Default:
    /// true.
    #[serde(rename = "ignoreInvalidURLs")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub ignore_invalid_urls: Option<bool>,
    /// ID of a running batch to which the pages are added, with the options of that batch. Default: a new batch.
    #[cfg_attr(feature = "schemars", schemars(extend("format" = "uuid")))]
    pub append_to_id: Option<String>,
    /// Maximum number of concurrent pages of this job, 1 to 1000, within the limit of the service. Default: that limit.
    #[cfg_attr(feature = "schemars", schemars(range(min = JOB_CONCURRENCY_MIN, max = JOB_CONCURRENCY_MAX)))]
    pub max_concurrency: Option<u32>,
    /// Must be false: the documents of a job are stored until it expires. True is rejected with 403. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub zero_data_retention: Option<bool>,
    /// Webhook that receives the events of the job. Default: none.
    pub webhook: Option<Webhook>,
    /// Options of scraping each page, at the top level of the body.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}

impl BatchScrapeRequest {
    /// Creates a request for the pages at these URLs, with all other fields absent.
    #[must_use]
    pub fn new<U: Into<String>>(urls: impl IntoIterator<Item = U>) -> Self {
        Self { urls: urls.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

/// Adds a spelling of the official Rust client.
#[cfg(feature = "schemars")]
fn add_rules(schema: &mut Schema) {
    let description = "Another spelling of `ignoreInvalidURLs`, which takes precedence.";
    let property = json!({ "type": ["boolean", "null"], "deprecated": true, "description": description });
    compat::add_property(schema, IGNORE_INVALID_URLS, property);
}
