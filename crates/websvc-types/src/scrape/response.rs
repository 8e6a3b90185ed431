//! The answer to a request for one page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::search::PageContent;

/// A page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScrapeResponse {
    /// True.
    pub success: bool,
    /// The page in the formats that were asked for; `metadata.scrapeId` is what `GET /v2/scrape/{id}` takes.
    pub data: PageContent,
    /// Problems that did not fail the request; `data.warning` has the same text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}
