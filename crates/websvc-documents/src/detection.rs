//! Detects the kind of a document from its bytes and its declared media type.

use crate::kind::DocumentKind;
use crate::{mail, markup, notebook, ole};

impl DocumentKind {
    /// Detects the kind of a document; `None` if the bytes are not a supported document.
    ///
    /// The signature in the bytes has precedence. The declared media type decides for CSV, which has no signature, and
    /// for damaged or empty files: those are reported as an error of the declared kind instead of being read as a web
    /// page.
    pub fn detect(bytes: &[u8], content_type: Option<&str>) -> Option<Self> {
        let declared = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
        // Some writers put a line or a byte order mark before the signature.
        let head = &bytes[..bytes.len().min(1024)];
        let starts_with = |signature: &[u8]| head.trim_ascii_start().starts_with(signature);
        if starts_with(b"%PDF-")
            || (declared.eq_ignore_ascii_case("application/pdf") && contains(head, b"%PDF-"))
        {
            return Some(Self::Pdf);
        }
        if starts_with(b"{\\rtf") {
            return Some(Self::Rtf);
        }
        if let Some(kind) = text_kind(bytes, declared) {
            return Some(kind);
        }
        let by_signature = if head.starts_with(b"PK\x03\x04") {
            zip_kind(bytes)
        } else if head.starts_with(ole::SIGNATURE) {
            ole::kind(bytes)
        } else {
            None
        };
        by_signature.or_else(|| Self::from_declared(declared, head))
    }

    /// Returns the kind of a declared media type; `None` if the bytes look like a web page or JSON, which servers send
    /// in place of files.
    fn from_declared(declared: &str, head: &[u8]) -> Option<Self> {
        if ["text/csv", "application/csv", TSV].iter().any(|name| declared.eq_ignore_ascii_case(name)) {
            let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
            return (is_wide || !head.contains(&0)).then_some(Self::Csv);
        }
        if head.trim_ascii_start().starts_with(b"<") || head.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        // These always have a signature: other text that is declared as RTF is not RTF.
        let has_signature = |kind: &Self| {
            matches!(kind, Self::Rtf | Self::Csv | Self::Ipynb | Self::Jats | Self::DocBook | Self::Tei)
        };
        let kinds = Self::ALL.into_iter().filter(|kind| !has_signature(kind));
        kinds.into_iter().find(|kind| kind.media_type().eq_ignore_ascii_case(declared))
    }
}

/// The media type of tab-separated values, which are read like comma-separated ones.
const TSV: &str = "text/tab-separated-values";

/// Returns the kind of a text by its structure: articles in XML, notebooks, and messages. Any text may begin like a
/// message, so its type has to be declared or unknown.
fn text_kind(bytes: &[u8], declared: &str) -> Option<DocumentKind> {
    if let Some(kind) = markup::detect(bytes) {
        return Some(kind);
    }
    if notebook::is_notebook(bytes) {
        return Some(DocumentKind::Ipynb);
    }
    let may_be_message = ["", "application/octet-stream", "message/rfc822"];
    let is_message =
        may_be_message.iter().any(|name| declared.eq_ignore_ascii_case(name)) && mail::is_message(bytes);
    is_message.then_some(DocumentKind::Eml)
}

/// Returns the kind of a ZIP archive, detected by the names of its parts.
fn zip_kind(bytes: &[u8]) -> Option<DocumentKind> {
    // The first part of OpenDocument and EPUB files is their media type, uncompressed.
    const MIME_TYPE: &[u8] = b"mimetype";
    let head = &bytes[..bytes.len().min(256)];
    if head.get(30..).is_some_and(|name| name.starts_with(MIME_TYPE)) {
        let kinds = [DocumentKind::Epub, DocumentKind::Odt, DocumentKind::Ods, DocumentKind::Odp];
        return kinds.into_iter().find(|kind| contains(head, kind.media_type().as_bytes()));
    }
    // The central directory at the end of the archive repeats the names of the parts.
    let tail = &bytes[bytes.len().saturating_sub(256 * 1024)..];
    [
        (&b"word/document.xml"[..], DocumentKind::Docx),
        (b"xl/workbook.xml", DocumentKind::Xlsx),
        (b"xl/workbook.bin", DocumentKind::Xlsb),
        (b"ppt/presentation.xml", DocumentKind::Pptx),
        (b"META-INF/container.xml", DocumentKind::Epub),
    ]
    .into_iter()
    .find_map(|(name, kind)| contains(tail, name).then_some(kind))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_has_precedence_over_declared_type() {
        let check = |bytes: &[u8], declared, expected| {
            assert_eq!(DocumentKind::detect(bytes, declared), expected, "{bytes:?} {declared:?}");
        };
        check(b"%PDF-1.7", Some("text/html"), Some(DocumentKind::Pdf));
        check(b"junk\n%PDF-1.7", Some("application/pdf"), Some(DocumentKind::Pdf));
        check(b"junk\n%PDF-1.7", None, None);
        check(b"{\\rtf1 a}", None, Some(DocumentKind::Rtf));
        check(b"a,b\n1,2\n", Some("text/csv; charset=utf-8"), Some(DocumentKind::Csv));
        check(b"a,b\n1,2\n", Some("text/plain"), None);
        check(b"PK\x03\x04 something", None, None);
        check(b"<html>", Some("application/pdf"), None);
        check(b"{\"error\": 1}", Some("application/pdf"), None);
        check(b"\x00\x01 no sign", Some("application/pdf"), Some(DocumentKind::Pdf));
        check(b"", Some("application/pdf"), Some(DocumentKind::Pdf));
        check(b"", Some("text/html"), None);
        check(b"PK\x03\x04 cut off", Some(DocumentKind::Docx.media_type()), Some(DocumentKind::Docx));
        check(b"\xff\xfea\0,\0b\0", Some("text/csv"), Some(DocumentKind::Csv));
        check(b"a\tb", Some("text/tab-separated-values"), Some(DocumentKind::Csv));
        check(b"From: a\nTo: b\nSubject: c\n\nd", None, Some(DocumentKind::Eml));
        check(b"From: a\nTo: b\nSubject: c\n\nd", Some("text/plain"), None);
        check(b"d", Some("message/rfc822"), Some(DocumentKind::Eml));
        check(b"{\"cells\": [], \"nbformat\": 4}", Some("text/plain"), Some(DocumentKind::Ipynb));
        check(b"{\"a\": 1}", Some("application/x-ipynb+json"), None);
        check(b"<TEI xmlns=\"http://www.tei-c.org/ns/1.0\">", Some("text/xml"), Some(DocumentKind::Tei));
        check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Some("application/msword"), Some(DocumentKind::Doc));
        check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", None, None);
    }

    #[test]
    fn from_extension_finds_every_kind() {
        for kind in DocumentKind::ALL {
            assert_eq!(DocumentKind::from_extension(&kind.name().to_uppercase()), Some(kind));
        }
    }
}
