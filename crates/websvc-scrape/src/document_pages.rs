//! The pages of a PDF: page markers in its markdown, the markdown of each page, and the blocks of each page.

use websvc_documents::{LayoutBlock, PageLayout, split_layout};
use websvc_extract::{ContentOptions, Document, Source};
use websvc_types::{BlockConfidence, BlockSource, BlocksStatus, DocumentPage, PageBlock, PageBlocks};

use crate::documents::{ConvertedDocument, DocumentPart, part_page};
use crate::error::ScrapeError;
use crate::page::Page;
use crate::raw::RawPage;

/// The content type of a document that was converted to HTML.
pub(crate) const DOCUMENT_CONTENT_TYPE: &str = "text/html; charset=utf-8";

/// The kind of a block of recognized text.
const RECOGNIZED: &str = "text";

/// Writes the markdown of a PDF with page markers, its pages and its blocks, as far as they were requested.
///
/// # Errors
/// [`ScrapeError::Extract`] if a page cannot be parsed.
pub(crate) fn write(
    page: &mut Page,
    converted: &ConvertedDocument,
    raw: &RawPage,
    options: &ContentOptions,
) -> Result<(), ScrapeError> {
    let markdown = |html: &str| -> Result<String, ScrapeError> {
        let source =
            Source { bytes: html.as_bytes(), content_type: Some(DOCUMENT_CONTENT_TYPE), url: &raw.url };
        let document = Document::parse(source).map_err(ScrapeError::Extract)?;
        Ok(document.content(options).markdown())
    };
    let part = |part: &DocumentPart| Ok(DocumentPage::new(part.page, markdown(&part.html)?));
    if page.markdown.is_some() && !converted.parts.is_empty() {
        let parts: Result<Vec<DocumentPage>, ScrapeError> = converted.parts.iter().map(part).collect();
        page.markdown = Some(with_page_markers(&parts?));
    }
    if let Some(pages) = &converted.separate_pages {
        page.pages = Some(pages.iter().map(part).collect::<Result<_, ScrapeError>>()?);
    }
    if let Some(layout) = &converted.layout {
        let content = |html: &str| markdown(&part_page(html));
        let pages = split_layout(layout).into_iter().map(|layout| page_blocks(&layout, content));
        page.blocks = Some(pages.collect::<Result<_, ScrapeError>>()?);
    }
    Ok(())
}

/// Joins the parts of a document with markers. A part without text, such as one that continues the sentence of the page
/// before, has no marker.
fn with_page_markers(parts: &[DocumentPage]) -> String {
    let mut markdown = String::new();
    for part in parts.iter().filter(|part| !part.markdown.trim().is_empty()) {
        if !markdown.is_empty() {
            markdown.truncate(markdown.trim_end().len());
            markdown.push_str(&format!("\n\n---\n\n<!-- page {} -->\n\n", part.page_number));
        }
        markdown.push_str(&part.markdown);
    }
    markdown
}

/// Returns the blocks of a page. Recognized text is one block without a place, before the others. Blocks without text are
/// left out.
fn page_blocks(
    layout: &PageLayout<'_>,
    markdown: impl Fn(&str) -> Result<String, ScrapeError>,
) -> Result<PageBlocks, ScrapeError> {
    let PageLayout { page, size, recognized, blocks } = layout;
    let mut items = Vec::new();
    let mut add = |kind: &str, bbox: Option<[f64; 4]>, html: &str, source| -> Result<(), ScrapeError> {
        let content = markdown(html)?.trim().to_owned();
        if !content.is_empty() {
            let order = u32::try_from(items.len()).unwrap_or(u32::MAX);
            items.push(PageBlock {
                id: format!("p{page}.b{order}"),
                kind: kind.to_owned(),
                label: None,
                bbox,
                content,
                markdown_span: None,
                reading_order: order,
                source: Some(source),
                confidence: BlockConfidence::default(),
            });
        }
        Ok(())
    };
    if !recognized.is_empty() {
        add(RECOGNIZED, None, recognized, BlockSource::Ocr)?;
    }
    for LayoutBlock { kind, area, html } in blocks {
        add(kind.name(), *area, html, BlockSource::NativeText)?;
    }
    let status = if items.is_empty() { BlocksStatus::Empty } else { BlocksStatus::Ok };
    let (width, height) = size.unzip();
    Ok(PageBlocks { page_number: *page, width, height, status, items })
}
