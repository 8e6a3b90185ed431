//! A document as a page: what the formats are written from.

use websvc_documents::{DocumentKind, DocumentMetadata, ParsedDocument};
use websvc_types::{Parser, ParserKind, ParserMode};
use websvc_validate::ScrapePlan;

use super::reader::{ReadMode, ReadOptions};
use crate::raw::RawPage;

/// A document that was turned into a page.
#[derive(Debug)]
pub(crate) struct ConvertedDocument {
    /// The page.
    pub(crate) html: String,
    /// How many pages were read and how many there are, of a PDF.
    pub(crate) pages: Option<(u32, u32)>,
    pub(crate) warnings: Vec<String>,
}

impl ConvertedDocument {
    pub(crate) fn new(kind: DocumentKind, parsed: ParsedDocument) -> Self {
        let ParsedDocument { html, about, pages, warnings } = parsed;
        let pages = pages.filter(|_| kind == DocumentKind::Pdf).map(|pages| (pages.read, pages.total));
        Self { html: whole_page(&about, &html), pages, warnings }
    }
}

/// Returns what document a page is; failures are pages whatever they send.
pub(crate) fn document_kind(page: &RawPage) -> Option<DocumentKind> {
    page.status.is_success().then(|| DocumentKind::of(&page.body, page.content_type())).flatten()
}

/// Returns what a plan wants of PDFs, or `None` when it wants the file itself.
pub(crate) fn options_of(plan: &ScrapePlan) -> Option<ReadOptions> {
    let parser = plan.parsers().iter().find(|parser| match parser.kind {
        ParserKind::Pdf => true,
    })?;
    let Parser { kind: _, mode, max_pages } = parser;
    Some(ReadOptions {
        mode: match mode.unwrap_or(ParserMode::Auto) {
            ParserMode::Fast => ReadMode::Fast,
            ParserMode::Auto => ReadMode::Auto,
            ParserMode::Ocr => ReadMode::Ocr,
        },
        max_pages: max_pages.unwrap_or(ReadOptions::default().max_pages),
    })
}

/// Puts a head with what the file says about itself around its content.
fn whole_page(about: &DocumentMetadata, body: &str) -> String {
    let DocumentMetadata { title, author, description, keywords, language, created, modified } = about;
    let mut page = String::with_capacity(body.len() + 512);
    page.push_str("<!DOCTYPE html>\n<html");
    if let Some(language) = language {
        page.push_str(&format!(" lang=\"{}\"", escaped(language)));
    }
    page.push_str("><head><meta charset=\"utf-8\">");
    if let Some(title) = title {
        page.push_str(&format!("<title>{}</title>", escaped(title)));
    }
    for (name, value) in [
        ("author", author),
        ("description", description),
        ("keywords", keywords),
        ("dcterms.created", created),
        ("dcterms.modified", modified),
    ] {
        if let Some(value) = value {
            page.push_str(&format!("<meta name=\"{name}\" content=\"{}\">", escaped(value)));
        }
    }
    // All of it is content: there is nothing around it that could be taken for such.
    page.push_str("</head><body><main>\n");
    page.push_str(body);
    page.push_str("</main></body></html>\n");
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\0', "")
}

/// Returns bytes as base64 with padding (RFC 4648, section 4).
pub(crate) fn as_base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let joined = group.iter().fold(0_u32, |joined, byte| joined << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for at in 0..4 {
            let sign = SIGNS[(joined >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= group.len() { char::from(sign) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(as_base64(bytes.as_bytes()), expected);
        }
    }
}
