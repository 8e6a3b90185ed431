//! The request of a map.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SitemapMode;
use crate::limits::{
    MAP_DELAY_MAX_S, MAP_LIMIT_DEFAULT, MAP_LIMIT_MAX, MAP_LIMIT_MIN, PATH_PATTERNS_MAX, QUERY_MAX_CHARS,
    SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;
use crate::scrape::{AuditMetadata, Location, ThreatProtection, add_header_patterns};

/// Lists the URLs of a site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapRequest {
    /// URL of the site, http or https; without a scheme, `http://` is added. With a path, only URLs below it are
    /// listed.
    #[schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Ranks the URLs by these words, at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = QUERY_MAX_CHARS))]
    pub search: Option<String>,
    /// Use of the site's sitemaps: their URLs are listed with others, alone, or not at all. Default: include.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "include"))]
    pub sitemap: Option<SitemapMode>,
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
    /// Headers for the site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Lists only URLs whose path matches one of these regular expressions, at most 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = PATH_PATTERNS_MAX))]
    pub include_paths: Option<Vec<String>>,
    /// Leaves out URLs whose path matches one of these regular expressions, at most 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = PATH_PATTERNS_MAX))]
    pub exclude_paths: Option<Vec<String>>,
    /// Compares includePaths and excludePaths with the whole URL. Default: false.
    #[serde(rename = "regexOnFullURL", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub regex_on_full_url: Option<bool>,
    /// 0 leaves out the links of the start page. A map follows none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = u32::MAX))]
    pub max_discovery_depth: Option<u32>,
    /// Lists URLs beside the path of `url`, too, as `filterByPath: false` does. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub crawl_entire_domain: Option<bool>,
    /// Lists URLs of other sites, too. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub allow_external_links: Option<bool>,
    /// Lists URLs of subdomains even when includeSubdomains is false. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub allow_subdomains: Option<bool>,
    /// Must be false: nobody may have robots.txt ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub ignore_robots_txt: Option<bool>,
    /// Must not be given: robots.txt is read for websvc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots_user_agent: Option<String>,
    /// Lists one of several spellings of an address. Default: true.
    #[serde(rename = "deduplicateSimilarURLs", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub deduplicate_similar_urls: Option<bool>,
    /// Seconds to wait before each request to the site, 0 to 60. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = MAP_DELAY_MAX_S), extend("default" = 0))]
    pub delay: Option<f64>,
    /// Lists only URLs below the path of `url`. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub filter_by_path: Option<bool>,
    /// Lists URLs that the index knows, too. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub use_index: Option<bool>,
    /// Fetches the start page anew even when the cache has it. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub ignore_cache: Option<bool>,
    /// Overrides the organization's threat protection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// End user of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_metadata: Option<AuditMetadata>,
    /// Which client sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Which integration sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
}
