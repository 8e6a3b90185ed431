//! A document as it is handed in.

use jiff::Timestamp;

/// A web page to be indexed; the same URL replaces the older document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// The absolute URL, which is the identity of the document.
    pub url: String,
    /// The title.
    pub title: String,
    /// The headings in document order, without the title.
    pub headings: Vec<String>,
    /// The text of the main content, paragraphs separated by line feeds.
    pub body: String,
    /// The page's own description.
    pub description: Option<String>,
    /// The declared language as a BCP 47 tag; detected from the text where absent or clearly wrong.
    pub language: Option<String>,
    /// When the page says it was published.
    pub published: Option<Timestamp>,
    /// When the page says it was modified.
    pub modified: Option<Timestamp>,
    /// When the page was fetched; the first such time of a URL is kept for pages without dates.
    pub seen: Option<Timestamp>,
    /// The media type of the source, for `filetype:` where the URL has no extension.
    pub content_type: Option<String>,
}

impl Document {
    /// Returns a hash of everything that is searched or shown, stable across versions and machines, so that an
    /// unchanged page can be recognised (see [`Index::fingerprint`](crate::Index::fingerprint)).
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let Self {
            url: _,
            title,
            headings,
            body,
            description,
            language,
            published,
            modified,
            seen: _,
            content_type,
        } = self;
        let mut hash = Fnv::default();
        hash.text(title);
        headings.iter().for_each(|heading| hash.text(heading));
        hash.text(body);
        for text in [description, language, content_type] {
            hash.text(text.as_deref().unwrap_or_default());
        }
        for time in [published, modified] {
            hash.text(&time.map_or_else(String::new, |time| time.as_second().to_string()));
        }
        hash.0
    }
}

/// FNV-1a with 64 bits: not for security, but short, fixed forever and fast enough.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn text(&mut self, text: &str) {
        // 0xff does not occur in UTF-8, so neighbouring texts cannot run into each other.
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
