//! Request and response of `POST /v1/map`, for clients of version 1.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::{MapRequest, MapResponse, SitemapMode};
use crate::limits::{
    MAP_LIMIT_DEFAULT, MAP_LIMIT_MAX, MAP_LIMIT_MIN, QUERY_MAX_CHARS, SEARCH_TIMEOUT_DEFAULT_MS,
    SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;
use crate::scrape::Location;

/// Request of `POST /v1/map`: lists the URLs of a site, for clients of version 1.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MapRequestV1 {
    /// URL of the site, http or https, at most 8192 characters. Without a scheme, `http://` is added. With a path, only
    /// URLs below it are listed.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Words to rank the URLs by, at most 500 characters. Default: not ranked.
    #[cfg_attr(feature = "schemars", schemars(length(max = QUERY_MAX_CHARS)))]
    pub search: Option<String>,
    /// True does not read sitemaps. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub ignore_sitemap: Option<bool>,
    /// True lists only URLs of sitemaps; takes precedence over `ignoreSitemap`. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub sitemap_only: Option<bool>,
    /// True also lists URLs of subdomains. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub include_subdomains: Option<bool>,
    /// True lists URLs without their query. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub ignore_query_parameters: Option<bool>,
    /// Maximum number of URLs, 1 to 100000. Default: 5000.
    #[cfg_attr(feature = "schemars", schemars(range(min = MAP_LIMIT_MIN, max = MAP_LIMIT_MAX), extend("default" = MAP_LIMIT_DEFAULT)))]
    pub limit: Option<u32>,
    /// Time limit of the whole request, in milliseconds, 1 to 300000; less than 1000 counts as 1000. Default: 60000.
    #[cfg_attr(feature = "schemars", schemars(range(min = SEARCH_TIMEOUT_MIN_MS, max = SEARCH_TIMEOUT_MAX_MS), extend("default" = SEARCH_TIMEOUT_DEFAULT_MS)))]
    pub timeout: Option<u64>,
    /// Location that the site is visited from.
    pub location: Option<Location>,
    /// True lists only URLs below the path of `url`. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub filter_by_path: Option<bool>,
    /// True also lists URLs of the index. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub use_index: Option<bool>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
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

/// Response of `POST /v1/map`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MapResponseV1 {
    /// Always true.
    pub success: bool,
    /// URLs of the site; with `search` the most relevant first.
    pub links: Vec<String>,
    /// Problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

impl From<MapResponse> for MapResponseV1 {
    fn from(response: MapResponse) -> Self {
        let MapResponse { success, links, warning, id: _, credits_used: _ } = response;
        Self { success, links: links.into_iter().map(|link| link.url).collect(), warning }
    }
}
