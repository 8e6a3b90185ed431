//! Targets of a monitor: pages, a site, or searches.

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use serde_with_macros::skip_serializing_none;

use super::condition::MonitorCondition;
use crate::SitemapMode;
use crate::compat::{self, MONITOR_SEARCH_OPTIONS};
use crate::limits::{
    CONDITION_TEXT_MAX_CHARS, CONDITIONS_MAX, CRAWL_DELAY_MAX_S, CRAWL_LIMIT_DEFAULT, CRAWL_LIMIT_MAX,
    CRAWL_LIMIT_MIN, CRAWL_PATTERNS_MAX, IGNORED_LINES_MAX, JOB_CONCURRENCY_MAX, JOB_CONCURRENCY_MIN,
    MONITOR_DOMAINS_MAX, MONITOR_QUERIES_MAX, MONITOR_QUERIES_MIN, MONITOR_QUERY_MAX_CHARS,
    MONITOR_QUERY_MIN_CHARS, MONITOR_RESULTS_DEFAULT, MONITOR_RESULTS_MAX, MONITOR_RESULTS_MIN,
    MONITOR_URLS_MAX, MONITOR_URLS_MIN, ROBOTS_AGENT_MAX_CHARS, URL_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;
use crate::scrape::ScrapeOptions;
#[cfg(feature = "schemars")]
use crate::search::exclude_two_lists_of_domains;
use crate::tagged::{self, Tagged};

/// Target of a monitor: an object with `type` and the fields of that type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum MonitorTarget {
    /// Single pages.
    Scrape(ScrapeTarget),
    /// Pages of a site.
    Crawl(CrawlTarget),
    /// Results of searches.
    Search(SearchTarget),
}

/// Types of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MonitorTargetKind {
    /// Single pages.
    Scrape,
    /// Pages of a site.
    Crawl,
    /// Results of searches.
    Search,
}

/// Single pages.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct ScrapeTarget {
    /// ID of the target, a UUID. Default: a new one.
    #[cfg_attr(feature = "schemars", schemars(extend("format" = "uuid")))]
    pub id: Option<String>,
    /// URLs of the pages, http or https, 1 to 10000, each at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(
        length(min = MONITOR_URLS_MIN, max = MONITOR_URLS_MAX),
        inner(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))
    ))]
    pub urls: Vec<String>,
    /// Options of scraping each page. The format markdown is always added, and `maxAge` is 0 by default.
    pub scrape_options: Option<ScrapeOptions>,
    /// Regular expressions of lines that are not compared, at most 20 of at most 500 characters. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = IGNORED_LINES_MAX), inner(length(max = CONDITION_TEXT_MAX_CHARS), regex(pattern = NOT_BLANK))))]
    pub ignore_lines: Option<Vec<String>>,
    /// Conditions that a change must fulfil, all of them, at most 10; otherwise the page is the same. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = CONDITIONS_MAX)))]
    pub conditions: Option<Vec<MonitorCondition>>,
}

/// Pages of a site.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct CrawlTarget {
    /// ID of the target, a UUID. Default: a new one.
    #[cfg_attr(feature = "schemars", schemars(extend("format" = "uuid")))]
    pub id: Option<String>,
    /// Start URL, http or https, at most 8192 characters. Without a scheme, `http://` is added.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Options of the crawl. Unknown ones are ignored.
    pub crawl_options: Option<MonitorCrawlOptions>,
    /// Options of scraping each page. The format markdown is always added, and `maxAge` is 0 by default.
    pub scrape_options: Option<ScrapeOptions>,
    /// Regular expressions of lines that are not compared, at most 20 of at most 500 characters. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = IGNORED_LINES_MAX), inner(length(max = CONDITION_TEXT_MAX_CHARS), regex(pattern = NOT_BLANK))))]
    pub ignore_lines: Option<Vec<String>>,
    /// Conditions that a change must fulfil, all of them, at most 10; otherwise the page is the same. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = CONDITIONS_MAX)))]
    pub conditions: Option<Vec<MonitorCondition>>,
}

/// Options of a crawl, as in `POST /v2/crawl`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MonitorCrawlOptions {
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
    /// Maximum number of concurrent pages of a check, 1 to 1000, within the limit of the service. Default: that limit.
    #[cfg_attr(feature = "schemars", schemars(range(min = JOB_CONCURRENCY_MIN, max = JOB_CONCURRENCY_MAX)))]
    pub max_concurrency: Option<u32>,
}

