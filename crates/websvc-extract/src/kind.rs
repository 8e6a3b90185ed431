//! What sort of thing a page's bytes are: told by their first bytes as much as by the declared type.

/// The sorts of content that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// HTML, read by the rules of browsers.
    Html,
    /// XHTML, read by the same rules.
    Xhtml,
    /// Plain text, kept verbatim.
    Text,
    /// JSON, kept verbatim.
    Json,
    /// XML and feeds, kept as text.
    Xml,
}
