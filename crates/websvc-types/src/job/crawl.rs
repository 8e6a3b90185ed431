//! The request for the pages of a site.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::webhook::Webhook;
use crate::SitemapMode;
use crate::limits::{
    CRAWL_DELAY_MAX_S, CRAWL_LIMIT_DEFAULT, CRAWL_LIMIT_MAX, CRAWL_LIMIT_MIN, CRAWL_PATTERNS_MAX,
    JOB_CONCURRENCY_MAX, JOB_CONCURRENCY_MIN, PROMPT_MAX_CHARS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;
use crate::scrape::ScrapeOptions;

/// A request for the pages of a site: `POST /v2/crawl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlRequest {
    /// Start URL, http or https; without a scheme, `http://` is added.
    #[schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Which pages are wanted, in words, at most 10000 characters. They become options, of which those of the request win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = PROMPT_MAX_CHARS))]
    pub prompt: Option<String>,
    /// Only pages whose path one of these regular expressions is found in; the start is crawled in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = CRAWL_PATTERNS_MAX))]
    pub include_paths: Option<Vec<String>>,
    /// No pages whose path one of these regular expressions is found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = CRAWL_PATTERNS_MAX))]
    pub exclude_paths: Option<Vec<String>>,
    /// At most so many links from the start. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = u32::MAX))]
    pub max_discovery_depth: Option<u32>,
    /// At most so many documents. Default: 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = CRAWL_LIMIT_MIN, max = CRAWL_LIMIT_MAX), extend("default" = CRAWL_LIMIT_DEFAULT))]
    pub limit: Option<u64>,
    /// Takes pages outside of the directory of the start, too. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub crawl_entire_domain: Option<bool>,
    /// Takes pages of other hosts, too. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub allow_external_links: Option<bool>,
    /// Takes pages of subdomains, too. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub allow_subdomains: Option<bool>,
    /// True is refused. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub ignore_robots_txt: Option<bool>,
    /// Refused: robots.txt is asked as the service that this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robots_user_agent: Option<String>,
    /// Use of the site's sitemaps. Default: include.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "include"))]
    pub sitemap: Option<SitemapMode>,
    /// Takes usual spellings of one address, such as with and without `www.`, for one page. Default: true.
    #[serde(rename = "deduplicateSimilarURLs", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub deduplicate_similar_urls: Option<bool>,
    /// Leaves out the query of addresses. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub ignore_query_parameters: Option<bool>,
    /// Looks for the regular expressions in the whole address and not in its path. Default: false.
    #[serde(rename = "regexOnFullURL", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub regex_on_full_url: Option<bool>,
    /// Seconds between two pages, which are got one after the other then; more than 0, at most 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = CRAWL_DELAY_MAX_S), extend("exclusiveMinimum" = 0))]
    pub delay: Option<f64>,
    /// Pages at one time, within those of the service. Default: as many as the service allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = JOB_CONCURRENCY_MIN, max = JOB_CONCURRENCY_MAX))]
    pub max_concurrency: Option<u32>,
    /// Webhook that receives the events of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// How each page is scraped; no formats are markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrape_options: Option<ScrapeOptions>,
    /// True is refused: the results of a job are kept until they are fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub zero_data_retention: Option<bool>,
    /// Which client sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Which integration sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
}

/// The crawls of a team that run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveCrawls {
    /// True.
    pub success: bool,
    /// The crawls, the oldest first.
    pub crawls: Vec<ActiveCrawl>,
}

/// A crawl that runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveCrawl {
    /// Identifier of the job.
    pub id: String,
    /// The team.
    #[serde(rename = "teamId")]
    pub team_id: String,
    /// Start URL.
    pub url: String,
    /// When it began, ISO 8601.
    pub created_at: String,
    /// Options of the crawl.
    pub options: CrawlRequest,
}