/// Results of searches.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields, transform = add_search_rules))]
pub struct SearchTarget {
    /// ID of the target, a UUID. Default: a new one.
    #[cfg_attr(feature = "schemars", schemars(extend("format" = "uuid")))]
    pub id: Option<String>,
    /// Queries, 1 to 12 of 1 to 256 characters. Their results are merged.
    #[cfg_attr(feature = "schemars", schemars(
        length(min = MONITOR_QUERIES_MIN, max = MONITOR_QUERIES_MAX),
        inner(length(min = MONITOR_QUERY_MIN_CHARS, max = MONITOR_QUERY_MAX_CHARS), regex(pattern = NOT_BLANK))
    ))]
    pub queries: Vec<String>,
    /// Age of the results. Default: 24h.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "24h")))]
    pub search_window: Option<SearchWindow>,
    /// Only results of these hosts and their subdomains, at most 50. Cannot be combined with `excludeDomains`.
    #[cfg_attr(feature = "schemars", schemars(length(max = MONITOR_DOMAINS_MAX)))]
    pub include_domains: Option<Vec<String>>,
    /// No results of these hosts and their subdomains, at most 50.
    #[cfg_attr(feature = "schemars", schemars(length(max = MONITOR_DOMAINS_MAX)))]
    pub exclude_domains: Option<Vec<String>>,
    /// Maximum number of results of all queries together, 1 to 50. Default: 10.
    #[cfg_attr(feature = "schemars", schemars(
        range(min = MONITOR_RESULTS_MIN, max = MONITOR_RESULTS_MAX),
        extend("default" = MONITOR_RESULTS_DEFAULT)
    ))]
    pub max_results: Option<u32>,
}

/// Maximum age of search results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub enum SearchWindow {
    /// Five minutes.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// Fifteen minutes.
    #[serde(rename = "15m")]
    FifteenMinutes,
    /// One hour.
    #[serde(rename = "1h")]
    Hour,
    /// Six hours.
    #[serde(rename = "6h")]
    SixHours,
    /// One day.
    #[default]
    #[serde(rename = "24h")]
    Day,
    /// One week.
    #[serde(rename = "7d")]
    Week,
}

impl SearchWindow {
    /// Returns the time filter of a search, which has hours, days and weeks only: the next larger one.
    #[must_use]
    pub fn tbs(self) -> &'static str {
        match self {
            Self::FiveMinutes | Self::FifteenMinutes | Self::Hour => "qdr:h",
            Self::SixHours | Self::Day => "qdr:d",
            Self::Week => "qdr:w",
        }
    }
}

impl MonitorTarget {
    /// Values of `type`.
    pub const NAMES: &'static [&'static str] = &["scrape", "crawl", "search"];

    /// Returns the type of the target.
    #[must_use]
    pub fn kind(&self) -> MonitorTargetKind {
        match self {
            Self::Scrape(_) => MonitorTargetKind::Scrape,
            Self::Crawl(_) => MonitorTargetKind::Crawl,
            Self::Search(_) => MonitorTargetKind::Search,
        }
    }

    /// Returns the ID of the target. Targets in responses have one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Scrape(target) => target.id.as_deref(),
            Self::Crawl(target) => target.id.as_deref(),
            Self::Search(target) => target.id.as_deref(),
        }
    }
}

impl<'de> Deserialize<'de> for MonitorTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl<'de> Tagged<'de> for MonitorTarget {
    const EXPECTED: &'static str = "an object with the type of a target";

    fn from_tag<D: Deserializer<'de>>(tag: &str, fields: D) -> Result<Self, D::Error> {
        match tag {
            "scrape" => ScrapeTarget::deserialize(fields).map(Self::Scrape),
            "crawl" => CrawlTarget::deserialize(fields).map(Self::Crawl),
            "search" => SearchTarget::deserialize(fields).map(Self::Search),
            unknown => Err(D::Error::unknown_variant(unknown, Self::NAMES)),
        }
    }
}

/// Adds the rule of lists of domains, and fields of older clients, which have no effect.
#[cfg(feature = "schemars")]
fn add_search_rules(schema: &mut Schema) {
    exclude_two_lists_of_domains(schema);
    for name in MONITOR_SEARCH_OPTIONS {
        let description = "Sent by older clients only. Has no effect.";
        compat::add_property(schema, name, json!({ "deprecated": true, "description": description }));
    }
}
