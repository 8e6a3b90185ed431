//! What a scrape hands back.

use std::time::Duration;

use serde_json::Value;
use websvc_types::Metadata;
use websvc_types::action::ActionResults;
use websvc_types::index::IndexDocument;

use crate::browse::RenderArtifacts;
use crate::out_links::OutLinks;
use crate::raw::CacheState;

/// A scraped page: the formats that were asked for, and what is known of the page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Markdown, when asked for.
    pub markdown: Option<String>,
    /// Cleaned HTML, when asked for.
    pub html: Option<String>,
    /// The page as received, decoded to text, when asked for.
    pub raw_html: Option<String>,
    /// Absolute links, when asked for.
    pub links: Option<Vec<String>>,
    /// Absolute URLs of images, when asked for.
    pub images: Option<Vec<String>>,
    /// Whether personal data was removed from the markdown and the metadata.
    pub is_redacted: bool,
    /// What was written of the content afterwards.
    pub written: GeneratedContent,
    /// What the page says about itself and how it was got.
    pub metadata: Metadata,
    /// What the caller should be told about this page.
    pub warnings: Vec<String>,
    /// Where the page came from.
    pub cache_state: CacheState,
    /// URL of the screenshot, once [`FilePublisher::publish`](crate::FilePublisher::publish) has given it one.
    pub screenshot: Option<String>,
    /// What the actions gave, once their files have URLs.
    pub actions: Option<ActionResults>,
    /// Files and other things that only a browser gives, until they are published.
    pub takings: Option<Box<RenderArtifacts>>,
    /// The page as the index takes it, when it may be stored.
    pub index_copy: Option<Box<IndexDocument>>,
    /// How long its host took; zero when it was not asked.
    pub took: Duration,
    /// How long its host asks to be left alone.
    pub retry_after: Option<Duration>,
    /// Where it leads, for who follows it.
    pub leads: Option<Box<OutLinks>>,
}

/// What is written of the content of a page, by a language model or by the words of a query. It is of one request, and never
/// kept with the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneratedContent {
    /// The content, condensed.
    pub summary: Option<String>,
    /// Data out of the content; null when there is none.
    pub json: Option<Value>,
    /// The answer to a question.
    pub answer: Option<String>,
    /// Passages of the content, word by word.
    pub highlights: Option<String>,
    /// The names of the formats that a language model wrote.
    pub by_model: Vec<&'static str>,
}
