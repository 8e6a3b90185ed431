//! The response of a map.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer to a map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapResponse {
    /// True.
    pub success: bool,
    /// The URLs of the site, the best first when words to rank by were given.
    pub links: Vec<MapLink>,
    /// Problems that did not fail the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
    /// Identifier of the map.
    pub id: String,
    /// Credits charged for the map.
    pub credits_used: u64,
}

/// A URL of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapLink {
    /// The URL.
    pub url: String,
    /// The title of the page, or the text of a link to it, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    /// Description of the page, if the site or the index has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub description: Option<String>,
}
