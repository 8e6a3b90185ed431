//! Request of a map.

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::SitemapMode;
use crate::limits::{
    MAP_DELAY_MAX_S, MAP_LIMIT_DEFAULT, MAP_LIMIT_MAX, MAP_LIMIT_MIN, PATH_PATTERNS_MAX, QUERY_MAX_CHARS,
    SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;
#[cfg(feature = "schemars")]
use crate::scrape::add_header_patterns;
use crate::scrape::{AuditMetadata, Location, ThreatProtection};

/// Request of `POST /v2/map`: lists the URLs of a site.
///
/// # Examples
///
/// ```
/// use websvc_types::MapRequest;
///
/// let request = MapRequest {
///     search: Some("webhooks".to_owned()),
///     limit: Some(20),
///     ..MapRequest::new("https://docs.example/guides")
/// };
/// let json = r#"{"url": "https://docs.example/guides", "search": "webhooks", "limit": 20}"#;
/// assert_eq!(serde_json::from_str::<MapRequest>(json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MapRequest {
    /// URL of the site, http or https, at most 8192 characters. Without a scheme, `http://` is added. With a path, only
    /// URLs below it are listed.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Words to rank the URLs by, at most 500 characters. Default: not ranked.
    #[cfg_attr(feature = "schemars", schemars(length(max = QUERY_MAX_CHARS)))]
    pub search: Option<String>,
    /// Use of the sitemaps of the site. Default: include.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "include")))]
    pub sitemap: Option<SitemapMode>,
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
    /// Headers of the requests to the host of `url`, at most 65536 bytes.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns))]
    pub headers: Option<BTreeMap<String, String>>,
    /// Lists only URLs whose path matches one of these regular expressions: at most 100, each at most 1000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = PATH_PATTERNS_MAX)))]
    pub include_paths: Option<Vec<String>>,
    /// Excludes URLs whose path matches one of these regular expressions: at most 100, each at most 1000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = PATH_PATTERNS_MAX)))]
    pub exclude_paths: Option<Vec<String>>,
    /// True matches `includePaths` and `excludePaths` with the full URL, false with the path. Default: false.
    #[serde(rename = "regexOnFullURL")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub regex_on_full_url: Option<bool>,
    /// 0 excludes the links of the start page. A larger value counts as 1, because a map does not follow links.
    /// Default: 1.
    #[cfg_attr(feature = "schemars", schemars(range(max = u32::MAX)))]
    pub max_discovery_depth: Option<u32>,
    /// True also lists URLs outside the path of `url`, as `filterByPath: false` does. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub crawl_entire_domain: Option<bool>,
    /// True also lists URLs of other sites. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub allow_external_links: Option<bool>,
    /// True lists URLs of subdomains even if `includeSubdomains` is false. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub allow_subdomains: Option<bool>,
    /// Must be false: a map always obeys robots.txt. True is rejected with 403.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub ignore_robots_txt: Option<bool>,
    /// Must be absent: robots.txt is always read as `websvc`. Any value is rejected with 403.
    pub robots_user_agent: Option<String>,
    /// True lists one of several spellings of a URL, such as with and without `www.`. Default: true.
    #[serde(rename = "deduplicateSimilarURLs")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub deduplicate_similar_urls: Option<bool>,
    /// Delay before each request to the site, in seconds, 0 to 60. Default: 0.
    #[cfg_attr(feature = "schemars", schemars(range(min = 0.0, max = MAP_DELAY_MAX_S), extend("default" = 0)))]
    pub delay: Option<f64>,
    /// True lists only URLs below the path of `url`. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub filter_by_path: Option<bool>,
    /// True also lists URLs of the index. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub use_index: Option<bool>,
    /// True fetches the start page even if the cache has it. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub ignore_cache: Option<bool>,
    /// Changes the threat protection of the team for this request.
    pub threat_protection: Option<ThreatProtection>,
    /// User that the request is made for, recorded in the audit events of the team.
    pub audit_metadata: Option<AuditMetadata>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

impl MapRequest {
    /// Creates a request for the site at this URL, with all other fields absent.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}
