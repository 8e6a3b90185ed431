//! Options that the prompt of a crawl can set, and their preview.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::SitemapMode;
use crate::limits::{
    CRAWL_DELAY_MAX_S, CRAWL_LIMIT_MAX, CRAWL_LIMIT_MIN, CRAWL_PATTERNS_MAX, PROMPT_MAX_CHARS,
    PROMPT_MIN_CHARS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;

/// Request of `POST /v2/crawl/params-preview`: returns the options that a prompt sets, without a crawl.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CrawlParamsRequest {
    /// Start URL of the crawl, http or https, at most 8192 characters. Without a scheme, `http://` is added.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Description of the wanted pages in words, 1 to 10000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = PROMPT_MIN_CHARS, max = PROMPT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub prompt: String,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Options of a crawl that a prompt can set. Options that the prompt does not mention are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CrawlParams {
    /// Crawls only pages whose path matches one of these regular expressions.
    #[cfg_attr(feature = "schemars", schemars(length(max = CRAWL_PATTERNS_MAX)))]
    pub include_paths: Option<Vec<String>>,
    /// Excludes pages whose path matches one of these regular expressions.
    #[cfg_attr(feature = "schemars", schemars(length(max = CRAWL_PATTERNS_MAX)))]
    pub exclude_paths: Option<Vec<String>>,
    /// Maximum distance from the start, in links.
    pub max_discovery_depth: Option<u32>,
    /// Maximum number of documents.
    #[cfg_attr(feature = "schemars", schemars(range(min = CRAWL_LIMIT_MIN, max = CRAWL_LIMIT_MAX)))]
    pub limit: Option<u64>,
    /// True also crawls pages outside the directory of the start.
    pub crawl_entire_domain: Option<bool>,
    /// True also crawls pages of other hosts.
    pub allow_external_links: Option<bool>,
    /// True also crawls pages of subdomains.
    pub allow_subdomains: Option<bool>,
    /// Use of the sitemaps of the site.
    pub sitemap: Option<SitemapMode>,
    /// True fetches URLs without their query.
    pub ignore_query_parameters: Option<bool>,
    /// Delay between two pages, in seconds, above 0 and at most 60.
    #[cfg_attr(feature = "schemars", schemars(range(max = CRAWL_DELAY_MAX_S), extend("exclusiveMinimum" = 0)))]
    pub delay: Option<f64>,
}

/// Response of `POST /v2/crawl/params-preview`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CrawlParamsResponse {
    /// Always true.
    pub success: bool,
    /// Start URL and options.
    pub data: CrawlParamsData,
    /// Remarks about the interpretation of the prompt, and problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Start URL of a crawl, and the options that its prompt sets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CrawlParamsData {
    /// Start URL of the crawl, as sent.
    pub url: String,
    /// Options that the prompt sets.
    #[serde(flatten)]
    pub params: CrawlParams,
}
