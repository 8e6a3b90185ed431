//! Conversion of a document to an HTML page, from which the formats are written.

use websvc_documents::{DocumentKind, DocumentMetadata, PageCounts, PageOutput, ParsedDocument, split_pages};
use websvc_types::{Parser, ParserKind, ParserMode};
use websvc_validate::ScrapePlan;

use super::reader::{ReadMode, ReadOptions};
use crate::raw::RawPage;

/// A document that was converted to an HTML page.
#[derive(Debug)]
pub(crate) struct ConvertedDocument {
    /// The HTML page.
    pub(crate) html: String,
    /// The page counts of a PDF; `None` for other kinds.
    pub(crate) pages: Option<PageCounts>,
    /// The parts of the content by page, as HTML pages, if the starts of pages were requested.
    pub(crate) parts: Vec<DocumentPart>,
    /// The pages on their own, as HTML pages, if they were requested.
    pub(crate) separate_pages: Option<Vec<DocumentPart>>,
    /// The pages with their layout, as [`split_layout`](websvc_documents::split_layout) reads them, if they were requested.
    pub(crate) layout: Option<String>,
    /// Warnings for the caller.
    pub(crate) warnings: Vec<String>,
}

impl ConvertedDocument {
    pub(crate) fn new(kind: DocumentKind, parsed: ParsedDocument) -> Self {
        let ParsedDocument { html, page_html, layout_html, metadata, pages, warnings } = parsed;
        let pages = pages.filter(|_| kind == DocumentKind::Pdf);
        let parts = document_parts(&html);
        let unmarked: Option<String> =
            (!parts.is_empty()).then(|| split_pages(&html).into_iter().map(|(_, content)| content).collect());
        Self {
            html: whole_page(&metadata, &unmarked.unwrap_or(html)),
            pages,
            parts,
            separate_pages: page_html.as_deref().map(document_parts),
            layout: layout_html,
            warnings,
        }
    }
}

/// The content of a page of a document.
#[derive(Debug)]
pub(crate) struct DocumentPart {
    /// The number of the page, from 1.
    pub(crate) page: u32,
    /// The HTML page.
    pub(crate) html: String,
}

/// Returns a part of a document as an HTML page.
pub(crate) fn part_page(html: &str) -> String {
    whole_page(&DocumentMetadata::default(), html)
}

fn document_parts(html: &str) -> Vec<DocumentPart> {
    let pages = split_pages(html).into_iter();
    pages.map(|(page, content)| DocumentPart { page, html: part_page(content) }).collect()
}

/// Returns the kind of document that a page is; `None` for a web page, and for a response with an error status.
pub(crate) fn document_kind(page: &RawPage) -> Option<DocumentKind> {
    page.status.is_success().then(|| DocumentKind::detect(&page.body, page.content_type())).flatten()
}

/// Returns the options of a plan for PDFs; `None` if it requests the file itself.
pub(crate) fn options_of(plan: &ScrapePlan) -> Option<ReadOptions> {
    let parser = plan.parsers.iter().find(|parser| match parser.kind {
        ParserKind::Pdf => true,
    })?;
    let Parser { kind: _, mode, max_pages, pages, page_markers, blocks } = parser;
    Some(ReadOptions {
        mode: match mode.unwrap_or(ParserMode::Auto) {
            ParserMode::Fast => ReadMode::Fast,
            ParserMode::Auto => ReadMode::Auto,
            ParserMode::Ocr => ReadMode::Ocr,
        },
        max_pages: max_pages.unwrap_or(ReadOptions::default().max_pages),
        output: PageOutput {
            starts: page_markers.unwrap_or(false),
            separate: pages.unwrap_or(false),
            layout: blocks.unwrap_or(false),
        },
    })
}

/// Returns the HTML page of a document: its metadata in the head, its content in the body.
fn whole_page(metadata: &DocumentMetadata, body: &str) -> String {
    let DocumentMetadata { title, author, description, keywords, language, created, modified } = metadata;
    let mut page = String::with_capacity(body.len() + 512);
    page.push_str("<!DOCTYPE html>\n<html");
    if let Some(language) = language {
        page.push_str(&format!(" lang=\"{}\"", escape_html(language)));
    }
    page.push_str("><head><meta charset=\"utf-8\">");
    if let Some(title) = title {
        page.push_str(&format!("<title>{}</title>", escape_html(title)));
    }
    for (name, value) in [
        ("author", author),
        ("description", description),
        ("keywords", keywords),
        ("dcterms.created", created),
        ("dcterms.modified", modified),
    ] {
        if let Some(value) = value {
            page.push_str(&format!("<meta name=\"{name}\" content=\"{}\">", escape_html(value)));
        }
    }
    // With `main`, all of the text counts as main content.
    page.push_str("</head><body><main>\n");
    page.push_str(body);
    page.push_str("</main></body></html>\n");
    page
}

/// Escapes a text for HTML, also for attributes in double quotes. NUL is removed.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\0', "")
}
