//! Request of a crawl: the pages of a site.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::webhook::Webhook;
use crate::SitemapMode;
use crate::limits::{
    CRAWL_DELAY_MAX_S, CRAWL_LIMIT_DEFAULT, CRAWL_LIMIT_MAX, CRAWL_LIMIT_MIN, CRAWL_PATTERNS_MAX,
    JOB_CONCURRENCY_MAX, JOB_CONCURRENCY_MIN, PROMPT_MAX_CHARS, ROBOTS_AGENT_MAX_CHARS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;
use crate::scrape::ScrapeOptions;

/// Request of `POST /v2/crawl`: finds and scrapes the pages of a site in the background.
///
/// # Examples
///
/// ```
/// use websvc_types::job::CrawlRequest;
///
/// let request = CrawlRequest {
///     limit: Some(100),
///     exclude_paths: Some(vec!["/old/".to_owned()]),
///     ..CrawlRequest::new("https://docs.example/")
/// };
/// let json = r#"{"url": "https://docs.example/", "limit": 100, "excludePaths": ["/old/"]}"#;
/// assert_eq!(serde_json::from_str::<CrawlRequest>(json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CrawlRequest {
    /// Start URL, http or https, at most 8192 characters. Without a scheme, `http://` is added.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Description of the wanted pages in words, at most 10000 characters. It is turned into options; options of the
    /// request take precedence.
    #[cfg_attr(feature = "schemars", schemars(length(max = PROMPT_MAX_CHARS)))]
    pub prompt: Option<String>,
    /// Crawls only pages whose path matches one of these regular expressions, at most 100 of 2000 bytes each. The start
    /// is always crawled.
    #[cfg_attr(feature = "schemars", schemars(length(max = CRAWL_PATTERNS_MAX)))]
    pub include_paths: Option<Vec<String>>,
    /// Excludes pages whose path matches one of these regular expressions, at most 100 of 2000 bytes each.
    #[cfg_attr(feature = "schemars", schemars(length(max = CRAWL_PATTERNS_MAX)))]
    pub exclude_paths: Option<Vec<String>>,
    /// Maximum distance from the start, in links; 0 crawls only the start. Default: no maximum.
    #[cfg_attr(feature = "schemars", schemars(range(max = u32::MAX)))]
    pub max_discovery_depth: Option<u32>,
    /// Maximum number of documents, 1 to 1000000. Default: 10000.
    #[cfg_attr(feature = "schemars", schemars(range(min = CRAWL_LIMIT_MIN, max = CRAWL_LIMIT_MAX), extend("default" = CRAWL_LIMIT_DEFAULT)))]
    pub limit: Option<u64>,
    /// True also crawls pages outside the directory of the start. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub crawl_entire_domain: Option<bool>,
    /// True also crawls pages of other hosts. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub allow_external_links: Option<bool>,
    /// True also crawls pages of subdomains. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub allow_subdomains: Option<bool>,
    /// Must be false: a crawl always obeys robots.txt. True is rejected with 403. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub ignore_robots_txt: Option<bool>,
    /// User agent whose rules in robots.txt apply; requests are still sent as websvc. 403 if the team is not permitted to
    /// name one. Default: `websvc`.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = ROBOTS_AGENT_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub robots_user_agent: Option<String>,
    /// Use of the sitemaps of the site. Default: include.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "include")))]
    pub sitemap: Option<SitemapMode>,
    /// True treats common spellings of a URL, such as with and without `www.`, as one page. Default: true.
    #[serde(rename = "deduplicateSimilarURLs")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub deduplicate_similar_urls: Option<bool>,
    /// True fetches URLs without their query. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub ignore_query_parameters: Option<bool>,
    /// True matches `includePaths` and `excludePaths` with the full URL, false with the path. Default: false.
    #[serde(rename = "regexOnFullURL")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub regex_on_full_url: Option<bool>,
    /// Delay between two pages, in seconds, above 0 and at most 60; pages are then fetched one after the other.
    /// Default: none.
    #[cfg_attr(feature = "schemars", schemars(range(max = CRAWL_DELAY_MAX_S), extend("exclusiveMinimum" = 0)))]
    pub delay: Option<f64>,
    /// Maximum number of concurrent pages of this job, 1 to 1000, within the limit of the service. Default: that limit.
    #[cfg_attr(feature = "schemars", schemars(range(min = JOB_CONCURRENCY_MIN, max = JOB_CONCURRENCY_MAX)))]
    pub max_concurrency: Option<u32>,
    /// Webhook that receives the events of the job. Default: none.
    pub webhook: Option<Webhook>,
    /// Options of scraping each page. Without `formats`, a page is scraped as markdown.
    pub scrape_options: Option<ScrapeOptions>,
    /// Must be false: the documents of a job are stored until it expires. True is rejected with 403. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub zero_data_retention: Option<bool>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

impl CrawlRequest {
    /// Creates a request for the site at this URL, with all other fields absent.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}

/// Response of `GET /v2/crawl/active`: running crawls of the team.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ActiveCrawls {
    /// Always true.
    pub success: bool,
    /// Running crawls, the oldest first.
    pub crawls: Vec<ActiveCrawl>,
}

/// Running crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ActiveCrawl {
    /// ID of the job.
    pub id: String,
    /// Name of the team.
    #[serde(rename = "teamId")]
    pub team_id: String,
    /// Start URL.
    pub url: String,
    /// Start time, ISO 8601.
    pub created_at: String,
    /// Options of the crawl, as requested, without its webhook.
    pub options: CrawlRequest,
}
