//! Type of a document, detected from its first bytes, then from the declared type.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ole;

/// The sorts of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// Portable document format.
    Pdf,
    /// Word, of 2007 and later.
    Docx,
    /// Excel, of 2007 and later.
    Xlsx,
    /// PowerPoint, of 2007 and later.
    Pptx,
    /// OpenDocument text.
    Odt,
    /// OpenDocument spreadsheet.
    Ods,
    /// OpenDocument presentation.
    Odp,
    /// Rich text format.
    Rtf,
    /// Electronic book.
    Epub,
    /// Comma-separated values.
    Csv,
    /// Excel, of before 2007.
    Xls,
    /// Excel, the binary files of 2007 and later.
    Xlsb,
    /// Word, of before 2007: known, so that it can be named, and not read.
    Doc,
    /// PowerPoint, of before 2007: known, so that it can be named, and not read.
    Ppt,
    /// An office file of 2007 and later that needs a password; which of them shows only to who knows it.
    Protected,
}

impl DocumentKind {
    /// The kinds that files have an ending for.
    pub const ALL: [Self; 14] = [
        Self::Pdf,
        Self::Docx,
        Self::Xlsx,
        Self::Pptx,
        Self::Odt,
        Self::Ods,
        Self::Odp,
        Self::Rtf,
        Self::Epub,
        Self::Csv,
        Self::Xls,
        Self::Xlsb,
        Self::Doc,
        Self::Ppt,
    ];

    /// Returns the name of the kind, which is the usual ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
            Self::Pptx => "pptx",
            Self::Odt => "odt",
            Self::Ods => "ods",
            Self::Odp => "odp",
            Self::Rtf => "rtf",
            Self::Epub => "epub",
            Self::Csv => "csv",
            Self::Xls => "xls",
            Self::Xlsb => "xlsb",
            Self::Doc => "doc",
            Self::Ppt => "ppt",
            Self::Protected => "office",
        }
    }

    /// Returns the media type that names the kind.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Self::Odp => "application/vnd.oasis.opendocument.presentation",
            Self::Rtf => "application/rtf",
            Self::Epub => "application/epub+zip",
            Self::Csv => "text/csv",
            Self::Xls => "application/vnd.ms-excel",
            Self::Xlsb => "application/vnd.ms-excel.sheet.binary.macroenabled.12",
            Self::Doc => "application/msword",
            Self::Ppt => "application/vnd.ms-powerpoint",
            Self::Protected => "application/x-ole-storage",
        }
    }

    /// Returns the kind of files with an ending, in any case.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(ending))
    }

    /// Tells what the bytes are, or `None` when they are no document of these kinds. The first bytes decide; the
    /// declared type decides for tables, which have no sign of their own, and for what is damaged or empty: it is an
    /// error of its kind then, and no page.
    pub fn of(bytes: &[u8], content_type: Option<&str>) -> Option<Self> {
        let declared = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
        // Some writers put a line or a mark before the sign.
        let head = &bytes[..bytes.len().min(1024)];
        let starts = |sign: &[u8]| head.trim_ascii_start().starts_with(sign);
        if starts(b"%PDF-") || (declared.eq_ignore_ascii_case("application/pdf") && contains(head, b"%PDF-"))
        {
            return Some(Self::Pdf);
        }
        if starts(b"{\\rtf") {
            return Some(Self::Rtf);
        }
        let by_sign = if head.starts_with(b"PK\x03\x04") {
            packed(bytes)
        } else if head.starts_with(ole::SIGN) {
            ole::kind(bytes)
        } else {
            None
        };
        by_sign.or_else(|| Self::declared(declared, head))
    }

    /// Returns the kind that a type names, unless the bytes are something else: servers send pages for files.
    fn declared(declared: &str, head: &[u8]) -> Option<Self> {
        if ["text/csv", "application/csv"].iter().any(|name| declared.eq_ignore_ascii_case(name)) {
            return (!head.contains(&0)).then_some(Self::Csv);
        }
        if head.trim_ascii_start().starts_with(b"<") || head.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        // Any text may be declared as rich text, and stays what it is.
        let kinds = Self::ALL.into_iter().filter(|kind| !matches!(kind, Self::Rtf | Self::Csv));
        kinds.into_iter().find(|kind| kind.media_type().eq_ignore_ascii_case(declared))
    }
}

/// Tells what a ZIP archive is, by the names in it.
fn packed(bytes: &[u8]) -> Option<DocumentKind> {
    // OpenDocument and EPUB begin with their media type, uncompressed.
    const MIME_TYPE: &[u8] = b"mimetype";
    let head = &bytes[..bytes.len().min(256)];
    if head.get(30..).is_some_and(|name| name.starts_with(MIME_TYPE)) {
        let kinds = [DocumentKind::Epub, DocumentKind::Odt, DocumentKind::Ods, DocumentKind::Odp];
        return kinds.into_iter().find(|kind| contains(head, kind.media_type().as_bytes()));
    }
    // The names of the parts stand once more in the directory at the end.
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

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_tell_the_kind_before_the_declared_type() {
        let check = |bytes: &[u8], declared, expected| {
            assert_eq!(DocumentKind::of(bytes, declared), expected, "{bytes:?} {declared:?}");
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
        check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Some("application/msword"), Some(DocumentKind::Doc));
        check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", None, None);
    }

    #[test]
    fn every_kind_is_found_by_its_ending() {
        for kind in DocumentKind::ALL {
            assert_eq!(DocumentKind::of_ending(&kind.name().to_uppercase()), Some(kind));
        }
    }
}
