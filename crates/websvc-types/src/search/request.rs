//! Request of a search (specification, section 2.1).

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with_macros::skip_serializing_none;

use super::{Category, RetentionOption, Source};
use crate::compat::{self, IGNORE_INVALID_URLS};
#[cfg(feature = "schemars")]
use crate::country::add_pattern;
use crate::limits::{
    COUNTRY_DEFAULT, DOMAINS_MAX, LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, QUERY_MAX_CHARS,
    SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS,
};
use crate::pattern::{NOT_BLANK, TBS};
use crate::scrape::{ScrapeOptions, ThreatProtection};

/// Request of `POST /v2/search`. With `scrapeOptions.formats`, each result carries the content of its page.
///
/// # Examples
///
/// ```
/// use websvc_types::{Category, Format, ScrapeOptions, SearchRequest, format};
///
/// let request = SearchRequest {
///     limit: Some(3),
///     categories: Some(vec![Category::Github]),
///     scrape_options: Some(ScrapeOptions {
///         formats: Some(vec![Format::Markdown(format::Markdown {})]),
///         ..ScrapeOptions::default()
///     }),
///     ..SearchRequest::new("asyncio gather")
/// };
/// assert_eq!(
///     serde_json::to_value(&request)?,
///     serde_json::json!({
///         "query": "asyncio gather",
///         "limit": 3,
///         "categories": ["github"],
///         "scrapeOptions": { "formats": [{ "type": "markdown" }] },
///     })
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = add_rules))]
pub struct SearchRequest {
    /// Search query, 1 to 500 characters. Supports query operators such as `site:` and `"phrases"`.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = QUERY_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub query: String,
    /// Maximum number of results per source, 1 to 100. Default: 10.
    #[cfg_attr(feature = "schemars", schemars(range(min = LIMIT_MIN, max = LIMIT_MAX), extend("default" = LIMIT_DEFAULT)))]
    pub limit: Option<u32>,
    /// Sources to search; the response has one list for each. Default: web.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = [{"type": "web"}])))]
    pub sources: Option<Vec<Source>>,
    /// Returns only pages of any of these categories. Default: all pages.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = [])))]
    pub categories: Option<Vec<Category>>,
    /// Returns only results of these hosts and their subdomains: at most 1000 hostnames without protocol and path.
    /// Cannot be combined with `excludeDomains`.
    #[cfg_attr(feature = "schemars", schemars(length(max = DOMAINS_MAX)))]
    pub include_domains: Option<Vec<String>>,
    /// Excludes results of these hosts and their subdomains: at most 1000 hostnames without protocol and path. Cannot
    /// be combined with `includeDomains`.
    #[cfg_attr(feature = "schemars", schemars(length(max = DOMAINS_MAX)))]
    pub exclude_domains: Option<Vec<String>>,
    /// Time filter: `qdr:d` (last day; also `h`, `w`, `m`, `y`), `cdr:1,cd_min:MM/DD/YYYY,cd_max:MM/DD/YYYY` (range of
    /// days), `sbd:1` (newest first), combined by commas.
    #[cfg_attr(feature = "schemars", schemars(regex(pattern = TBS)))]
    pub tbs: Option<String>,
    /// Location of the user: `City,Region,Country` or a country. Best together with `country`.
    pub location: Option<String>,
    /// Country of the user: an ISO 3166-1 alpha-2 code such as `DE`, in any letter case. Best together with `location`.
    /// Default: US.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = COUNTRY_DEFAULT), transform = add_pattern))]
    pub country: Option<String>,
    /// True removes explicit content. Default: no filter.
    pub safe: Option<bool>,
    /// Time limit of the whole request, in milliseconds, 1 to 300000; less than 1000 counts as 1000. Default: 60000.
    #[cfg_attr(feature = "schemars", schemars(range(min = SEARCH_TIMEOUT_MIN_MS, max = SEARCH_TIMEOUT_MAX_MS), extend("default" = SEARCH_TIMEOUT_DEFAULT_MS)))]
    pub timeout: Option<u64>,
    /// True removes results whose URL cannot be scraped, that is all but http and https. Default: false.
    #[serde(rename = "ignoreInvalidURLs")]
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub ignore_invalid_urls: Option<bool>,
    /// True describes each result by the passage of the page that matches the query, false by the description that the
    /// page gives of itself. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub highlights: Option<bool>,
    /// Data retention: `zdr` for zero data retention end to end, `anon` for the anonymized kind, `default` for neither.
    /// Must be enabled for the team.
    pub enterprise: Option<Vec<RetentionOption>>,
    /// Options of scraping the results. Without `formats`, no page is scraped.
    pub scrape_options: Option<ScrapeOptions>,
    /// Changes the threat protection of the team for this request.
    pub threat_protection: Option<ThreatProtection>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

impl SearchRequest {
    /// Creates a request for this query, with all other fields absent.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }
}

/// Adds the rules that attributes cannot express: filters that exclude each other, and a spelling of the official Rust
/// client.
#[cfg(feature = "schemars")]
fn add_rules(schema: &mut Schema) {
    exclude_two_lists_of_domains(schema);
    let description = "Another spelling of `ignoreInvalidURLs`, which takes precedence.";
    let property = json!({ "type": ["boolean", "null"], "deprecated": true, "description": description });
    compat::add_property(schema, IGNORE_INVALID_URLS, property);
}

/// Adds the rule that a search has either included or excluded domains.
#[cfg(feature = "schemars")]
pub(crate) fn exclude_two_lists_of_domains(schema: &mut Schema) {
    let non_empty = json!({ "type": "array", "minItems": 1 });
    schema.insert(
        "not".to_owned(),
        json!({
            "required": ["includeDomains", "excludeDomains"],
            "properties": { "includeDomains": non_empty, "excludeDomains": non_empty },
        }),
    );
}
