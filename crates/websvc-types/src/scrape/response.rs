//! Response of a scrape.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::search::PageContent;

/// Response of `POST /v2/scrape`, `GET /v2/scrape/{id}` and `POST /v2/parse`.
///
/// # Examples
///
/// ```
/// use websvc_types::ScrapeResponse;
///
/// let response: ScrapeResponse = serde_json::from_str(r##"{
///     "success": true,
///     "data": { "markdown": "# Green tea", "metadata": { "statusCode": 200 } }
/// }"##)?;
/// assert_eq!(response.data.markdown.as_deref(), Some("# Green tea"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ScrapeResponse {
    /// Always true.
    pub success: bool,
    /// Page in the requested formats. `metadata.scrapeId` is the ID for `GET /v2/scrape/{id}`.
    pub data: PageContent,
    /// Problems that did not fail the request; `data.warning` has the same text.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}
