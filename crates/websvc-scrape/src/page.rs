//! The result of a scrape.

use std::time::Duration;

use serde_json::Value;
use url::Url;
use websvc_branding::PageDesign;
use websvc_store::PreparedSnapshot;
use websvc_types::action::ActionResults;
use websvc_types::changes::PageChanges;
use websvc_types::format::{AttributeValues, HighlightPassage};
use websvc_types::index::IndexDocument;
use websvc_types::menu::PageMenu;
use websvc_types::product::PageProduct;
use websvc_types::video::PageVideo;
use websvc_types::{DocumentPage, Metadata, PageBlocks};

use crate::browse::RenderArtifacts;
use crate::out_links::OutLinks;
use crate::raw::CacheState;

/// A scraped page: the requested formats, the metadata and the warnings.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Markdown, if requested.
    pub markdown: Option<String>,
    /// Cleaned HTML, if requested.
    pub html: Option<String>,
    /// The page as received, decoded to text, if requested.
    pub raw_html: Option<String>,
    /// Absolute links, if requested.
    pub links: Option<Vec<String>>,
    /// Absolute URLs of images, if requested.
    pub images: Option<Vec<String>>,
    /// Values of attributes, if requested.
    pub attributes: Option<Vec<AttributeValues>>,
    /// The pages of a PDF, if requested.
    pub pages: Option<Vec<DocumentPage>>,
    /// The blocks of the pages of a PDF, if requested.
    pub blocks: Option<Vec<PageBlocks>>,
    /// The bytes as received in base64, if requested.
    pub raw_base64: Option<String>,
    /// The product of the page, if requested and found.
    pub product: Option<Box<PageProduct>>,
    /// The menu of the page, if requested and found.
    pub menu: Option<Box<PageMenu>>,
    /// The design of the page, if requested and the browser rendered it.
    pub design: Option<Box<PageDesign>>,
    /// The videos that the page contains, if requested and found.
    pub videos: Option<Vec<PageVideo>>,
    /// URL of the downloaded sound. It belongs to one request, as the next field does.
    pub audio: Option<String>,
    /// URL of the downloaded video.
    pub video: Option<String>,
    /// True if personal data was removed from the markdown and the metadata.
    pub is_redacted: bool,
    /// Formats generated from the content by a language model or by the words of a query.
    pub generated: GeneratedContent,
    /// Metadata that the page declares, and details of the fetch.
    pub metadata: Metadata,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// The source of the page: cache or network.
    pub cache_state: CacheState,
    /// URL of the screenshot, once [`FilePublisher::publish`](crate::FilePublisher::publish) has given it one.
    pub screenshot: Option<String>,
    /// The results of the actions, once their files have URLs.
    pub actions: Option<ActionResults>,
    /// Files and other results of the browser that are not published yet.
    pub artifacts: Option<Box<RenderArtifacts>>,
    /// The time of the fetch, in milliseconds since the Unix epoch.
    pub fetched_at_ms: u64,
    /// The document for the index, if the page may be stored.
    pub index_copy: Option<Box<IndexDocument>>,
    /// The version for later comparisons, if the caller stores it with the page.
    pub snapshot: Option<Box<PreparedSnapshot>>,
    /// Time that the fetch or rendering took; zero if the page came from the cache.
    pub elapsed: Duration,
    /// The delay that the host requests by `Retry-After`.
    pub retry_after: Option<Duration>,
    /// The PDF file that the page only shows, until its content is the content of the page.
    pub embedded_document: Option<Url>,
    /// The out-links, if the plan is that of a crawl.
    pub out_links: Option<Box<OutLinks>>,
}

/// Formats generated from the content of a page: by a language model, by the words of a query, or by comparison with the
/// last scrape. They belong to one
/// request and are never stored with the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneratedContent {
    /// The summary of the content.
    pub summary: Option<String>,
    /// Data extracted from the content; null when there is none.
    pub json: Option<Value>,
    /// The answer to a question.
    pub answer: Option<String>,
    /// Verbatim excerpts of the content.
    pub highlights: Vec<HighlightPassage>,
    /// The changes since the last scrape.
    pub change_tracking: Option<PageChanges>,
    /// The names of the formats that a language model generated.
    pub by_model: Vec<&'static str>,
}
