//! The request for one page: its URL, beside the options of scraping (clients.md, section 2.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScrapeOptions;
use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;

/// A request for one page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeRequest {
    /// The address of the page, http or https; without a scheme it is read as if it began with `http://`.
    #[schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Keeps nothing of the request; the team must be allowed to. Default: what the team has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_data_retention: Option<bool>,
    /// How the page is scraped.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}
