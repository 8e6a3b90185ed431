//! The kind of a document.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// Portable document format.
    Pdf,
    /// Word, 2007 and later.
    Docx,
    /// Excel, 2007 and later.
    Xlsx,
    /// PowerPoint, 2007 and later.
    Pptx,
    /// OpenDocument text.
    Odt,
    /// OpenDocument spreadsheet.
    Ods,
    /// OpenDocument presentation.
    Odp,
    /// Rich text format.
    Rtf,
    /// Electronic book (EPUB).
    Epub,
    /// Comma-separated values.
    Csv,
    /// A mail message in the Internet message format.
    Eml,
    /// A mail message of Outlook.
    Msg,
    /// A Jupyter notebook.
    Ipynb,
    /// A journal article in JATS.
    Jats,
    /// A book or article in DocBook.
    DocBook,
    /// A text in TEI.
    Tei,
    /// Excel, before 2007.
    Xls,
    /// Excel, the binary format of 2007 and later.
    Xlsb,
    /// Word, before 2007. It is detected for the error message, but not supported.
    Doc,
    /// PowerPoint, before 2007. It is detected for the error message, but not supported.
    Ppt,
    /// An encrypted office file of 2007 or later. Its program cannot be detected without the password.
    Protected,
}

impl DocumentKind {
    /// The kinds that have a file extension.
    pub const ALL: [Self; 20] = [
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
        Self::Eml,
        Self::Msg,
        Self::Ipynb,
        Self::Jats,
        Self::DocBook,
        Self::Tei,
        Self::Xls,
        Self::Xlsb,
        Self::Doc,
        Self::Ppt,
    ];

    /// Returns the name of the kind, which is its usual file extension.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Returns the media type of the kind.
    pub fn media_type(self) -> &'static str {
        self.names().1
    }

    /// Returns the name and the media type.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Pdf => ("pdf", "application/pdf"),
            Self::Docx => ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            Self::Xlsx => ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            Self::Pptx => {
                ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation")
            }
            Self::Odt => ("odt", "application/vnd.oasis.opendocument.text"),
            Self::Ods => ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
            Self::Odp => ("odp", "application/vnd.oasis.opendocument.presentation"),
            Self::Rtf => ("rtf", "application/rtf"),
            Self::Epub => ("epub", "application/epub+zip"),
            Self::Csv => ("csv", "text/csv"),
            Self::Eml => ("eml", "message/rfc822"),
            Self::Msg => ("msg", "application/vnd.ms-outlook"),
            Self::Ipynb => ("ipynb", "application/x-ipynb+json"),
            Self::Jats => ("jats", "application/jats+xml"),
            Self::DocBook => ("dbk", "application/docbook+xml"),
            Self::Tei => ("tei", "application/tei+xml"),
            Self::Xls => ("xls", "application/vnd.ms-excel"),
            Self::Xlsb => ("xlsb", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
            Self::Doc => ("doc", "application/msword"),
            Self::Ppt => ("ppt", "application/vnd.ms-powerpoint"),
            Self::Protected => ("office", "application/x-ole-storage"),
        }
    }

    /// Returns the kind of a file extension, ignoring case.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(extension))
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
