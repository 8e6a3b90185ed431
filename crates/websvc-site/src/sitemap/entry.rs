//! Entries of sitemaps and feeds.

use url::Url;

/// A page in a sitemap or a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The URL of the page, http or https.
    pub url: Url,
    /// Title from a feed or an extension, its words separated by single spaces.
    pub title: Option<String>,
    /// Description from a feed or an extension. May contain HTML.
    pub description: Option<String>,
    /// Date of publication, or else of the last change, as written in a feed or in the news extension.
    pub date: Option<String>,
    /// Image of the entry in a feed.
    pub image: Option<Url>,
    /// Images of the page from the image extension; at most 20.
    pub images: Vec<Image>,
}

/// An image on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The URL of the image, http or https.
    pub url: Url,
    /// Title; may be empty.
    pub title: String,
    /// Caption; may be empty.
    pub caption: String,
}

impl Entry {
    pub(crate) fn new(url: Url) -> Self {
        Self { url, title: None, description: None, date: None, image: None, images: Vec::new() }
    }
}
