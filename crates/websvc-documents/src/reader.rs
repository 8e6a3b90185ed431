//! Reads a document with the reader of its kind.

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::page_output::PageOutput;
use crate::parsed_document::ParsedDocument;
use crate::{csv, docx, epub, mail, markup, notebook, odf, pdf, pptx, rtf, workbook, xlsx};

/// Reads a document within the limits.
///
/// # Errors
/// Returns a [`DocumentError`] if the file is encrypted, damaged, empty, too large or not supported. Pages and output
/// beyond the limits are not an error: the content up to the limit is returned with a warning.
pub fn parse(
    kind: DocumentKind,
    bytes: Vec<u8>,
    limits: &Limits<'_>,
) -> Result<ParsedDocument, DocumentError> {
    parse_pages(kind, bytes, limits, PageOutput::default())
}

/// The same as [`parse`], with a separation of the pages of a PDF.
///
/// # Errors
/// The same as [`parse`].
pub fn parse_pages(
    kind: DocumentKind,
    bytes: Vec<u8>,
    limits: &Limits<'_>,
    output: PageOutput,
) -> Result<ParsedDocument, DocumentError> {
    // An empty CSV file is a table without rows.
    if bytes.is_empty() && kind != DocumentKind::Csv {
        return Err(DocumentError::damaged(kind, "it is empty"));
    }
    match kind {
        DocumentKind::Pdf => pdf::parse(bytes, limits, output),
        DocumentKind::Docx => docx::parse(bytes, limits),
        DocumentKind::Xlsx => xlsx::parse(bytes, limits),
        DocumentKind::Pptx => pptx::parse(bytes, limits),
        DocumentKind::Odt | DocumentKind::Ods | DocumentKind::Odp => odf::parse(kind, bytes, limits),
        DocumentKind::Rtf => rtf::parse(&bytes, limits),
        DocumentKind::Epub => epub::parse(bytes, limits),
        DocumentKind::Csv => csv::parse(&bytes, limits),
        DocumentKind::Eml => mail::parse(&bytes, limits),
        DocumentKind::Msg => mail::parse_msg(&bytes, limits),
        DocumentKind::Ipynb => notebook::parse(&bytes, limits),
        DocumentKind::Jats | DocumentKind::DocBook | DocumentKind::Tei => markup::parse(kind, &bytes, limits),
        DocumentKind::Xls => workbook::xls(bytes, limits),
        DocumentKind::Xlsb => workbook::xlsb(bytes, limits),
        DocumentKind::Doc => Err(old("Word", kind, DocumentKind::Docx)),
        DocumentKind::Ppt => Err(old("PowerPoint", kind, DocumentKind::Pptx)),
        DocumentKind::Protected => Err(DocumentError::Encrypted { kind }),
    }
}

fn old(program: &str, kind: DocumentKind, modern: DocumentKind) -> DocumentError {
    DocumentError::Old { program: program.to_owned(), kind, modern }
}
