//! Reads PDF: converts positioned glyphs to text in reading order.
//!
//! `hayro-syntax` and `hayro-font`, which forbid unsafe code, read the files and fonts. This module does the layout
//! analysis from glyphs to paragraphs, because the text of a PDF is only usable with its order, columns and tables.

mod blocks;
mod bullets;
mod columns;
mod content;
mod document;
mod drop_caps;
mod font;
mod forms;
mod geometry;
mod glyphs;
mod graphics;
mod gutters;
mod headers_footers;
mod layout;
mod lines;
mod links;
mod list_marker;
mod listing;
mod outline;
mod plausibility;
mod recognized;
mod recognized_text;
mod right_to_left;
mod segment;
mod strings;
mod structure;
mod tables;
mod tagged;
mod tex_font;
mod text;
mod to_html;

pub use recognized::recognized_html;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::page_output::PageOutput;
use crate::parsed_document::{DocumentMetadata, PageCounts, ParsedDocument};

const KIND: DocumentKind = DocumentKind::Pdf;

/// Reads a PDF.
pub(crate) fn parse(
    bytes: Vec<u8>,
    limits: &Limits<'_>,
    output: PageOutput,
) -> Result<ParsedDocument, DocumentError> {
    // hayro-syntax reports an encrypted file that needs a repair as invalid.
    let has_encryption = bytes.windows(8).any(|window| window == b"/Encrypt");
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            DocumentError::Encrypted { kind: KIND }
        }
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => {
            DocumentError::Unsupported { feature: "a pdf file with this kind of encryption".to_owned() }
        }
        LoadPdfError::Decryption(_) => DocumentError::damaged(KIND, "its encryption is invalid"),
        LoadPdfError::Invalid if has_encryption => DocumentError::Encrypted { kind: KIND },
        LoadPdfError::Invalid => DocumentError::damaged(KIND, "its structure cannot be read"),
    })?;
    let total = u32::try_from(pdf.pages().len()).unwrap_or(u32::MAX);
    if total == 0 {
        return Err(DocumentError::damaged(KIND, "it has no pages"));
    }
    let batch = document::read(&pdf, limits, output);
    let mut warnings = batch.warnings;
    let pages = PageCounts { read: batch.pages, total, without_text: batch.without_text };
    warnings.extend(pages.warnings("pages"));
    Ok(ParsedDocument {
        html: batch.html,
        page_html: batch.page_html,
        layout_html: batch.layout_html,
        metadata: metadata(&pdf),
        pages: Some(pages),
        warnings,
    })
}

/// Returns the metadata of the document information dictionary and the catalog.
fn metadata(pdf: &Pdf) -> DocumentMetadata {
    let info = pdf.metadata();
    let text = |value: &Option<Box<[u8]>>| {
        let text = strings::decode_text(value.as_deref()?);
        let text = text.trim_matches(|character: char| character.is_whitespace() || character == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    };
    let date = |value: Option<hayro_syntax::object::DateTime>| {
        value.map(|d| {
            format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", d.year, d.month, d.day, d.hour, d.minute, d.second)
        })
    };
    let catalog = pdf.xref().get::<hayro_syntax::object::Dict<'_>>(pdf.xref().root_id());
    let language = catalog
        .and_then(|catalog| catalog.get::<hayro_syntax::object::String<'_>>(b"Lang"))
        .map(|language| strings::decode_text(language.as_bytes()))
        .filter(|language| !language.is_empty() && language.len() < 36);
    DocumentMetadata {
        title: text(&info.title),
        author: text(&info.author),
        description: text(&info.subject),
        keywords: text(&info.keywords),
        language,
        created: date(info.creation_date),
        modified: date(info.modification_date),
    }
}
