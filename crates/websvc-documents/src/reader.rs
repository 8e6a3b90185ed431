//! From bytes of a known kind to what they say: the one dispatch.

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed::Parsed;
use crate::{csv, docx, epub, odf, pdf, pptx, rtf, xlsx};

/// Reads a document within the limits.
///
/// # Errors
/// [`DocumentError`]: encrypted, damaged, too large or unsupported. Pages and output beyond the limits are no error:
/// what was read is returned with a warning.
pub fn parse(kind: DocumentKind, bytes: Vec<u8>, limits: &Limits<'_>) -> Result<Parsed, DocumentError> {
    match kind {
        DocumentKind::Pdf => pdf::parse(bytes, limits),
        DocumentKind::Docx => docx::parse(bytes, limits),
        DocumentKind::Xlsx => xlsx::parse(bytes, limits),
        DocumentKind::Pptx => pptx::parse(bytes, limits),
        DocumentKind::Odt | DocumentKind::Ods | DocumentKind::Odp => odf::parse(kind, bytes, limits),
        DocumentKind::Rtf => rtf::parse(&bytes, limits),
        DocumentKind::Epub => epub::parse(bytes, limits),
        DocumentKind::Csv => csv::parse(&bytes, limits),
    }
}
