//! Result of reading a document.

use serde::{Deserialize, Serialize};

/// A document that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParsedDocument {
    /// The content as semantic HTML, without `html` and `body` around it.
    pub html: String,
    /// Metadata of the file.
    pub about: DocumentMetadata,
    /// The pages, of kinds that have such.
    pub pages: Option<PageCounts>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

/// Metadata that the file contains.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentMetadata {
    /// The title.
    pub title: Option<String>,
    /// The author or authors.
    pub author: Option<String>,
    /// The subject or description.
    pub description: Option<String>,
    /// The keywords as they are written.
    pub keywords: Option<String>,
    /// The language, such as `en-GB`.
    pub language: Option<String>,
    /// When it was created, ISO 8601.
    pub created: Option<String>,
    /// When it was changed last, ISO 8601.
    pub modified: Option<String>,
}

/// The pages of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCounts {
    /// How many were read.
    pub read: u32,
    /// How many there are.
    pub total: u32,
    /// The pages that were read and hold pictures but no text, from 1: the HTML has a [`page_mark`] in the place of
    /// each.
    pub without_text: Vec<u32>,
}

/// Returns what stands in the HTML for a page without text, so that recognised text can take its place.
pub fn page_mark(page: u32) -> String {
    format!("<p data-page-without-text=\"{page}\"></p>")
}
