//! What a scrape hands back.

use websvc_types::Metadata;

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
    /// What the page says about itself and how it was got.
    pub metadata: Metadata,
    /// What the caller should be told about this page.
    pub warnings: Vec<String>,
    /// Where the page came from.
    pub cache_state: CacheState,
    /// The page as the index takes it, when it may be stored.
    pub index_copy: Option<Box<IndexCopy>>,
}

/// The parts of a page that are searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexCopy {
    /// The URL under which the page is known: its canonical one when that is on the same host, else the final one.
    pub url: String,
    /// The title.
    pub title: String,
    /// The texts of the headings.
    pub headings: Vec<String>,
    /// The text of the main content.
    pub body: String,
    /// The page's own description.
    pub description: Option<String>,
    /// The declared language.
    pub language: Option<String>,
    /// When it was published, as the page writes it.
    pub published: Option<String>,
    /// When it was last changed, as the page writes it.
    pub modified: Option<String>,
    /// The media type.
    pub content_type: Option<String>,
}
