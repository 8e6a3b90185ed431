//! What sort of document the bytes are: told by the bytes first, then by the declared type and the name.

/// The sorts of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl DocumentKind {
    /// Returns the name of the kind, as the usual ending of a file.
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
        }
    }
}
