//! Metadata of a scraped page (specification, section 2.6).

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

/// Metadata of a scraped page. In addition to the fields below, every meta tag of the page is present under its own
/// name.
///
/// # Examples
///
/// ```
/// let metadata: websvc_types::Metadata =
///     serde_json::from_str(r#"{"sourceURL": "https://docs.example", "statusCode": 404, "og:type": "article"}"#)?;
/// assert_eq!(metadata.status_code, Some(404));
/// assert_eq!(metadata.other["og:type"], "article");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Title of the page.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub title: Option<String>,
    /// Description that the page gives of itself.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub description: Option<String>,
    /// Language of the page, such as `en`.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub language: Option<String>,
    /// Requested URL; differs from `url` after a redirect.
    #[serde(rename = "sourceURL")]
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub source_url: Option<String>,
    /// URL after all redirects.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub url: Option<String>,
    /// HTTP status of the response of the host.
    #[cfg_attr(feature = "schemars", schemars(with = "u16"))]
    pub status_code: Option<u16>,
    /// PDF only: number of pages read.
    #[cfg_attr(feature = "schemars", schemars(with = "u32"))]
    pub num_pages: Option<u32>,
    /// PDF only: number of pages of the file, if known.
    #[cfg_attr(feature = "schemars", schemars(with = "u32"))]
    pub total_pages: Option<u32>,
    /// Reason why there is no page, beginning with an error code; or the status of an error page.
    pub error: Option<String>,
    /// Media type of the page.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub content_type: Option<String>,
    /// Proxy tier that fetched the page.
    #[cfg_attr(feature = "schemars", schemars(with = "ProxyUsed"))]
    pub proxy_used: Option<ProxyUsed>,
    /// Cache hit or miss.
    #[cfg_attr(feature = "schemars", schemars(with = "CacheState"))]
    pub cache_state: Option<CacheState>,
    /// Time when a cached page was fetched, ISO 8601.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub cached_at: Option<String>,
    /// ID of the scrape; `GET /v2/scrape/{id}` returns its response again for an hour.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub scrape_id: Option<String>,
    /// Credits charged for the page.
    #[cfg_attr(feature = "schemars", schemars(with = "u64"))]
    pub credits_used: Option<u64>,
    /// Batch only: index of the page in `urls` of the request, from 0. Invalid URLs count, too.
    #[cfg_attr(feature = "schemars", schemars(with = "u64"))]
    pub index: Option<u64>,
    /// Meta tags of the page by name; an array for a repeated tag.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

impl Metadata {
    /// Reserved keys. A meta tag with one of these names is not copied into [`other`](Self::other).
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

/// Proxy tier that fetched a page, under the names that official clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProxyUsed {
    /// Basic proxy, or no proxy.
    Basic,
    /// Enhanced proxy.
    Stealth,
}

/// Origin of a page: cache or host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// The page comes from the cache.
    Hit,
    /// The page was fetched for this request.
    Miss,
}
