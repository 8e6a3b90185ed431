//! The request for the pages of a list.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::webhook::Webhook;
use crate::compat::{self, IGNORE_INVALID_URLS};
use crate::limits::{BATCH_URLS_MAX, BATCH_URLS_MIN, JOB_CONCURRENCY_MAX, JOB_CONCURRENCY_MIN};
use crate::scrape::ScrapeOptions;

/// A request for the pages of a list: `POST /v2/batch/scrape`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = add_rules)]
pub struct BatchScrapeRequest {
    /// The addresses of the pages, http or https; without a scheme they are read as if they began with `http://`. A page
    /// that is named several times is fetched once and has a document for each time.
    #[schemars(length(min = BATCH_URLS_MIN, max = BATCH_URLS_MAX))]
    pub urls: Vec<String>,
    /// Leaves out what is no address of a page, and names it in `invalidURLs`; false refuses the request. Default: true.
    #[serde(rename = "ignoreInvalidURLs", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub ignore_invalid_urls: Option<bool>,
    /// A batch that runs, to which the pages are added; its own options hold for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uuid"))]
    pub append_to_id: Option<String>,
    /// Pages at one time, within those of the service. Default: as many as the service allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = JOB_CONCURRENCY_MIN, max = JOB_CONCURRENCY_MAX))]
    pub max_concurrency: Option<u32>,
    /// True is refused: the results of a job are kept until they are fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub zero_data_retention: Option<bool>,
    /// Webhook that receives the events of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// How each page is scraped.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}

/// Adds the Rust client's spelling.
fn add_rules(schema: &mut Schema) {
    let description = "Another spelling of ignoreInvalidURLs, which wins.";
    let property = json!({ "type": ["boolean", "null"], "deprecated": true, "description": description });
    compat::add_property(schema, IGNORE_INVALID_URLS, property);
}
