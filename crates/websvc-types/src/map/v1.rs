//! The map as clients of the first version ask for it: `POST /v1/map`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MapRequest, MapResponse, SitemapMode};
use crate::limits::{
    MAP_LIMIT_DEFAULT, MAP_LIMIT_MAX, MAP_LIMIT_MIN, QUERY_MAX_CHARS, SEARCH_TIMEOUT_DEFAULT_MS,
    SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;
use crate::scrape::Location;

/// Lists the URLs of a site, in the words of the first version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapRequestV1 {
    /// URL of the site, http or https; without a scheme, `http://` is added. With a path, only URLs below it are
    /// listed.
    #[schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Ranks the URLs by these words, at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = QUERY_MAX_CHARS))]
    pub search: Option<String>,
    /// Reads no sitemaps. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub ignore_sitemap: Option<bool>,
    /// Lists URLs of sitemaps alone; wins over `ignoreSitemap`. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub sitemap_only: Option<bool>,
    /// Lists URLs of subdomains, too. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub include_subdomains: Option<bool>,
    /// Lists URLs without their query. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub ignore_query_parameters: Option<bool>,
    /// How many URLs at most, 1 to 100000. Default: 5000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = MAP_LIMIT_MIN, max = MAP_LIMIT_MAX), extend("default" = MAP_LIMIT_DEFAULT))]
    pub limit: Option<u32>,
    /// Time for the whole request, in milliseconds. Default: 60000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = SEARCH_TIMEOUT_MIN_MS, max = SEARCH_TIMEOUT_MAX_MS), extend("default" = SEARCH_TIMEOUT_DEFAULT_MS))]
    pub timeout: Option<u64>,
    /// Location that the site is visited from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Lists only URLs below the path of `url`. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub filter_by_path: Option<bool>,
    /// Lists URLs that the index knows, too. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub use_index: Option<bool>,
    /// Which client sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Which integration sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
}

impl From<MapRequestV1> for MapRequest {
    fn from(request: MapRequestV1) -> Self {
        let MapRequestV1 {
            url,
            search,
            ignore_sitemap,
            sitemap_only,
            include_subdomains,
            ignore_query_parameters,
            limit,
            timeout,
            location,
            filter_by_path,
            use_index,
            origin,
            integration,
        } = request;
        let sitemap = match (sitemap_only, ignore_sitemap) {
            (Some(true), _) => SitemapMode::Only,
            (Some(false) | None, Some(true)) => SitemapMode::Skip,
            (Some(false) | None, Some(false) | None) => SitemapMode::Include,
        };
        Self {
            url,
            search,
            sitemap: Some(sitemap),
            include_subdomains,
            ignore_query_parameters,
            limit,
            timeout,
            location,
            filter_by_path,
            use_index,
            origin,
            integration,
            ..Self::default()
        }
    }
}

/// The answer to a map in the words of the first version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapResponseV1 {
    /// True.
    pub success: bool,
    /// The URLs of the site, the best first when words to rank by were given.
    pub links: Vec<String>,
    /// Problems that did not fail the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}

impl From<MapResponse> for MapResponseV1 {
    fn from(response: MapResponse) -> Self {
        let MapResponse { success, links, warning, id: _, credits_used: _ } = response;
        Self { success, links: links.into_iter().map(|link| link.url).collect(), warning }
    }
}
