//! From bytes of a known kind to what they say: the one dispatch.

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed::Parsed;
use crate::pdf;

/// Reads a document within the limits.
///
/// # Errors
/// [`DocumentError`]: encrypted, damaged, too large or unsupported. Pages and output beyond the limits are no error:
/// what was read is returned with a warning.
pub fn parse(kind: DocumentKind, bytes: Vec<u8>, limits: &Limits<'_>) -> Result<Parsed, DocumentError> {
    match kind {
        DocumentKind::Pdf => pdf::parse(bytes, limits),
        other => Err(DocumentError::Unsupported { what: other.name().to_owned() }),
    }
}
