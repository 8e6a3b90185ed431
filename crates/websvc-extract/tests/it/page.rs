//! Helpers that parse test pages.

use url::Url;
use websvc_extract::{ContentOptions, ContentScope, Document, Source};

/// Parses a page of `https://example.com/dir/page`.
pub(crate) fn parse(html: &str) -> Document {
    parse_bytes(html.as_bytes(), "text/html; charset=utf-8")
}

/// Parses bytes with a declared type.
pub(crate) fn parse_bytes(bytes: &[u8], content_type: &str) -> Document {
    let url = Url::parse("https://example.com/dir/page").unwrap();
    Document::parse(Source { bytes, content_type: Some(content_type), url: &url }).unwrap()
}

/// Returns options for the whole page.
pub(crate) fn full() -> ContentOptions {
    ContentOptions { scope: ContentScope::Full, ..ContentOptions::default() }
}
