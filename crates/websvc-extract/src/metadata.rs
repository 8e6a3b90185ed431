//! What a page says about itself.

use std::collections::BTreeMap;

/// The page's own description of itself, spec section 2.6 and clients.md 6.5.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageMetadata {
    /// The title of the page.
    pub title: Option<String>,
    /// The description of the page.
    pub description: Option<String>,
    /// The declared language, such as `en` or `de-CH`.
    pub language: Option<String>,
    /// The keywords as written.
    pub keywords: Option<String>,
    /// The robots directives as written.
    pub robots: Option<String>,
    /// Absolute URL of the page's icon.
    pub favicon: Option<String>,
    /// When it was published, as written on the page (usually ISO 8601).
    pub published_time: Option<String>,
    /// When it was last changed, as written on the page (usually ISO 8601).
    pub modified_time: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The canonical URL, absolute.
    pub canonical: Option<String>,
    /// The declared content type.
    pub content_type: Option<String>,
    /// Every meta tag under its own name (`og:title`, `article:tag`, `viewport`, ...).
    pub meta: BTreeMap<String, MetaValue>,
}

/// The value of a meta tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetaValue {
    /// The tag occurs once.
    One(String),
    /// The tag is repeated; document order.
    Many(Vec<String>),
}
