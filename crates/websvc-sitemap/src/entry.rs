//! Entries of sitemaps and feeds.

use url::Url;

/// A page in a sitemap or a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its URL, http or https.
    pub url: Url,
    /// Its title, where an extension or a feed has one; white space collapsed.
    pub title: Option<String>,
    /// Description, if an extension or a feed has one; may contain HTML.
    pub description: Option<String>,
    /// When it was published, else last changed, as a feed or the extension for news writes it.
    pub date: Option<String>,
    /// Its picture in a feed.
    pub image: Option<Url>,
    /// The images on it, by the extension for images; at most 20.
    pub images: Vec<Image>,
}

/// An image on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its URL.
    pub url: Url,
    /// Its title; may be empty.
    pub title: String,
    /// Its caption; may be empty.
    pub caption: String,
}

impl Entry {
    pub(crate) fn new(url: Url) -> Self {
        Self { url, title: None, description: None, date: None, image: None, images: Vec::new() }
    }
}
