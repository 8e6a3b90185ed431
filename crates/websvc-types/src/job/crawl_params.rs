//! The options of a crawl that words can say, and the request for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SitemapMode;
use crate::limits::{
    CRAWL_DELAY_MAX_S, CRAWL_LIMIT_MAX, CRAWL_LIMIT_MIN, CRAWL_PATTERNS_MAX, PROMPT_MAX_CHARS,
    PROMPT_MIN_CHARS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;

/// A request for the options that a prompt becomes: `POST /v2/crawl/params-preview`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlParamsRequest {
    /// Start URL of the crawl, http or https; without a scheme, `http://` is added.
    #[schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Which pages are wanted, in words.
    #[schemars(length(min = PROMPT_MIN_CHARS, max = PROMPT_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub prompt: String,
    /// Which client sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Which integration sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
}

/// The options of a crawl that words can say; those of which nothing is said are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlParams {
    /// Only pages whose path one of these regular expressions is found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = CRAWL_PATTERNS_MAX))]
    pub include_paths: Option<Vec<String>>,
    /// No pages whose path one of these regular expressions is found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = CRAWL_PATTERNS_MAX))]
    pub exclude_paths: Option<Vec<String>>,
    /// At most so many links from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_discovery_depth: Option<u32>,
    /// At most so many documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = CRAWL_LIMIT_MIN, max = CRAWL_LIMIT_MAX))]
    pub limit: Option<u64>,
    /// Takes pages outside of the directory of the start, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl_entire_domain: Option<bool>,
    /// Takes pages of other hosts, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_external_links: Option<bool>,
    /// Takes pages of subdomains, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_subdomains: Option<bool>,
    /// Use of the site's sitemaps: skip, include or only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sitemap: Option<SitemapMode>,
    /// Leaves out the query of addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_query_parameters: Option<bool>,
    /// Seconds between two pages; more than 0, at most 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = CRAWL_DELAY_MAX_S), extend("exclusiveMinimum" = 0))]
    pub delay: Option<f64>,
}

/// The options that a prompt becomes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrawlParamsResponse {
    /// True.
    pub success: bool,
    /// The options.
    pub data: CrawlParamsData,
    /// How the prompt was read, and what went wrong without failing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}

/// A request for a crawl, as far as its prompt says it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrawlParamsData {
    /// Start URL of the crawl, as given.
    pub url: String,
    /// The options.
    #[serde(flatten)]
    pub params: CrawlParams,
}
