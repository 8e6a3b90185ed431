//! The result of reading a document.

use serde::{Deserialize, Serialize};

/// The content and metadata of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParsedDocument {
    /// The content as semantic HTML, without `html` and `body` around it.
    pub html: String,
    /// The content of each page of a PDF on its own, if requested: without sentences that were joined across pages, and
    /// with a [`page_start`](crate::page_start) before each page.
    pub page_html: Option<String>,
    /// The same with the layout, if requested; see [`split_layout`](crate::split_layout).
    pub layout_html: Option<String>,
    /// The metadata of the file.
    #[serde(rename = "about")]
    pub metadata: DocumentMetadata,
    /// The page counts; `None` for kinds without pages.
    pub pages: Option<PageCounts>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

/// Metadata that a file contains.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentMetadata {
    /// The title.
    pub title: Option<String>,
    /// The author or authors.
    pub author: Option<String>,
    /// The subject or description.
    pub description: Option<String>,
    /// The keywords, as written in the file.
    pub keywords: Option<String>,
    /// The language, such as `en-GB`.
    pub language: Option<String>,
    /// The time of creation, in ISO 8601.
    pub created: Option<String>,
    /// The time of the last modification, in ISO 8601.
    pub modified: Option<String>,
}

/// The page counts of a document. Slides, sheets and chapters count as pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCounts {
    /// The number of pages that were read.
    pub read: u32,
    /// The number of pages in the document.
    pub total: u32,
    /// The 1-based numbers of pages that were read and have content, such as images, but little or no text. The HTML
    /// contains a [`page_mark`] for each.
    pub without_text: Vec<u32>,
}

impl PageCounts {
    /// Creates the counts of a document of which no page has been read.
    pub(crate) fn unread(total: usize) -> Self {
        Self { total: u32::try_from(total).unwrap_or(u32::MAX), ..Self::default() }
    }

    /// Returns a warning if pages were not read, which are called `unit`.
    pub(crate) fn warnings(&self, unit: &str) -> Vec<String> {
        let warning = || format!("{} of {} {unit} were read", self.read, self.total);
        (self.read < self.total).then(warning).into_iter().collect()
    }
}

/// Returns the placeholder of a page without text, which a caller can replace by recognized text.
pub fn page_mark(page: u32) -> String {
    format!("<p data-page-without-text=\"{page}\"></p>")
}
