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
    /// What went wrong without failing; `data.warning` says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}
