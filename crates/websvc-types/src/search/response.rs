//! The response of a search (specification, section 2.6).
//!
//! A key that was not asked for is left out, never null: clients tell a scraped result from a plain one by the keys
//! that are present.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Category;
use crate::action::ActionResults;
use crate::metadata::Metadata;

/// The answer to a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResponse {
    /// True.
    pub success: bool,
    /// The results, by source.
    pub data: SearchData,
    /// Problems that did not fail the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Identifier of the search.
    pub id: String,
    /// Credits charged for the search.
    pub credits_used: u64,
}

/// The results, by source: those that were asked for and could be searched are present.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SearchData {
    /// Web pages, the best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<WebResult>")]
    pub web: Option<Vec<WebResult>>,
    /// Images, the best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<ImageResult>")]
    pub images: Option<Vec<ImageResult>>,
    /// News, the best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<NewsResult>")]
    pub news: Option<Vec<NewsResult>>,
}

/// A web page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebResult {
    /// Title of the page.
    #[serde(default)]
    pub title: String,
    /// The passage about the query, or the page's own description.
    #[serde(default)]
    pub description: String,
    /// URL of the page.
    pub url: String,
    /// The kind of page, when categories were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Category")]
    pub category: Option<Category>,
    /// Scraped content.
    #[serde(flatten)]
    pub content: PageContent,
}

/// An image.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageResult {
    /// Title of the image.
    #[serde(default)]
    pub title: String,
    /// URL of the image.
    #[serde(default)]
    pub image_url: String,
    /// Width in pixels, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub image_width: Option<u32>,
    /// Height in pixels, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub image_height: Option<u32>,
    /// URL of the page that shows it.
    #[serde(default)]
    pub url: String,
    /// Place in the list, from 1.
    #[serde(default)]
    pub position: u32,
}

/// A piece of news.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewsResult {
    /// Title of the article.
    #[serde(default)]
    pub title: String,
    /// The passage about the query.
    #[serde(default)]
    pub snippet: String,
    /// URL of the article.
    #[serde(default)]
    pub url: String,
    /// Date of the article, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub date: Option<String>,
    /// URL of the article's image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub image_url: Option<String>,
    /// Place in the list, from 1.
    #[serde(default)]
    pub position: u32,
    /// Scraped content.
    #[serde(flatten)]
    pub content: PageContent,
}

/// Scraped content of a page: the requested formats, and metadata.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PageContent {
    /// The content as markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// The content as cleaned HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// The page as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_html: Option<String>,
    /// The links of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub links: Option<Vec<String>>,
    /// The images of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub images: Option<Vec<String>>,
    /// URL of the screenshot; expires after 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// Signed URL of the MP3 file; expires after one hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
    /// Signed URL of the video file; expires after one hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<String>,
    /// The condensed content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The extracted data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// The answer to the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The text that the query is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<String>,
    /// Changes since the last scrape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_tracking: Option<Value>,
    /// Colours, fonts and logos of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branding: Option<Value>,
    /// The product that the page offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<Value>,
    /// The menu that the page shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu: Option<Value>,
    /// Results of the actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ActionResults")]
    pub actions: Option<ActionResults>,
    /// Metadata of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Metadata")]
    pub metadata: Option<Metadata>,
    /// Problems that did not fail the request, in responses with a single page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<String>,
}
