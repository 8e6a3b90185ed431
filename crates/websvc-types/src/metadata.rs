//! Metadata of a scraped page (specification, section 2.6, metadata object).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Metadata of a scraped page. In addition to the named keys, every meta tag of the page is present under its own
/// name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Title of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    /// The page's own description.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub description: Option<String>,
    /// Language of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub language: Option<String>,
    /// The URL that was asked for; may differ from the final one.
    #[serde(rename = "sourceURL", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub source_url: Option<String>,
    /// The URL after all redirects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub url: Option<String>,
    /// HTTP status of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u16")]
    pub status_code: Option<u16>,
    /// PDF: how many pages were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub num_pages: Option<u32>,
    /// PDF: how many pages there are, when that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub total_pages: Option<u32>,
    /// Why the page could not be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Media type of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content_type: Option<String>,
    /// The way that was taken to the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ProxyUsed")]
    pub proxy_used: Option<ProxyUsed>,
    /// Cache hit or miss.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "CacheState")]
    pub cache_state: Option<CacheState>,
    /// When a cached page was fetched, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub cached_at: Option<String>,
    /// Identifier of the scrape.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub scrape_id: Option<String>,
    /// Credits charged for the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub credits_used: Option<u64>,
    /// Batch: the index of the page in `urls` as sent, from 0. What is not an address of a page counts, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub index: Option<u64>,
    /// The page's meta tags by name; a list where a tag is repeated.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

impl Metadata {
    /// The keys with a meaning of their own, which no meta tag of a page may take.
    pub const KEYS: &'static [&'static str] = &[
        "title",
        "description",
        "language",
        "sourceURL",
        "url",
        "statusCode",
        "numPages",
        "totalPages",
        "error",
        "contentType",
        "proxyUsed",
        "cacheState",
        "cachedAt",
        "scrapeId",
        "creditsUsed",
        "index",
        "concurrencyLimited",
        "concurrencyQueueDurationMs",
        "ogLocaleAlternate",
    ];
}

/// The way that was taken to a page, in the words that clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProxyUsed {
    /// The basic way.
    Basic,
    /// The enhanced way.
    Stealth,
}

/// Cache hit or miss of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// It had.
    Hit,
    /// It had not.
    Miss,
}
