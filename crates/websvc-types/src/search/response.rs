//! Response of a search (specification, section 2.6).
//!
//! A field that was not requested is absent, never null: official clients recognize a scraped result by its fields.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use super::Category;
#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;
use crate::action::ActionResults;
use crate::branding::PageBranding;
use crate::changes::PageChanges;
use crate::document_page::{DocumentPage, PageBlocks};
use crate::format::AttributeValues;
use crate::format::HighlightPassage;
use crate::menu::PageMenu;
use crate::metadata::Metadata;
use crate::product::PageProduct;
use crate::video::PageVideo;

/// Response of `POST /v2/search`.
///
/// # Examples
///
/// ```
/// use websvc_types::SearchResponse;
///
/// let response: SearchResponse = serde_json::from_str(r#"{
///     "success": true,
///     "data": { "web": [{ "title": "asyncio", "description": "...", "url": "https://docs.example/asyncio" }] },
///     "id": "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60",
///     "creditsUsed": 2
/// }"#)?;
/// for result in response.data.web.unwrap_or_default() {
///     println!("{} {}", result.url, result.title);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchResponse {
    /// Always true.
    pub success: bool,
    /// Results by source.
    pub data: SearchData,
    /// Problems that did not fail the request, such as ignored fields or a source that did not respond.
    pub warning: Option<String>,
    /// ID of the search.
    pub id: String,
    /// Credits charged for the search.
    pub credits_used: u64,
}

/// Results of a search by source. A source is present if it was requested and could be searched.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct SearchData {
    /// Web pages, the most relevant first.
    pub web: Option<Vec<WebResult>>,
    /// Images, the most relevant first.
    pub images: Option<Vec<ImageResult>>,
    /// News articles, the most relevant first.
    pub news: Option<Vec<NewsResult>>,
}

/// Web page found by a search.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct WebResult {
    /// Title of the page.
    #[serde(default)]
    pub title: String,
    /// Passage of the page that matches the query, or the description that the page gives of itself.
    #[serde(default)]
    pub description: String,
    /// URL of the page.
    pub url: String,
    /// Category of the page, if the request has `categories`.
    #[cfg_attr(feature = "schemars", schemars(with = "Category"))]
    pub category: Option<Category>,
    /// Scraped content, if the request has formats.
    #[serde(flatten)]
    pub content: PageContent,
}

/// Image found by a search.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct ImageResult {
    /// Title of the image.
    #[serde(default)]
    pub title: String,
    /// URL of the image.
    #[serde(default)]
    pub image_url: String,
    /// Width in pixels, if known.
    pub image_width: Option<u32>,
    /// Height in pixels, if known.
    pub image_height: Option<u32>,
    /// URL of the page with the image.
    #[serde(default)]
    pub url: String,
    /// Position in the list, from 1.
    #[serde(default)]
    pub position: u32,
}

/// News article found by a search.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NewsResult {
    /// Title of the article.
    #[serde(default)]
    pub title: String,
    /// Passage of the article that matches the query.
    #[serde(default)]
    pub snippet: String,
    /// URL of the article.
    #[serde(default)]
    pub url: String,
    /// Date of the article, ISO 8601.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub date: Option<String>,
    /// URL of the article's image.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub image_url: Option<String>,
    /// Position in the list, from 1.
    #[serde(default)]
    pub position: u32,
    /// Scraped content, if the request has formats.
    #[serde(flatten)]
    pub content: PageContent,
}

/// Scraped page: the requested formats, and metadata. Formats that were not requested are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PageContent {
    /// Content as markdown.
    pub markdown: Option<String>,
    /// Content as cleaned HTML.
    pub html: Option<String>,
    /// Page as received, decoded to UTF-8.
    pub raw_html: Option<String>,
    /// Absolute URLs of the links in the content, each once.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<String>"))]
    pub links: Option<Vec<String>>,
    /// Absolute URLs of the images of the page, each once.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<String>"))]
    pub images: Option<Vec<String>>,
    /// URL of the screenshot; expires after 24 hours.
    pub screenshot: Option<String>,
    /// Signed URL of the MP3 file; expires after one hour.
    pub audio: Option<String>,
    /// Signed URL of the video file; expires after one hour.
    pub video: Option<String>,
    /// Videos that the page contains, for the format `video`; they are not downloaded.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<PageVideo>"))]
    pub videos: Option<Vec<PageVideo>>,
    /// Summary of the content.
    pub summary: Option<String>,
    /// Data that a language model extracted, for the format `json`.
    pub json: Option<Value>,
    /// Answer to the question of the format `question`.
    pub answer: Option<String>,
    /// Passages that match the query of the format `highlights`.
    pub highlights: Option<String>,
    /// The same passages one by one, with their positions in the markdown of the page.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<HighlightPassage>"))]
    pub highlight_passages: Option<Vec<HighlightPassage>>,
    /// Changes since the last scrape of the same team, URL and tag.
    #[cfg_attr(feature = "schemars", schemars(with = "PageChanges"))]
    pub change_tracking: Option<PageChanges>,
    /// Colors, fonts and logos of the site.
    #[cfg_attr(feature = "schemars", schemars(with = "PageBranding"))]
    pub branding: Option<PageBranding>,
    /// Product that the page offers.
    #[cfg_attr(feature = "schemars", schemars(with = "PageProduct"))]
    pub product: Option<PageProduct>,
    /// Menu of the restaurant or shop that the page shows.
    #[cfg_attr(feature = "schemars", schemars(with = "PageMenu"))]
    pub menu: Option<PageMenu>,
    /// Values of attributes, one item for each selector of the request.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<AttributeValues>"))]
    pub attributes: Option<Vec<AttributeValues>>,
    /// Pages of a PDF, if the parser has `pages`.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<DocumentPage>"))]
    pub pages: Option<Vec<DocumentPage>>,
    /// Blocks of the pages of a PDF, if the parser has `blocks`.
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<PageBlocks>"))]
    pub blocks: Option<Vec<PageBlocks>>,
    /// Bytes of the page or file as received, in base64.
    pub raw_base64: Option<String>,
    /// Results of the actions.
    #[cfg_attr(feature = "schemars", schemars(with = "ActionResults"))]
    pub actions: Option<ActionResults>,
    /// Metadata of the page.
    #[cfg_attr(feature = "schemars", schemars(with = "Metadata"))]
    pub metadata: Option<Metadata>,
    /// Problems that did not fail the request. Present only in responses with a single page.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}
