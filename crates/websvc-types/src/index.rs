//! Uploads to the embedded index, its statistics, and the progress of crawls that fill it.
//!
//! These operations are additions of websvc; the specification does not have them.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::{
    CRAWL_HOST_MAX_CHARS, CRAWL_HOSTS_MAX, CRAWL_ID_MAX_CHARS, IMAGE_SIDE_MAX, INDEX_DOCUMENTS_MAX,
};

/// Request of `POST /v2/index/documents`: adds documents to the index.
///
/// # Examples
///
/// ```
/// use websvc_types::index::{IndexDocument, IndexUploadRequest};
///
/// let document = IndexDocument {
///     url: "https://docs.example/asyncio".to_owned(),
///     title: "asyncio".to_owned(),
///     body: "gather runs awaitables concurrently".to_owned(),
///     ..IndexDocument::default()
/// };
/// let upload = IndexUploadRequest { documents: vec![document] };
/// assert_eq!(serde_json::to_value(&upload)?["documents"][0]["title"], "asyncio");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct IndexUploadRequest {
    /// Documents to add, at most 10000. A document replaces the indexed document with the same URL.
    #[cfg_attr(feature = "schemars", schemars(length(max = INDEX_DOCUMENTS_MAX)))]
    pub documents: Vec<IndexDocument>,
}

/// Document of the index: a page with its text and metadata.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct IndexDocument {
    /// URL of the page: absolute, with the scheme http, https or file.
    #[cfg_attr(feature = "schemars", schemars(regex(pattern = "^(https?|file)://")))]
    pub url: String,
    /// Title of the page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Texts of the headings, in document order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Text of the page.
    #[serde(default)]
    pub body: String,
    /// Description that the page gives of itself.
    pub description: Option<String>,
    /// Language code, such as `en`. Default: detected from the text.
    pub language: Option<String>,
    /// Publication date, ISO 8601.
    pub published: Option<String>,
    /// Date of the last modification, ISO 8601.
    pub modified: Option<String>,
    /// Media type, such as `text/html`.
    pub content_type: Option<String>,
    /// Country that the page declares, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// True if the page labels itself as explicit. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explicit: bool,
    /// Images of the page, in document order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<IndexImage>,
    /// Links of the content to other pages, in document order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<IndexLink>,
    /// News properties of the page; absent for pages that are not news.
    pub news: Option<IndexNews>,
}

/// Image of an indexed page.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct IndexImage {
    /// Absolute URL of the image.
    pub url: String,
    /// Alternative text, or the title attribute if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub alt: String,
    /// Caption of the figure.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caption: String,
    /// Text around the image.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Width in pixels, if known; at most 1000000.
    #[cfg_attr(feature = "schemars", schemars(range(max = IMAGE_SIDE_MAX)))]
    pub width: Option<u32>,
    /// Height in pixels, if known; at most 1000000.
    #[cfg_attr(feature = "schemars", schemars(range(max = IMAGE_SIDE_MAX)))]
    pub height: Option<u32>,
}

/// Link of an indexed page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct IndexLink {
    /// Absolute URL, without fragment.
    pub url: String,
    /// Text of the link.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// News properties of an indexed page.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct IndexNews {
    /// URL of the image of the article.
    pub image_url: Option<String>,
}

/// Response of `POST /v2/index/documents`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct IndexUploadResponse {
    /// Always true.
    pub success: bool,
    /// Number of accepted documents. They are on disk before the response is sent, and searchable within 2 seconds.
    pub accepted: usize,
    /// Ignored fields and other problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Response of `GET /v2/index/stats`: statistics of the index, which is embedded or on a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct IndexStats {
    /// Always true.
    pub success: bool,
    /// Number of searchable documents.
    pub documents: u64,
    /// Size of the index on disk, in bytes; on a server with all copies.
    pub bytes: u64,
    /// Number of segments of the index; on a server without those of copies.
    pub segments: u64,
}

/// Request of `POST /v2/index/progress`: reports the progress of a crawl that another process runs for the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CrawlProgressRequest {
    /// Name of the crawl, unique within the team, 1 to 64 characters. A report replaces the previous one of the same
    /// name.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = CRAWL_ID_MAX_CHARS)))]
    pub id: String,
    /// Start hosts of the crawl, for display: at most 16, each at most 255 characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemars", schemars(length(max = CRAWL_HOSTS_MAX), inner(length(max = CRAWL_HOST_MAX_CHARS))))]
    #[cfg_attr(feature = "schemars", schemars(extend("type" = ["array", "null"])))]
    pub hosts: Vec<String>,
    /// Number of indexed pages. Default: 0.
    #[serde(default)]
    #[cfg_attr(feature = "schemars", schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX)))]
    pub pages: u64,
    /// Number of failed pages. Default: 0.
    #[serde(default)]
    #[cfg_attr(feature = "schemars", schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX)))]
    pub failed: u64,
    /// Number of skipped pages, such as those that robots.txt disallows. Default: 0.
    #[serde(default)]
    #[cfg_attr(feature = "schemars", schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX)))]
    pub skipped: u64,
    /// Number of queued pages. Default: 0.
    #[serde(default)]
    #[cfg_attr(feature = "schemars", schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX)))]
    pub waiting: u64,
    /// True in the last report of the crawl. Default: false.
    #[serde(default)]
    #[cfg_attr(feature = "schemars", schemars(extend("type" = ["boolean", "null"])))]
    pub ended: bool,
}

/// Response of `POST /v2/index/progress`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CrawlProgressResponse {
    /// Always true.
    pub success: bool,
    /// Ignored fields and other problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}
