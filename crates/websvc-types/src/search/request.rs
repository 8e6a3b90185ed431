//! The request of a search (specification, section 2.1).

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Category, RetentionOption, Source};
use crate::compat::{self, IGNORE_INVALID_URLS};
use crate::country::add_pattern;
use crate::limits::{
    COUNTRY_DEFAULT, DOMAINS_MAX, LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, QUERY_MAX_CHARS,
    SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS,
};
use crate::pattern::{NOT_BLANK, TBS};
use crate::scrape::{ScrapeOptions, ThreatProtection};

/// A search, with the content of the results when `scrapeOptions.formats` asks for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = add_rules)]
pub struct SearchRequest {
    /// Search query, at most 500 characters; may contain query operators such as `site:` and `"phrases"`.
    #[schemars(length(min = 1, max = QUERY_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub query: String,
    /// How many results at most, per source, 1 to 100. Default: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LIMIT_MIN, max = LIMIT_MAX), extend("default" = LIMIT_DEFAULT))]
    pub limit: Option<u32>,
    /// Sources to search; the response has one array for each. Default: web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = [{"type": "web"}]))]
    pub sources: Option<Vec<Source>>,
    /// Kinds of pages that are kept. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = []))]
    pub categories: Option<Vec<Category>>,
    /// Only results of these hosts: hostnames without protocol and path. Not together with excludeDomains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = DOMAINS_MAX))]
    pub include_domains: Option<Vec<String>>,
    /// No results of these hosts: hostnames without protocol and path. Not together with includeDomains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = DOMAINS_MAX))]
    pub exclude_domains: Option<Vec<String>>,
    /// Time filter: `qdr:d`, `cdr:1,cd_min:MM/DD/YYYY,cd_max:MM/DD/YYYY`, `sbd:1`, combined by commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = TBS))]
    pub tbs: Option<String>,
    /// Place of the searcher: `<city>,<region>,<country>` or a country. Best together with `country`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Country of the searcher by its ISO code, such as US or DE. Best together with `location`. Default: US.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = COUNTRY_DEFAULT), transform = add_pattern)]
    pub country: Option<String>,
    /// Filters explicit content. Default: no filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safe: Option<bool>,
    /// Time for the whole request, in milliseconds. Default: 60000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = SEARCH_TIMEOUT_MIN_MS, max = SEARCH_TIMEOUT_MAX_MS), extend("default" = SEARCH_TIMEOUT_DEFAULT_MS))]
    pub timeout: Option<u64>,
    /// Leaves out results whose URL the other operations would refuse. Default: false.
    #[serde(rename = "ignoreInvalidURLs", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub ignore_invalid_urls: Option<bool>,
    /// Describes each result by its passage about the query; false gives the source's own description. Default:
    /// true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub highlights: Option<bool>,
    /// `zdr` for zero data retention end to end, `anon` for the anonymized kind. Must be enabled for the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enterprise: Option<Vec<RetentionOption>>,
    /// How the results are scraped; with formats, each result carries its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrape_options: Option<ScrapeOptions>,
    /// Overrides the organization's threat protection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// Which client sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Which integration sent the request; any text, only logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
}

/// Adds what attributes cannot say: the filters that exclude each other, and the Rust client's spelling.
fn add_rules(schema: &mut Schema) {
    let filled = json!({ "type": "array", "minItems": 1 });
    schema.insert(
        "not".to_owned(),
        json!({
            "required": ["includeDomains", "excludeDomains"],
            "properties": { "includeDomains": filled, "excludeDomains": filled },
        }),
    );
    let description = "Another spelling of ignoreInvalidURLs, which wins.";
    let property = json!({ "type": ["boolean", "null"], "deprecated": true, "description": description });
    compat::add_property(schema, IGNORE_INVALID_URLS, property);
}
