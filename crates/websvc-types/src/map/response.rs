//! Response of a map.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

/// Response of `POST /v2/map`.
///
/// # Examples
///
/// ```
/// use websvc_types::MapResponse;
///
/// let response: MapResponse = serde_json::from_str(r#"{
///     "success": true,
///     "links": [{ "url": "https://docs.example/guides/webhooks", "title": "Webhooks" }],
///     "id": "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60",
///     "creditsUsed": 1
/// }"#)?;
/// assert_eq!(response.links[0].title.as_deref(), Some("Webhooks"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MapResponse {
    /// Always true.
    pub success: bool,
    /// URLs of the site; with `search` the most relevant first.
    pub links: Vec<MapLink>,
    /// Problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
    /// ID of the map.
    pub id: String,
    /// Credits charged for the map.
    pub credits_used: u64,
}

/// URL of a site.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct MapLink {
    /// URL of the page.
    pub url: String,
    /// Title of the page, or text of a link to it, if known.
    pub title: Option<String>,
    /// Description of the page, if known.
    pub description: Option<String>,
}
