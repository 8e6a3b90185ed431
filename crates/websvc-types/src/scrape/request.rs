//! Request of a scrape: the URL of the page and the options (clients.md, section 2.2).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::ScrapeOptions;
use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;

/// Request of `POST /v2/scrape`: scrapes one page.
///
/// # Examples
///
/// ```
/// use websvc_types::{Format, ScrapeOptions, ScrapeRequest, format};
///
/// let request = ScrapeRequest {
///     options: ScrapeOptions {
///         formats: Some(vec![Format::Links(format::Links {})]),
///         ..ScrapeOptions::default()
///     },
///     ..ScrapeRequest::new("https://docs.example")
/// };
/// // The options are at the top level of the body.
/// assert_eq!(
///     serde_json::to_value(&request)?,
///     serde_json::json!({ "url": "https://docs.example", "formats": [{ "type": "links" }] })
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScrapeRequest {
    /// URL of the page, http or https, at most 8192 characters. Without a scheme, `http://` is added.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// True stores nothing of the request; 403 if the team is not permitted to use it. Default: the setting of the
    /// team.
    pub zero_data_retention: Option<bool>,
    /// Options of the scrape, at the top level of the body.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}

impl ScrapeRequest {
    /// Creates a request for the page at this URL, with all other fields absent.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}
