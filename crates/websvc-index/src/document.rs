//! Documents as callers add them, and their fingerprints.

use jiff::Timestamp;

/// A web page to be indexed. Adding it replaces an older document with the same URL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// The absolute URL, which is the identity of the document.
    pub url: String,
    /// The title.
    pub title: String,
    /// The headings in document order, without the title.
    pub headings: Vec<String>,
    /// The text of the main content; line feeds separate the paragraphs.
    pub body: String,
    /// The description from the metadata of the page.
    pub description: Option<String>,
    /// The declared language as a BCP 47 tag. If it is missing or clearly wrong, the language is detected from the
    /// text.
    pub language: Option<String>,
    /// Publication date from the metadata of the page.
    pub published: Option<Timestamp>,
    /// Modification date from the metadata of the page.
    pub modified: Option<Timestamp>,
    /// Time of the fetch. The index stores the first one of each URL, as the date of pages without dates.
    pub seen: Option<Timestamp>,
    /// The media type of the page, for `filetype:` when the URL has no extension.
    pub content_type: Option<String>,
    /// The country from the metadata of the page, ISO 3166-1 alpha-2 in upper case.
    pub country: Option<String>,
    /// True if the page labels itself as explicit.
    pub explicit: bool,
    /// The images in page order.
    pub images: Vec<Image>,
    /// The links of the main content, in page order.
    pub links: Vec<Link>,
    /// News properties of the page; `None` for pages that are not news.
    pub news: Option<News>,
}

/// An image of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Image {
    /// The absolute URL of the image.
    pub url: String,
    /// The alternative text, or the title attribute if there is none.
    pub alt: String,
    /// The caption of the figure.
    pub caption: String,
    /// The text around the image.
    pub context: String,
    /// Width in pixels; `None` if unknown.
    pub width: Option<u32>,
    /// Height in pixels; `None` if unknown.
    pub height: Option<u32>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// The absolute URL, without fragment.
    pub url: String,
    /// The text of the link.
    pub text: String,
}

/// News properties of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct News {
    /// The URL of the article's image.
    pub image_url: Option<String>,
}

impl Document {
    /// Returns a hash of everything that is searched or displayed, to recognize an unchanged page (see
    /// [`Index::fingerprint`](crate::Index::fingerprint)). It is the same in all versions and on all machines.
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
            country,
            explicit,
            images,
            links,
            news,
        } = self;
        let mut hash = Fnv1a::default();
        hash.text(title);
        headings.iter().for_each(|heading| hash.text(heading));
        hash.text(body);
        for text in [description, language, content_type] {
            hash.text(text.as_deref().unwrap_or_default());
        }
        for time in [published, modified] {
            hash.text(&time.map_or_else(String::new, |time| time.as_second().to_string()));
        }
        hash.text(country.as_deref().unwrap_or_default());
        hash.text(if *explicit { "explicit" } else { "" });
        images.iter().for_each(|image| image.hash(&mut hash));
        for Link { url, text } in links {
            hash.text(url);
            hash.text(text);
        }
        if let Some(News { image_url }) = news {
            hash.text("news");
            hash.text(image_url.as_deref().unwrap_or_default());
        }
        hash.0
    }
}

impl Image {
    fn hash(&self, hash: &mut Fnv1a) {
        let Self { url, alt, caption, context, width, height } = self;
        for text in [url, alt, caption, context] {
            hash.text(text);
        }
        for dimension in [width, height] {
            hash.text(&dimension.map_or_else(String::new, |pixels| pixels.to_string()));
        }
    }
}

/// Returns a hash of a text that is the same in all versions, like [`Document::fingerprint`].
pub(crate) fn fingerprint_of_text(text: &str) -> u64 {
    let mut hash = Fnv1a::default();
    hash.text(text);
    hash.0
}

/// Returns a hash of bytes that is the same in all versions, like [`Document::fingerprint`].
pub(crate) fn fingerprint_of_bytes(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::default();
    hash.bytes(bytes);
    hash.0
}

/// 64-bit FNV-1a: not for security, but simple, fast enough and specified, so that stored hashes stay valid.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    fn text(&mut self, text: &str) {
        // 0xff does not occur in UTF-8, so it separates consecutive texts.
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
