//! One parsed page and the questions it answers.

use crate::content::Content;
use crate::error::ExtractError;
use crate::kind::Kind;
use crate::metadata::PageMetadata;
use crate::options::ContentOptions;
use url::Url;

/// The bytes of a page and where they came from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The body as received, content encoding undone.
    pub bytes: &'a [u8],
    /// The `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// The final URL, after redirects.
    pub url: &'a Url,
}

/// A link of the page, for crawling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Absolute http(s) URL without fragment.
    pub url: Url,
    /// The visible text, white space collapsed.
    pub text: String,
    /// Whether the page asks not to follow it (`rel="nofollow"`).
    pub nofollow: bool,
}

/// What the page's robots meta tags allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Robots {
    /// The page may be put into an index.
    pub index: bool,
    /// Its links may be followed.
    pub follow: bool,
}

/// A parsed page.
#[derive(Debug)]
pub struct Document {
    kind: Kind,
    raw: String,
    base: Url,
}

impl Document {
    /// Parses a page.
    ///
    /// # Errors
    /// [`ExtractError::Unsupported`] when the bytes are not text of a known kind.
    pub fn parse(source: Source<'_>) -> Result<Document, ExtractError> {
        let raw = String::from_utf8_lossy(source.bytes).into_owned();
        Ok(Document { kind: Kind::Html, raw, base: source.url.clone() })
    }

    /// Returns what sort of content the page is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the decoded source of the page.
    pub fn raw_html(&self) -> &str {
        &self.raw
    }

    /// Returns the URL that relative links resolve against.
    pub fn base_url(&self) -> &Url {
        &self.base
    }

    /// Returns the title of the page.
    pub fn title(&self) -> Option<String> {
        None
    }

    /// Returns the declared language of the page.
    pub fn language(&self) -> Option<String> {
        None
    }

    /// Returns what the page says about itself.
    pub fn metadata(&self) -> PageMetadata {
        PageMetadata::default()
    }

    /// Returns the part of the page that `options` ask for, to be written in any format.
    pub fn content(&self, options: &ContentOptions) -> Content<'_> {
        let _ = options;
        Content::new(self)
    }

    /// Returns the absolute URLs of the page's images, each once, in document order.
    pub fn images(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the http(s) links of the whole page in document order.
    pub fn anchors(&self) -> Vec<Anchor> {
        Vec::new()
    }

    /// Returns what the page's robots meta tags allow.
    pub fn robots(&self) -> Robots {
        Robots { index: true, follow: true }
    }

    /// Returns the canonical URL the page names.
    pub fn canonical(&self) -> Option<Url> {
        None
    }

    /// Returns the meta refresh of the page: delay in seconds and target.
    pub fn refresh(&self) -> Option<(u64, Url)> {
        None
    }
}
