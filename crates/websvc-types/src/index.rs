//! The embedded index over HTTP: how pages are added to it, and its figures. Our own, not of the specification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{CRAWL_HOST_MAX_CHARS, CRAWL_HOSTS_MAX, CRAWL_ID_MAX_CHARS, IMAGE_SIDE_MAX};

/// Documents for the index: `POST /v2/index/documents`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexUploadRequest {
    /// The documents; each replaces the older one of its URL.
    pub documents: Vec<IndexDocument>,
}

/// A page as the index takes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexDocument {
    /// The URL under which it is found: absolute, with http, https or file.
    #[schemars(regex(pattern = "^(https?|file)://"))]
    pub url: String,
    /// The title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The texts of the headings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The text.
    #[serde(default)]
    pub body: String,
    /// The page's own description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The language, such as `en`; it is detected when none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// When it was published, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was last changed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The country that the page names as its own, ISO 3166-1 alpha-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// True if the page labels itself as explicit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explicit: bool,
    /// The images of the page, in the order of the page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<IndexImage>,
    /// The links of the content to other pages, in the order of the page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<IndexLink>,
    /// News properties of the page; absent for pages that are not news.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news: Option<IndexNews>,
}

/// An image of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexImage {
    /// The absolute URL of the image.
    pub url: String,
    /// The alternative text, else the title attribute.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub alt: String,
    /// The caption of the figure.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caption: String,
    /// The text around it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Width in pixels, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = IMAGE_SIDE_MAX))]
    pub width: Option<u32>,
    /// Height in pixels, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = IMAGE_SIDE_MAX))]
    pub height: Option<u32>,
}

/// A link of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexLink {
    /// The absolute URL, without fragment.
    pub url: String,
    /// The text of the link.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// News properties of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexNews {
    /// The URL of its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
}

/// The answer to an upload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexUploadResponse {
    /// True.
    pub success: bool,
    /// How many documents were taken. They are on the disk when the answer comes, and searchable within 2 seconds.
    pub accepted: usize,
    /// Values that were ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}

/// The figures of the index: `GET /v2/index/stats`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStats {
    /// True.
    pub success: bool,
    /// Number of searchable documents.
    pub documents: u64,
    /// Size of the index on disk, in bytes.
    pub bytes: u64,
    /// Number of segments.
    pub segments: u64,
}

/// How far a crawl is that fills the index from elsewhere: `POST /v2/index/progress`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrawlProgressRequest {
    /// Names the crawl among those of its team: what is said later replaces what was said before.
    #[schemars(length(min = 1, max = CRAWL_ID_MAX_CHARS))]
    pub id: String,
    /// The hosts where it began, for people to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = CRAWL_HOSTS_MAX), inner(length(max = CRAWL_HOST_MAX_CHARS)))]
    #[schemars(extend("type" = ["array", "null"]))]
    pub hosts: Vec<String>,
    /// Pages that went to the index.
    #[serde(default)]
    #[schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX))]
    pub pages: u64,
    /// Pages that could not be got.
    #[serde(default)]
    #[schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX))]
    pub failed: u64,
    /// Pages that were left out on purpose.
    #[serde(default)]
    #[schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX))]
    pub skipped: u64,
    /// Pages that are known and wait.
    #[serde(default)]
    #[schemars(extend("type" = ["integer", "null"], "maximum" = u64::MAX))]
    pub waiting: u64,
    /// Nothing more will be said.
    #[serde(default)]
    #[schemars(extend("type" = ["boolean", "null"]))]
    pub ended: bool,
}

/// The answer to word of a crawl.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrawlProgressResponse {
    /// True.
    pub success: bool,
    /// Values that were ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}

/// Old name of [`IndexUploadResponse`].
#[deprecated(note = "renamed to `IndexUploadResponse`")]
pub type IndexReply = IndexUploadResponse;

/// Old name of [`CrawlProgressResponse`].
#[deprecated(note = "renamed to `CrawlProgressResponse`")]
pub type ProgressReply = CrawlProgressResponse;

/// Old name of [`IndexUploadRequest`].
#[deprecated(note = "renamed to `IndexUploadRequest`")]
pub type IndexUpload = IndexUploadRequest;

/// Old name of [`CrawlProgressRequest`].
#[deprecated(note = "renamed to `CrawlProgressRequest`")]
pub type CrawlProgress = CrawlProgressRequest;
